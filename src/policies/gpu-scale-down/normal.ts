/** The standard normal distribution. */

const a = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239,
];
const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572];
const c = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
];
const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];

const polynomial = (factors: readonly number[], x: number): number =>
  factors.reduce((sum, factor) => sum * x + factor, 0);

/**
 * Returns the quantile of the standard normal distribution, by Acklam's rational approximation; exact to 1e-6, and rounded to
 * 1e-6, so that machines whose logarithms differ in the last bit give the same result.
 *
 * @param share - from 0 to 1, both excluded
 */
export function probit(share: number): number {
  if (share > 0.5) return 0 - probit(1 - share);
  let value: number;
  if (share < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(share));
    value = polynomial(c, q) / (polynomial(d, q) * q + 1);
  } else {
    const q = share - 0.5;
    value = (polynomial(a, q * q) * q) / (polynomial(b, q * q) * q * q + 1);
  }
  return Math.round(value * 1e6) / 1e6;
}

/**
 * Returns the probability that a standard normal variable exceeds z, right to 1.5e-7 (Abramowitz and Stegun 26.2.19): a polynomial
 * gives the same result on every machine.
 */
export function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z);
  if (z > 40) return 0;
  const high = (0.000005383 * z + 0.0000488906) * z + 0.0000380036;
  const root = (((high * z + 0.0032776263) * z + 0.0211410061) * z + 0.049867347) * z + 1;
  const fourth = root * root * root * root;
  return 0.5 / (fourth * fourth * fourth * fourth);
}
