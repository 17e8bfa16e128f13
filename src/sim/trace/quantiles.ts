/** Quantiles of clients (ServeGen): only distributions, without single responses. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { jsonLine } from './format.ts';

/** Marginal quantiles of one client in one time window. */
export interface QuantileRow {
  /** Requests per second: the weight of the row. */
  readonly rps: number;
  /** Prompt tokens at 0, 1, …, 100 %. */
  readonly inputTokens: readonly number[];
  /** Response tokens at 0, 1, …, 100 %. */
  readonly outputTokens: readonly number[];
}

const percents = z.array(z.number().nonnegative()).length(101);
const quantileRow = z.object({ rps: z.number().nonnegative(), input_tokens: percents, output_tokens: percents });

/** Returns the row of a line. Throws `invalid_input` with file, line and field. */
export function readQuantiles(line: string, where: string): QuantileRow {
  const row = parse(quantileRow, jsonLine(line, where), 'invalid_input', where);
  return { rps: row.rps, inputTokens: row.input_tokens, outputTokens: row.output_tokens };
}
