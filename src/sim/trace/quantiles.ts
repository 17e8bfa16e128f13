/** Quantiles of clients (ServeGen): no single responses, only their distribution. */
import { z } from 'zod';
import { parse } from '../../core/validate.ts';
import { jsonLine } from './format.ts';

/** Marginal quantiles of one client in one window. */
export interface QuantileRow {
  /** Requests a second: the weight of the row. */
  readonly rps: number;
  /** Values at 0, 1, …, 100 %. */
  readonly inputTokens: readonly number[];
  /** The same of the responses. */
  readonly outputTokens: readonly number[];
}

const percents = z.array(z.number().nonnegative()).length(101);
const quantileRow = z.object({ rps: z.number().nonnegative(), input_tokens: percents, output_tokens: percents });

/** Returns the row of a line. Throws `invalid_input` with file, line and field. */
export function readQuantiles(line: string, where: string): QuantileRow {
  const row = parse(quantileRow, jsonLine(line, where), 'invalid_input', where);
  return { rps: row.rps, inputTokens: row.input_tokens, outputTokens: row.output_tokens };
}
