/** Decode steps in closed form: a batch that does not change needs no loop over its steps. */

/** A stretch of decode steps with one batch. */
export interface Stretch {
  /** Seconds of the first step: α(b) + γ · C. */
  readonly firstSeconds: number;
  /** Seconds that each step takes more than the one before: γ · b. */
  readonly growthSeconds: number;
}

/** Seconds of the first n steps: n · first + growth · n(n − 1)/2. */
export function stretchSeconds(stretch: Stretch, steps: number): number {
  return steps * stretch.firstSeconds + (stretch.growthSeconds * steps * (steps - 1)) / 2;
}

/** The least number of steps that take `seconds` or more: the step in which a moment falls ends there. */
export function stepsUntil(stretch: Stretch, seconds: number): number {
  const { firstSeconds, growthSeconds } = stretch;
  const half = growthSeconds / 2;
  const linear = firstSeconds - half;
  const exact = half === 0 ? seconds / linear : (Math.sqrt(linear * linear + 4 * half * seconds) - linear) / (2 * half);
  // The root is right to rounding; the neighbours settle it.
  let steps = Math.max(0, Math.floor(exact) - 1);
  while (stretchSeconds(stretch, steps) < seconds) steps += 1;
  return steps;
}
