/** Fits the cost per token to the requests in service and their context: a plane, by least squares. */
import { z } from 'zod';

/** Factor on the earlier sums at each further completion: about the last 4,000 completions count. */
const retention = 0.99975;
/** Least spread of the measurements, as a share of their mean square; below it a slope is unknown. */
const leastSpread = 1e-9;
/** The same limit for distinguishing two slopes. */
const leastDifference = 1e-6;

const amount = z.number().nonnegative();

/** Schema for the sums of the fit: n requests, c tokens of context, weighted by the tokens of each response. */
export const fitSchema = z.strictObject({
  weight: amount,
  n: amount,
  c: amount,
  seconds: amount,
  nn: amount,
  nc: amount,
  cc: amount,
  nSeconds: amount,
  cSeconds: amount,
  /** Least seconds per token of any response; the value slowly rises again. */
  fastest: amount.nullable(),
});
/** The sums of a fit, as plain data. */
export type Fit = z.output<typeof fitSchema>;

export function newFit(): Fit {
  return { weight: 0, n: 0, c: 0, seconds: 0, nn: 0, nc: 0, cc: 0, nSeconds: 0, cSeconds: 0, fastest: null };
}

/** Adds a response of `tokens` that took `seconds`, with n requests and c tokens of context in service. */
export function addPoint(fit: Fit, tokens: number, seconds: number, n: number, c: number): void {
  const forgotten = fit.fastest === null ? Number.POSITIVE_INFINITY : fit.fastest / retention;
  fit.fastest = Math.min(forgotten, seconds / tokens);
  fit.weight = fit.weight * retention + tokens;
  fit.n = fit.n * retention + tokens * n;
  fit.c = fit.c * retention + tokens * c;
  fit.seconds = fit.seconds * retention + seconds;
  fit.nn = fit.nn * retention + tokens * n * n;
  fit.nc = fit.nc * retention + tokens * n * c;
  fit.cc = fit.cc * retention + tokens * c * c;
  fit.nSeconds = fit.nSeconds * retention + n * seconds;
  fit.cSeconds = fit.cSeconds * retention + c * seconds;
}

/** Seconds per token: `base` + `slope` · requests in service + `contextSlope` · their context tokens, all >= 0. */
export interface StepCost {
  readonly base: number;
  readonly slope: number;
  readonly contextSlope: number;
  /** The least seconds per token of any response. */
  readonly fastest: number;
}

/** Returns the least-squares plane whose three coefficients are >= 0. */
export function stepCost({ weight, fastest, ...sums }: Fit): StepCost | undefined {
  if (weight === 0 || fastest === null) return undefined;
  const [n, c, seconds] = [sums.n / weight, sums.c / weight, sums.seconds / weight];
  const nn = sums.nn / weight - n * n;
  const cc = sums.cc / weight - c * c;
  const nc = sums.nc / weight - n * c;
  const nSeconds = sums.nSeconds / weight - n * seconds;
  const cSeconds = sums.cSeconds / weight - c * seconds;
  // The search starts from a flat plane: without other evidence, width seems to cost nothing.
  let best: StepCost = { base: seconds, slope: 0, contextSlope: 0, fastest };
  let least = 0;
  const consider = (slope: number, contextSlope: number): void => {
    const base = seconds - slope * n - contextSlope * c;
    if (!(slope >= 0 && contextSlope >= 0 && base >= 0)) return;
    const squares = slope * slope * nn + 2 * slope * contextSlope * nc + contextSlope * contextSlope * cc;
    const error = squares - 2 * (slope * nSeconds + contextSlope * cSeconds);
    if (error >= least) return;
    least = error;
    best = { base, slope, contextSlope, fastest };
  };
  const [hasN, hasC] = [nn > leastSpread * n * n, cc > leastSpread * c * c];
  if (hasN) {
    consider(nSeconds / nn, 0);
    // If the best base is below 0, the base is 0, and the requests account for all of the time.
    consider(seconds / n, 0);
  }
  if (hasC) consider(0, cSeconds / cc);
  const determinant = nn * cc - nc * nc;
  if (hasN && hasC && determinant > leastDifference * nn * cc) {
    consider((nSeconds * cc - cSeconds * nc) / determinant, (cSeconds * nn - nSeconds * nc) / determinant);
  }
  return best;
}
