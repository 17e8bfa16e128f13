/** Logs in the engine: takes texts of files and questions about them, as JSON, and answers as JSON. */
import { isPolicyError } from '../errors.ts';
import type { Explanation } from '../logs/explain/explain.ts';
import { type ExplainOptions, explain, explanationText, type Log, readLog, replay } from '../logs/index.ts';
import { compareLogs } from '../logs/replay/compare.ts';

/** A file's name and text. */
type File = readonly [name: string, text: string];

const logOf = (files: readonly File[]): Log => readLog(files.map(([name, text]) => ({ name, read: () => text })));

const asked = {
  explain: (files: readonly File[], options: ExplainOptions) => explain(logOf(files), options),
  replay: (files: readonly File[], options: { readonly session?: string }) => replay(logOf(files), options),
  text: (explanation: Explanation, isWhole: boolean) => explanationText(explanation, isWhole),
  compare: (one: readonly File[], other: readonly File[], session?: string) => {
    const [a, b] = [logOf(one), logOf(other)];
    const named = (name: string, log: Log) => ({ name, lines: () => log.lines() });
    return compareLogs(named('one', a), named('other', b), session);
  },
} as const;

/**
 * Asks one of the questions above about logs.
 *
 * @param what - name of the question
 * @param given - arguments of the question, as JSON
 */
export function ask(what: keyof typeof asked, given: string): string {
  try {
    return JSON.stringify({ result: (asked[what] as (...all: unknown[]) => unknown)(...JSON.parse(given)) });
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    const { code, expected, got, path } = error;
    return JSON.stringify({ error: { code, expected, got: String(got), path } });
  }
}
