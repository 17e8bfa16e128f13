/**
 * The prompts of the search and of the confirmation: each has a half of a trace of its own, so that findings on some prompts are
 * confirmed on others. A generated workload has other prompts for each seed anyway; both have all of a few prompts.
 */
import type { Workload } from '../workload/workload.ts';
import { drawnHalf, hashOf, ownId, withPrompts } from './halves.ts';
import { type Spread, spreadOf } from './interval.ts';

/** A part of a sweep: the search for settings, or their measurement on other prompts. */
export type SweepPart = 'search' | 'confirmation';

/** The split of the prompts between the parts of a sweep. */
export interface PromptSplit {
  /**
   * - `halves`: each part has half of the trace's prompts;
   * - `same`: the trace has too few of them, and both parts have all;
   * - `generated`: every seed has prompts of its own.
   */
  readonly kind: 'halves' | 'same' | 'generated';
  /** Prompts of each part; null where they have no end. */
  readonly search: number | null;
  /** Prompts of the confirmation. */
  readonly confirmation: number | null;
}

/** Fewer prompts are not split: a run draws a half of its part, and that half should be more than a few. */
export const leastToSplit = 128;

/** Splits the prompts of a workload between the search and the confirmation. */
export function splitOf(workload: Workload): PromptSplit {
  const { distinctPrompts } = workload;
  if (!Number.isFinite(distinctPrompts)) return { kind: 'generated', search: null, confirmation: null };
  if (distinctPrompts < leastToSplit) return { kind: 'same', search: distinctPrompts, confirmation: distinctPrompts };
  // A prompt that was recorded in several steps is one prompt.
  const prompts = idsOf(workload).length;
  if (prompts < leastToSplit) return { kind: 'same', search: distinctPrompts, confirmation: distinctPrompts };
  const search = Math.ceil(prompts / 2);
  return { kind: 'halves', search, confirmation: prompts - search };
}

/** Returns the ids of the prompts, each once. */
function idsOf(workload: Workload): string[] {
  return [...new Set(Array.from({ length: workload.distinctPrompts }, (_, index) => ownId(workload.prompt(index))))];
}

/** Returns the prompts of a part that a seed draws. */
export function partOf(workload: Workload, part: SweepPart, seed: number): Workload {
  const split = splitOf(workload);
  if (split.kind !== 'halves') return drawnHalf(workload, seed);
  // Prompts are ranked by hash, since a trace may be in the order of time or of difficulty.
  const ranked = idsOf(workload)
    .map((id) => ({ id, hash: hashOf(`part ${id}`) }))
    .sort((a, b) => a.hash - b.hash || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
  const middle = Math.ceil(ranked.length / 2);
  const own = new Set(part === 'search' ? ranked.slice(0, middle) : ranked.slice(middle));
  const half = withPrompts(workload, (prompt) => own.has(ownId(prompt)));
  return drawnHalf({ ...half, distinctPrompts: own.size }, seed);
}

/** Steps of the independent run that intervals are for, at least. */
export const independentSteps = 60;

/** Returns the spread of an independent run around those of the confirmation, which have this many steps. */
export function confirmationSpread(workload: Workload, promptsPerRound: number, steps: number): Spread {
  const prompts = splitOf(workload).confirmation ?? Number.POSITIVE_INFINITY;
  const drawn = drawnHalf({ ...workload, distinctPrompts: prompts }, 0).distinctPrompts;
  return spreadOf(prompts, drawn, steps * promptsPerRound, independentSteps * promptsPerRound);
}
