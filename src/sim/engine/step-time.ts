/** Decode steps in closed form: a batch that does not change needs no loop over its steps. */

/** A stretch of decode steps with one batch. */
export interface Stretch {
  /** Seconds of the first step: α(b) + γ · C. */
  readonly firstSeconds: number;
  /** Seconds that each step takes more than the one before: γ · b. */
  readonly growthSeconds: number;
}

/** Returns the seconds of the first n steps: n · first + growth · n(n − 1)/2. */
export function stretchSeconds(stretch: Stretch, steps: number): number {
  return steps * stretch.firstSeconds + (stretch.growthSeconds * steps * (steps - 1)) / 2;
}

/** Returns the least number of steps that take `seconds` or more: the step in which a moment falls ends there. */
export function stepsUntil(stretch: Stretch, seconds: number): number {
  const half = stretch.growthSeconds / 2;
  const linear = stretch.firstSeconds - half;
  // The positive root of half · n² + linear · n = seconds, in the form without cancellation for a small growth.
  const root = (2 * seconds) / (linear + Math.sqrt(linear * linear + 4 * half * seconds));
  // The root has rounding errors; its neighbours are tried.
  let steps = Math.max(0, Math.floor(root) - 1);
  while (stretchSeconds(stretch, steps) < seconds) steps += 1;
  return steps;
}
