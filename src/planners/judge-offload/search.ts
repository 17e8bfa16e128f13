/** The fastest pipeline that fits, and the cheapest that is nearly as fast. */
import { type Pace, pipelinedSeconds, spread } from './pipeline.ts';

/** What the search may choose from. */
export interface Bounds {
  readonly layers: number;
  /** Layers that fit on the GPU, resident ones and buffers together, >= 1. */
  readonly slots: number;
  readonly maxDepth: number;
}

/** What was chosen, and how long a forward pass takes with it. */
export interface Choice {
  readonly streamed: readonly number[];
  readonly depth: number;
  readonly seconds: number;
}

/** Sums in another order may differ by this, relative. */
const rounding = 1e-9;
const isFaster = (one: number, other: number): boolean => one < other * (1 - rounding);

/**
 * The fastest pipeline in so many slots. All are used: a resident layer more, or a buffer more, never makes a pass
 * slower. Ties go to fewer buffers, then to the longest lead of resident layers.
 */
export function fastest({ layers, slots, maxDepth }: Bounds, pace: Pace): Choice {
  if (slots >= layers) return { streamed: [], depth: 0, seconds: layers * pace.layerSeconds };
  let best: Choice | undefined;
  for (let depth = 1; depth <= Math.min(slots, maxDepth); depth += 1) {
    const resident = slots - depth;
    for (let lead = resident; lead >= 0; lead -= 1) {
      const streamed = spread(layers, layers - resident, lead);
      const seconds = pipelinedSeconds(layers, streamed, depth, pace);
      if (best === undefined || isFaster(seconds, best.seconds)) best = { streamed, depth, seconds };
    }
  }
  return best!;
}

/** The least whole number from `low` to `high` for which a test holds that holds for all above it, and for `high`. */
function least(low: number, high: number, holds: (value: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return to;
}

/** The choice, with the percent of the SMs that it needs. */
export interface Cheapest extends Choice {
  readonly percent: number;
}

/**
 * Of all pipelines within `tolerance` of the fastest one: the smallest share of the SMs, then the fewest slots, then the
 * fastest.
 *
 * @param paceOf - the pace with so many percent of the SMs; never slower with more
 */
export function cheapest(
  bounds: Bounds,
  mostPercent: number,
  paceOf: (percent: number) => Pace,
  tolerance: number,
): Cheapest {
  const limit = fastest(bounds, paceOf(mostPercent)).seconds * (1 + tolerance + rounding);
  const isQuick = (slots: number, percent: number): boolean =>
    fastest({ ...bounds, slots }, paceOf(percent)).seconds <= limit;
  const percent = least(1, mostPercent, (one) => isQuick(bounds.slots, one));
  const slots = least(1, bounds.slots, (one) => isQuick(one, percent));
  return { ...fastest({ ...bounds, slots }, paceOf(percent)), percent };
}
