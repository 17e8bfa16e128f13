/** A trace of one's own: responses of prompts, dumps of a trainer, quantiles, or sequences with images and videos. */
import { isPolicyError, PolicyError } from 'rollflex';
import { DumpImport, dumpReaders, readTrace, readVlmTrace, type Trace } from 'rollflex/sim';
import type { Load } from './messages.ts';

/** What was loaded. Sequences are read anew with the limits of each simulation. */
export type Own =
  | { readonly kind: 'trace'; readonly name: string; readonly trace: Trace; readonly what: string }
  | { readonly kind: 'sequences'; readonly name: string; readonly text: string; readonly what: string };

/** A dump of texts: how many tokens they have, only the reader can say. */
export class TextsWithoutTokens extends Error {}

type File = Load['files'][number];
type Row = Readonly<Record<string, unknown>>;

/** The first line of a file that is not blank, where it is a JSON object. */
function firstRow({ text }: File): Row | undefined {
  const line = text.split('\n', 50).find((one) => one.trim() !== '');
  try {
    const value: unknown = JSON.parse((line ?? '').replace(/^\uFEFF/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : undefined;
  } catch {
    return undefined;
  }
}

/** Traces have the responses of a prompt in a line, dumps have a response in a line; so have sequences, in a column of their own. */
const isDump = (row: Row | undefined): boolean =>
  row !== undefined &&
  !('responses' in row) &&
  !('responseTokens' in row) &&
  dumpReaders.some((reader) => reader.detect(row));

const count = (value: number, what: string): string =>
  `${value.toLocaleString('en-US')} ${what}${value === 1 ? '' : 's'}`;

/**
 * Reads a trace, or the dumps of a job.
 *
 * @throws PolicyError `invalid_input` with name, line and field
 * @throws TextsWithoutTokens for a dump that has texts only, if no estimate is given
 */
export function readOwn({ files, tokensPerCharacter }: Load): Own {
  const [first] = files as readonly [File];
  const row = firstRow(first);
  if (isDump(row)) return readDumps(files, tokensPerCharacter);
  if (files.length > 1) {
    const expected = 'one trace, or the dumps of one job';
    throw new PolicyError('invalid_input', { expected, got: count(files.length, 'file'), path: first.name });
  }
  const { name, text } = first;
  if (row !== undefined && 'responseTokens' in row) {
    const { length } = readVlmTrace(text, name);
    return { kind: 'sequences', name, text, what: `${count(length, 'sequence')} for the vision-language step` };
  }
  const trace = readTrace(text, name);
  if (trace.kind === 'quantiles') {
    return { kind: 'trace', name, trace, what: `quantiles of ${count(trace.rows.length, 'client')}` };
  }
  const responses = trace.prompts.reduce((sum, one) => sum + one.responses.length, 0);
  const what = `${count(trace.prompts.length, 'prompt')} with ${count(responses, 'response')} (${trace.reader})`;
  return { kind: 'trace', name, trace, what };
}

/** `12.jsonl` of verl, `train_data_step12.jsonl` of NeMo-RL, `rollout_dump_data.step_12.jsonl` of ROLL. */
const stepName = /(?:^|step_?)(\d+)\.jsonl(\.gz)?$/;
const byNumber = new Intl.Collator('en', { numeric: true });

function readDumps(files: readonly File[], factor: number | undefined): Own {
  const ids = new Map<string, string>();
  const fingerprint = (text: string): string => {
    const id = ids.get(text) ?? `prompt-${ids.size + 1}`;
    ids.set(text, id);
    return id;
  };
  const label = `${factor} tokens a character`;
  const estimate = (text: string): number => Math.round(text.length * factor!);
  const textTokens =
    factor === undefined ? {} : { textTokens: { method: 'characters', label, count: estimate } as const };
  const dump = new DumpImport({ fingerprint, ...textTokens });
  const sorted = [...files].sort((a, b) => byNumber.compare(a.name, b.name));
  for (const { name, text } of sorted) {
    const step = stepName.exec(name)?.[1];
    const lines = text.replace(/^\uFEFF/, '').split('\n');
    try {
      for (const [index, line] of lines.entries())
        dump.line(line, name, index + 1, step === undefined ? undefined : Number(step));
    } catch (error) {
      if (!isPolicyError(error) || error.code !== 'invalid_config') throw error;
      throw new TextsWithoutTokens(`${error.path}: this dump has texts, and no count of their tokens.`);
    }
  }
  const prompts = [...dump.prompts()];
  const { readers, responses, estimated } = dump.summary();
  const name = files.length === 1 ? sorted[0]!.name : `${sorted[0]!.name} and ${count(files.length - 1, 'other')}`;
  const exact = estimated ? `; lengths are ESTIMATES, ${label}` : '';
  const what = `${count(prompts.length, 'prompt')} with ${count(responses, 'response')} (dump of ${readers.join(', ')}${exact})`;
  return { kind: 'trace', name, trace: { kind: 'prompts', reader: readers.join(', '), prompts }, what };
}

/** The loaded trace as one of responses. Throws `PolicyError` `invalid_input` if there is none, or another kind. */
export function responsesOf(own: Own | undefined): { readonly name: string; readonly trace: Trace } {
  if (own?.kind === 'trace') return own;
  const expected =
    own === undefined
      ? 'a trace of your own, loaded below'
      : 'lengths of responses: sequences with images and videos are for the vision-language step';
  throw new PolicyError('invalid_input', { expected, got: own === undefined ? 'none' : own.what, path: 't' });
}
