/** Parses a line as Python writes it: JSON in which a score may be NaN or Infinity. */
import { isPolicyError, refuse } from '../../../errors.ts';
import { jsonLine } from '../format.ts';

const strings = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b/g;

/** Returns what a line is, in words, if it is something well known that is not read; else the line. */
export function whatIs(line: string): string {
  if (/^[[{]\s*$/.test(line) || /^\{\s*"[^"]*"\s*:\s*[[{]?$/.test(line)) {
    return 'the first line of JSON that goes over several lines: make one line of each object (jq -c .)';
  }
  if (/^\[?[{[(]?\s*\{?'/.test(line))
    return `Python's repr: write json.dumps(row) instead, or convert it (ast.literal_eval): ${line.slice(0, 40)}`;
  if (/^\[?(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|INFO|DEBUG|WARN|WARNING|ERROR|rank ?\d|\()/i.test(line)) {
    return `a line of a log: ${line.slice(0, 60)}`;
  }
  if (line.startsWith('[')) return 'a list: rows need names, so write objects, or a header (pandas: orient="records")';
  return line;
}

/** Returns the object in a line; NaN and Infinity become null. Throws `invalid_input` with file and line. */
export function dumpLine(line: string, where: string): Record<string, unknown> {
  try {
    return jsonLine(line, where);
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    const what = whatIs(line.trim());
    if (what !== line.trim()) refuse('invalid_input', where, 'a JSON object in a line', what);
    if (!/NaN|Infinity/.test(line)) throw error;
    return jsonLine(
      line.replace(strings, (found) => (found.startsWith('"') ? found : 'null')),
      where,
    );
  }
}
