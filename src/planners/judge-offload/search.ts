/** Searches for the fastest pipeline that fits, and for resources that the pipeline can give up without becoming slower. */
import { type Pace, pipelinedSeconds, spread } from './pipeline.ts';

/** Limits of the search. */
export interface Bounds {
  readonly layers: number;
  /** Number of layers that fit on the GPU, resident layers and buffers together, >= 1. */
  readonly slots: number;
  readonly maxDepth: number;
}

/** A choice of streamed layers and buffers, with the seconds of a forward pass. */
export interface Choice {
  readonly streamed: readonly number[];
  readonly depth: number;
  readonly seconds: number;
}

/** Relative difference that sums in another order may have. */
const rounding = 1e-9;

/** Returns the fastest pipeline with `depth` buffers; ties go to the longest lead of resident layers. */
function fastestAt(depth: number, { layers, slots }: Bounds, pace: Pace): Choice {
  const resident = slots - depth;
  let best: Choice | undefined;
  for (let lead = resident; lead >= 0; lead -= 1) {
    const streamed = spread(layers, layers - resident, lead);
    const seconds = pipelinedSeconds(layers, streamed, depth, pace);
    if (best === undefined || seconds < best.seconds * (1 - rounding)) best = { streamed, depth, seconds };
  }
  return best!;
}

/**
 * Yields the fastest pipeline for each number of buffers, fewest first. All slots are used, because one more resident layer never
 * makes a pass slower. If all layers fit, nothing is streamed.
 */
function* byDepth(bounds: Bounds, pace: Pace): Generator<Choice> {
  const { layers, slots, maxDepth } = bounds;
  if (slots >= layers) yield { streamed: [], depth: 0, seconds: layers * pace.layerSeconds };
  else for (let depth = 1; depth <= Math.min(slots, maxDepth); depth += 1) yield fastestAt(depth, bounds, pace);
}

/** Finds the pipeline with the fewest buffers, hence the fewest streamed layers, whose pass keeps within a time limit. */
function withinLimit(bounds: Bounds, pace: Pace, limit: number): Choice | undefined {
  if (bounds.layers * pace.layerSeconds > limit) return undefined;
  for (const choice of byDepth(bounds, pace)) if (choice.seconds <= limit) return choice;
  return undefined;
}

function leastSeconds(bounds: Bounds, pace: Pace): number {
  const computing = bounds.layers * pace.layerSeconds;
  let least = Number.POSITIVE_INFINITY;
  for (const { seconds } of byDepth(bounds, pace)) {
    least = Math.min(least, seconds);
    if (least <= computing) break;
  }
  return least;
}

/**
 * Chooses among all pipelines within `tolerance` of the fastest one, by the smallest share of the SMs, then the fewest streamed
 * layers, then the shortest pass; ties go to the longest lead of resident layers.
 *
 * @param mostPercent - most of the SMs that the judge may have, in percent, >= 1
 * @param paceOf - returns the pace with a given percentage of the SMs; a larger percentage is never slower
 */
export function choose(
  bounds: Bounds,
  mostPercent: number,
  paceOf: (percent: number) => Pace,
  tolerance: number,
): Choice & { readonly percent: number } {
  const limit = leastSeconds(bounds, paceOf(mostPercent)) * (1 + tolerance + rounding);
  let [low, high] = [1, mostPercent];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (withinLimit(bounds, paceOf(middle), limit) === undefined) low = middle + 1;
    else high = middle;
  }
  return { ...withinLimit(bounds, paceOf(low), limit)!, percent: low };
}
