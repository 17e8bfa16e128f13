/** A test of why rows of the scorecard are off. */
import { readFileSync } from 'node:fs';

/** Kinds of causes. */
export type Cause =
  | 'missing mechanism'
  | 'reading of the paper'
  | 'contradiction in the paper'
  | 'constant'
  | 'not found';

/** What was changed, and what became of the rows. */
export interface CauseTest {
  /** Ids of rows. */
  readonly rows: readonly string[];
  readonly cause: Cause;
  readonly changed: string;
  readonly became: string;
}

/** Two digits behind the point for small values, none for large ones. */
export const shown = (value: number): string => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

/** Where the last run is kept. */
export const causesFile = new URL('./causes.json', import.meta.url);
/** What the last run kept. */
export const keptCauses = (): readonly CauseTest[] => JSON.parse(readFileSync(causesFile, 'utf8'));
