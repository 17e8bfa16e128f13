/** From the text of a file to a trace, whichever format it has. */
import { z } from 'zod';
import { parse } from '../../core/validate.ts';
import { PolicyError } from '../../errors.ts';
import { jsonLine, type TracePrompt } from './format.ts';
import { traceReaders } from './readers.ts';

/** Marginal quantiles of one client in one window (ServeGen): no single responses, only their distribution. */
export interface QuantileRow {
  /** Requests a second: the weight of the row. */
  readonly rps: number;
  /** Values at 0, 1, …, 100 %. */
  readonly inputTokens: readonly number[];
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
 * @throws PolicyError `invalid_input` for a format that is not known, or a line that is broken (`file:line`)
 */
export function readTrace(text: string, file = 'trace'): Trace {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.trim() !== '');
  if (first < 0)
    throw new PolicyError('invalid_input', { expected: 'a trace with prompts', got: 'an empty file', path: file });
  if (lines[first]!.includes('"rps"')) return { kind: 'quantiles', reader: 'servegen', rows: readRows(lines, file) };
  // A line that is no JSON at all belongs to the project's own format: its reader says what is wrong.
  const own = traceReaders.find((one) => one.id === 'rollflex')!;
  const reader =
    traceReaders.find((one) => one.detect(lines[first]!.trim())) ?? (isJson(lines[first]!) ? undefined : own);
  if (reader === undefined) {
    const known = traceReaders.map((one) => one.id).join(', ');
    throw new PolicyError('invalid_input', {
      expected: `one of the formats ${known}, servegen`,
      got: lines[first],
      path: `${file}:${first + 1}`,
    });
  }
  const prompts: TracePrompt[] = [];
  lines.forEach((line, index) => {
    const prompt = line.trim() === '' ? undefined : reader.read(line.trim(), `${file}:${index + 1}`);
    if (prompt !== undefined && prompt.responses.length > 0) prompts.push(prompt);
  });
  return { kind: 'prompts', reader: reader.id, prompts };
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
    if (line.trim() === '') return [];
    const where = `${file}:${index + 1}`;
    const row = parse(quantileRow, jsonLine(line, where), 'invalid_input', where);
    return [{ rps: row.rps, inputTokens: row.input_tokens, outputTokens: row.output_tokens }];
  });
}
