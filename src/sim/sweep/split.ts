/**
 * Splits the prompts of a trace into two halves, for the search and for the confirmation, so that settings found with some prompts
 * are confirmed with others. A generated workload has different prompts for each seed anyway; if there are few prompts, both parts
 * use all of them.
 */
import type { Workload } from '../workload/workload.ts';
import { type Spread, spreadOf } from './interval.ts';
import { drawnHalf, hashOf, ownId, withPrompts } from './prompt-halves.ts';

/** A part of a sweep: the search for settings, or the confirmation, which measures them on other prompts. */
export type SweepPart = 'search' | 'confirmation';

/** The split of the prompts between the parts of a sweep. */
export interface PromptSplit {
  /**
   * - `halves`: each part has half of the trace's prompts;
   * - `same`: the trace has too few prompts, so that both parts have all of them;
   * - `generated`: every seed has its own prompts.
   */
  readonly kind: 'halves' | 'same' | 'generated';
  /** Number of prompts for the search; null if it is unlimited. */
  readonly search: number | null;
  /** Number of prompts for the confirmation; null if it is unlimited. */
  readonly confirmation: number | null;
}

/** Fewer prompts are not split: a run draws half of its part, and this half should not be too small. */
export const leastToSplit = 128;

/** Splits the prompts of a workload between the search and the confirmation. */
export function splitOf(workload: Workload): PromptSplit {
  const { distinctPrompts } = workload;
  if (!Number.isFinite(distinctPrompts)) return { kind: 'generated', search: null, confirmation: null };
  if (distinctPrompts < leastToSplit) return { kind: 'same', search: distinctPrompts, confirmation: distinctPrompts };
  // A prompt that was recorded in several steps counts as one prompt.
  const prompts = idsOf(workload).length;
  if (prompts < leastToSplit) return { kind: 'same', search: distinctPrompts, confirmation: distinctPrompts };
  const search = Math.ceil(prompts / 2);
  return { kind: 'halves', search, confirmation: prompts - search };
}

/** Returns the distinct prompt ids. */
function idsOf(workload: Workload): string[] {
  return [...new Set(Array.from({ length: workload.distinctPrompts }, (_, index) => ownId(workload.prompt(index))))];
}

/** Returns the prompts that a seed draws from a part. */
export function partOf(workload: Workload, part: SweepPart, seed: number): Workload {
  const split = splitOf(workload);
  if (split.kind !== 'halves') return drawnHalf(workload, seed);
  // Prompts are ordered by hash, because a trace may be ordered by time or by difficulty.
  const ranked = idsOf(workload)
    .map((id) => ({ id, hash: hashOf(`part ${id}`) }))
    .sort((a, b) => a.hash - b.hash || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
  const middle = Math.ceil(ranked.length / 2);
  const own = new Set(part === 'search' ? ranked.slice(0, middle) : ranked.slice(middle));
  const half = withPrompts(workload, (prompt) => own.has(ownId(prompt)));
  return drawnHalf({ ...half, distinctPrompts: own.size }, seed);
}

/** Least number of steps in the independent run that the intervals predict. */
export const independentSteps = 60;

/** Returns the spread of an independent run, compared with runs of the confirmation, which have this number of steps. */
export function confirmationSpread(workload: Workload, promptsPerRound: number, steps: number): Spread {
  const prompts = splitOf(workload).confirmation ?? Number.POSITIVE_INFINITY;
  const drawn = drawnHalf({ ...workload, distinctPrompts: prompts }, 0).distinctPrompts;
  return spreadOf(prompts, drawn, steps * promptsPerRound, independentSteps * promptsPerRound);
}
