/** The raises of the last run of `raises.ts`, beside those of the paper. */
import { readFileSync } from 'node:fs';

/** What the paper prints: steps of the first raises, to TP 2 and 4, and the gain over TP 1. */
export const printedRaises = { first: 3, second: 8, gain: 1.9 };
/** A setting and its raises; one more than there are steps stands for never. */
export interface Raises {
  readonly terms: readonly string[];
  readonly first: number;
  readonly second: number;
  readonly gain: number;
}

/** How far the worst of the three is from the paper, relative. */
export const farthest = (one: Raises): number =>
  Math.max(...(['first', 'second', 'gain'] as const).map((key) => Math.abs(one[key] / printedRaises[key] - 1)));

/** What is kept: every term alone, and of pairs and threes the nearest, and how many were tried. */
export interface KeptRaises {
  readonly pairs: number;
  readonly threes: number;
  readonly rows: readonly Raises[];
}
/** Where the last run is kept. */
export const raisesFile = new URL('./raises.json', import.meta.url);
/** What the last run kept. */
export const keptRaises = (): KeptRaises => JSON.parse(readFileSync(raisesFile, 'utf8'));
