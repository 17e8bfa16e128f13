/** The best that is known of the batches of alike-batches.ts: alike-best.jsonl. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('alike-best.jsonl', import.meta.url));

/** What is known of one batch. */
export interface Best {
  /** Most compute of a device that plans are held to; with another limit, the records are of no use. */
  readonly limit: number;
  /** The least communication that is known, and whether counting proves it to a thousandth. */
  readonly best: number;
  readonly proven: boolean;
  /** Communication, and steps, of the search before it went through counts (version 0.1.0). */
  readonly old: number;
  readonly oldSteps: number;
}

/** What is known, by the name of the batch. */
export const readBest = (): Map<string, Best> =>
  new Map(
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [string, Best]),
  );

/** Writes what is known. */
export function writeBest(known: ReadonlyMap<string, Best>): void {
  writeFileSync(file, [...known].map((one) => `${JSON.stringify(one)}\n`).join(''));
}
