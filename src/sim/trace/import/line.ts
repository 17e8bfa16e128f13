/** Parses a line as Python writes it: JSON in which a score may be NaN or Infinity. */
import { isPolicyError } from '../../../errors.ts';
import { jsonLine } from '../format.ts';

const strings = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b/g;

/** Returns the object in a line; NaN and Infinity become null. Throws `invalid_input` with file and line. */
export function dumpLine(line: string, where: string): Record<string, unknown> {
  try {
    return jsonLine(line, where);
  } catch (error) {
    if (!isPolicyError(error) || !/NaN|Infinity/.test(line)) throw error;
    return jsonLine(
      line.replace(strings, (found) => (found.startsWith('"') ? found : 'null')),
      where,
    );
  }
}
