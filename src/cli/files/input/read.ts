/** Reads the traces of all commands into memory; it keeps numbers only. */
import { createHash } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { PolicyError, refuse } from '../../../errors.ts';
import type { TextTokens } from '../../../sim/trace/import/dump.ts';
import { formatOf } from '../../../sim/trace/import/format-of.ts';
import { DumpImport, type DumpImportOptions, type DumpSummary } from '../../../sim/trace/import/import.ts';
import { dumpReaders } from '../../../sim/trace/import/readers.ts';
import type { Repeated } from '../../../sim/trace/import/repeats.ts';
import { fieldChoices, isKnownField } from '../../../sim/trace/import/rows/fields.ts';
import { traceOf } from '../../../sim/trace/read.ts';
import type { NamedTrace } from '../../../sim/workload/of-trace.ts';
import { say } from '../../terminal/output.ts';
import { Progress } from '../../terminal/progress.ts';
import { withChoice } from './mixed.ts';
import { FileNotes } from './notes.ts';
import { type InputFile, inputFiles, isMany } from './paths.ts';
import { recordsOf, textOf, unheard } from './records.ts';
import { Taking } from './taking.ts';
import { fileTokenizer, tokensPerCharacter } from './tokenizer.ts';

/** Options that decide how the tokens of texts are counted. */
export interface TextOptions {
  readonly tokenizer?: string;
  readonly tokensPerCharacter?: number;
}

/** Options for reading files. */
export interface ReadOptions extends TextOptions {
  readonly from?: string;
  readonly cap?: number;
  readonly correctFrom?: number;
  readonly skipBroken?: boolean;
  /** `ROLE=PATH`, by which fields of a dump are chosen. */
  readonly field?: readonly string[];
  readonly repeated?: Repeated;
}

/** Returns the options for reading a command's traces; `cap` is that of the job that wrote the traces. */
export const readingOf = ({ cap, tokenizer, tokensPerCharacter }: ReadOptions): ReadOptions => ({
  ...(cap === undefined ? {} : { cap }),
  ...(tokenizer === undefined ? {} : { tokenizer }),
  ...(tokensPerCharacter === undefined ? {} : { tokensPerCharacter }),
});

/** Shows the progress of reading. */
export interface Showing extends Pick<Progress, 'step'> {
  /** The text that is shown from now on. */
  text: string;
  /** Receives the share of the bytes that were read: 0 to 1. */
  readonly read?: (share: number) => void;
}

/** Returns fingerprints: short enough for an id, and long enough that different prompts do not share one. */
function fingerprints(): (text: string) => string {
  let last = { text: '', id: '' };
  return (text) => {
    // Responses of one prompt follow each other in most dumps.
    if (text !== last.text || last.id === '')
      last = { text, id: createHash('sha256').update(text).digest('hex').slice(0, 20) };
    return last.id;
  };
}
const millisecondsBetweenTexts = 200;
/** From this number of characters on, a line takes long, because the tokenizer counts its texts. */
const longLine = 100_000;

/** Returns the token counter for texts. Throws `invalid_input` if both options are given, and as `fileTokenizer` does. */
async function textTokensOf({ tokenizer, tokensPerCharacter: factor }: TextOptions): Promise<TextTokens | undefined> {
  if (tokenizer !== undefined && factor !== undefined) {
    const expected = '--tokenizer or --tokens-per-character, not both';
    refuse('invalid_input', '--tokens-per-character', expected, factor);
  }
  if (tokenizer !== undefined) return fileTokenizer(tokenizer);
  return factor === undefined ? undefined : tokensPerCharacter(factor);
}

/** Returns a collector with these options. Throws the errors of the collector and of the tokenizer. */
export async function collector({
  from,
  cap,
  correctFrom,
  skipBroken,
  field,
  repeated,
  ...texts
}: ReadOptions): Promise<DumpImport> {
  const textTokens = await textTokensOf(texts);
  const options: DumpImportOptions = {
    fingerprint: fingerprints(),
    ...(from === undefined ? undefined : { from }),
    ...(textTokens === undefined ? undefined : { textTokens }),
    ...(cap === undefined ? undefined : { capTokens: cap }),
    ...(correctFrom === undefined ? undefined : { correctFrom }),
    ...(field === undefined ? undefined : { fields: fieldChoices(field) }),
    ...(repeated === undefined ? undefined : { repeated }),
    skipBroken: skipBroken === true,
  };
  return new DumpImport(options);
}

/** Returns whether a column is needed: its name means something, marks a format, or is part of a path that was given. */
function neededBy(field: readonly string[]): (column: string) => boolean {
  const given = field.flatMap((one) => one.slice(one.indexOf('=') + 1).split('.'));
  const marks = new Set([...given, ...dumpReaders.flatMap((one) => [...one.needs, ...one.marks])]);
  return (column) => marks.has(column) || isKnownField(column);
}

/**
 * Reads files into a collector.
 *
 * @param notes - receives what is damaged or passed over
 * @param options - those that the collector was made with
 * @throws PolicyError `invalid_input` with file, line and field; `limit_exceeded` for what does not fit into memory; the system's error
 */
