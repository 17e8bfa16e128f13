/**
 * What was run last of that which takes too long for every change, and how it went: `last-runs.json`, written by the
 * commands themselves. `npm run last-run -- long-run` says it in a line, and of further scripts in further lines.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('last-runs.json', import.meta.url));

/** A run from its beginning to its end. */
export interface LastRun {
  /** The day, as `2026-11-22`. */
  readonly date: string;
  /** What was run, and with what result, in a line. */
  readonly result: string;
}

const all = (): Record<string, LastRun> => JSON.parse(readFileSync(file, 'utf8'));

/** The last run of a script of package.json, in a line. */
export function lastRun(script: string): string {
  const found = all()[script];
  return found === undefined ? 'never run to its end' : `last on ${found.date}: ${found.result}`;
}

/** Writes down a run that came to its end today. */
export function recordRun(script: string, result: string): void {
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(file, `${JSON.stringify({ ...all(), [script]: { date, result } }, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , ...scripts] = process.argv;
  for (const one of scripts.length > 0 ? scripts : ['long-run']) console.log(lastRun(one));
}
