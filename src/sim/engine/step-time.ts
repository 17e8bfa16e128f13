/** Durations of decode steps in closed form: no loop over steps is needed while the batch does not change. */

/** A stretch of decode steps with one batch. */
export interface Stretch {
  /** Seconds of the first step: α(b) + γ · C. */
  readonly firstSeconds: number;
  /** Seconds by which each step exceeds the previous one: γ · b. */
  readonly growthSeconds: number;
}

/** Returns the seconds of the first n steps: n · first + growth · n(n − 1)/2. */
export function stretchSeconds(stretch: Stretch, steps: number): number {
  return steps * stretch.firstSeconds + (stretch.growthSeconds * steps * (steps - 1)) / 2;
}

/** Returns the least number of steps that take at least `seconds`: a time inside a step counts up to the end of the step. */
export function stepsUntil(stretch: Stretch, seconds: number): number {
  const half = stretch.growthSeconds / 2;
  const linear = stretch.firstSeconds - half;
  // The positive root of half · n² + linear · n = seconds, in the form without cancellation for a small growth.
  const root = (2 * seconds) / (linear + Math.sqrt(linear * linear + 4 * half * seconds));
  // The root has rounding errors, so the next smaller and larger numbers are tried.
  let steps = Math.max(0, Math.floor(root) - 1);
  while (stretchSeconds(stretch, steps) < seconds) steps += 1;
  return steps;
}
