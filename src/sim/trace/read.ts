/** From the text of a file to a trace, whichever format it has. */
import { z } from 'zod';
import { parse } from '../../core/validate.ts';
import { PolicyError } from '../../errors.ts';
import { hasKeys, jsonLine, type TracePrompt } from './format.ts';
import { type TraceReader, traceReaders } from './readers.ts';

/** Marginal quantiles of one client in one window (ServeGen): no single responses, only their distribution. */
export interface QuantileRow {
  /** Requests a second: the weight of the row. */
  readonly rps: number;
  /** Values at 0, 1, …, 100 %. */
  readonly inputTokens: readonly number[];
  /** The same of the responses. */
  readonly outputTokens: readonly number[];
}

/** What a file holds: prompts with their responses, or quantiles. */
export type Trace =
  | { readonly kind: 'prompts'; readonly reader: string; readonly prompts: readonly TracePrompt[] }
  | { readonly kind: 'quantiles'; readonly reader: string; readonly rows: readonly QuantileRow[] };

const percents = z.array(z.number().nonnegative()).length(101);
const quantileRow = z.object({ rps: z.number().nonnegative(), input_tokens: percents, output_tokens: percents });

/**
 * Reads a trace.
 *
 * @param text - the whole file
 * @param file - its name, for errors
 * @throws PolicyError `invalid_input` for a format that is not known, a line that is broken, or a prompt id that
 *   comes twice (`file:line`), and for a file without prompts
 */
export function readTrace(text: string, file = 'trace'): Trace {
  // Trimming takes the \r of CRLF and a byte order mark.
  const lines = text.split('\n').map((line) => line.trim());
  const first = lines.findIndex((line) => line !== '');
  if (first < 0) throw withoutPrompts('an empty file', file);
  const head = lines[first]!;
  if (hasKeys(head, ['rps'])) return { kind: 'quantiles', reader: 'servegen', rows: readRows(lines, file) };
  // A line that is no JSON at all belongs to the project's own format: its reader says what is wrong.
  const own = traceReaders.find((one) => one.id === 'rollflex')!;
  const reader = traceReaders.find((one) => one.detect(head)) ?? (isJson(head) ? undefined : own);
  if (reader === undefined) {
    const known = traceReaders.map((one) => one.id).join(', ');
    throw new PolicyError('invalid_input', {
      expected: `one of the formats ${known}, servegen`,
      got: head,
      path: `${file}:${first + 1}`,
    });
  }
  const prompts = readPrompts(lines, reader, file);
  if (prompts.length === 0) throw withoutPrompts('no prompt with a response', file);
  return { kind: 'prompts', reader: reader.id, prompts };
}

function withoutPrompts(got: string, file: string): PolicyError {
  return new PolicyError('invalid_input', { expected: 'a trace with prompts', got, path: file });
}

function readPrompts(lines: readonly string[], reader: TraceReader, file: string): TracePrompt[] {
  const prompts: TracePrompt[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const where = `${file}:${index + 1}`;
    const prompt = line === '' ? undefined : reader.read(line, where);
    if (prompt === undefined || prompt.responses.length === 0) continue;
    const earlier = lineOf.get(prompt.prompt);
    if (earlier !== undefined) {
      const expected = `a prompt id other than that of line ${earlier}`;
      throw new PolicyError('invalid_input', { expected, got: prompt.prompt, path: where });
    }
    lineOf.set(prompt.prompt, index + 1);
    prompts.push(prompt);
  }
  return prompts;
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}

function readRows(lines: readonly string[], file: string): QuantileRow[] {
  return lines.flatMap((line, index) => {
    if (line === '') return [];
    const where = `${file}:${index + 1}`;
    const row = parse(quantileRow, jsonLine(line, where), 'invalid_input', where);
    return [{ rps: row.rps, inputTokens: row.input_tokens, outputTokens: row.output_tokens }];
  });
}