export async function readInto(
  lines: DumpImport,
  files: readonly InputFile[],
  progress: Showing,
  notes: FileNotes,
  { skipBroken = false, field = [] }: Pick<ReadOptions, 'skipBroken' | 'field'>,
): Promise<void> {
  let shownAt = 0;
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  let done = 0;
  const onBytes = (count: number): void => {
    done += count;
    progress.read?.(bytes === 0 ? 0 : Math.min(1, done / bytes));
  };
  try {
    for (const file of files) {
      const taking = new Taking(lines, file, notes, skipBroken);
      for await (const records of recordsOf(file, { onBytes, notes, isNeeded: neededBy(field) })) {
        for (const record of records) {
          if ('text' in record && record.text.length > longLine) await progress.step(() => taking.take(record));
          else taking.take(record);
          if (Date.now() - shownAt < millisecondsBetweenTexts) continue;
          shownAt = Date.now();
          const share = bytes === 0 ? '' : `, ${Math.min(100, Math.round((100 * done) / bytes))} % read`;
          const what = 'row' in record ? 'row' : 'line';
          progress.text = `reading ${file.name}: ${what} ${record.number}, ${lines.responses} responses in all${share}`;
          // All lines of a chunk are read without a pause; this pause serves the spinner and Ctrl-C.
          await turn();
        }
      }
    }
  } catch (error) {
    throw withOptions(await withChoice(error, files));
  }
  notes.keys(lines.otherKeys);
  const damage = notes.firstDamage;
  if (lines.responses === 0 && damage !== undefined && lines.quantiles === undefined)
    refuse('invalid_input', damage.where, 'at least one whole line', damage.what);
}

/** Adds the names of command-line options to an error: the library does not know them. */
function withOptions(error: unknown): unknown {
  if (!(error instanceof PolicyError) || error.code !== 'invalid_config') return error;
  if (error.expected.startsWith('--')) return new PolicyError('invalid_input', error);
  const expected = `--tokenizer tokenizer.json, or --tokens-per-character N for an estimate: this dump has text, and no count of tokens`;
  return new PolicyError('invalid_input', { expected, got: 'neither', path: error.path });
}

/** Returns the name of a trace: the name of its file, or of the folder of its files. */
function nameOf(paths: readonly string[], files: readonly InputFile[]): string {
  const [{ name }] = files as [InputFile];
  if (name === '-') return 'standard input';
  if (files.length > 1 || paths.some(isMany)) return basename(dirname(resolve(name)));
  return basename(name).replace(/(\.(jsonl|ndjson|json|csv|tsv|txt|pt|parquet))?(\.(gz|zst|zip))?$/i, '');
}

/** Whether a file is a trainer's dump, and not a trace. */
async function isDump(file: InputFile): Promise<boolean> {
  for await (const records of recordsOf(file, unheard())) {
    for (const record of records) {
      const text = textOf(record).trim();
      if (text === '') continue;
      const format = formatOf(text, `${file.name}:${record.number}`);
      return format.kind === 'dump' && format.id !== 'table';
    }
  }
  return false;
}

/**
 * Groups the paths that form one trace: those of a folder or a pattern, and all dumps of trainers. Any other path is a trace alone.
 */
async function grouped(paths: readonly string[]): Promise<string[][]> {
  const isSingle = (path: string): boolean => path !== '-' && !isMany(path);
  const dumps: string[] = [];
  if (paths.length > 1) {
    for (const path of paths.filter(isSingle)) if (await isDump(inputFiles([path])[0]!)) dumps.push(path);
  }
  return paths.flatMap((path) => {
    if (!dumps.includes(path)) return [[path]];
    return path === dumps[0] ? [dumps] : [];
  });
}

/** Reads all files as one trace, with its summary. Throws as {@link readTraces} does. */
export async function readTogether(
  paths: readonly string[],
  options: ReadOptions,
  progress: Showing,
): Promise<NamedTrace & { readonly summary: DumpSummary | undefined; readonly notes: FileNotes }> {
  const notes = new FileNotes();
  const files = inputFiles(paths, notes);
  const lines = await collector(withoutEstimatedCap(options));
  await readInto(lines, files, progress, notes, options);
  const trace = await progress.step(() => traceOf(lines));
  return { name: nameOf(paths, files), trace, summary: trace.kind === 'prompts' ? lines.summary() : undefined, notes };
}

/**
 * Drops the cap if lengths are estimated: estimates do not show which responses reached the cap, so only the simulation uses it.
 */
const withoutEstimatedCap = ({ cap, ...options }: ReadOptions): ReadOptions =>
  cap === undefined || options.tokensPerCharacter !== undefined ? options : { ...options, cap };

/**
 * Reads the traces at the given paths.
 *
 * @throws PolicyError `invalid_input` with file and line for broken input; the system's error
 */
export async function readTraces(
  paths: readonly string[],
  options: ReadOptions,
  isQuiet: boolean,
): Promise<NamedTrace[]> {
  if (paths.length === 0) return [];
  const progress = new Progress({ text: 'reading', isQuiet });
  const notes = new FileNotes();
  try {
    const traces: NamedTrace[] = [];
    for (const together of await grouped(paths)) {
      const files = inputFiles(together, notes);
      const lines = await collector(withoutEstimatedCap(options));
      await readInto(lines, files, progress, notes, options);
      traces.push({ name: nameOf(together, files), trace: traceOf(lines) });
    }
    return traces;
  } finally {
    progress.stop();
    if (!isQuiet) sayNotes(notes);
  }
}

/** Says what was not read, on standard error. */
export function sayNotes(notes: FileNotes): void {
  for (const [word, text] of notes.rows()) say(`${word} ${text}`);
}
