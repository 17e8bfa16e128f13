/**
 * Random numbers by name: seed and keys determine each number, whatever was drawn before. Two schedulers that ask for the same
 * sample of the same prompt get the same number (common random numbers).
 */
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Mixes 32 bits of a key into a 32-bit hash (MurmurHash3's finaliser on a running sum). */
function mixBits(hash: number, bits: number): number {
  let h = (Math.imul(hash, 31) + bits + 0x9e3779b9) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Mixes a key into a hash. All bits of a large or a negative key count, because it may be a seed. */
function mix(hash: number, key: number): number {
  const beyond = Math.floor(key / 2 ** 32);
  const mixed = mixBits(hash, key | 0);
  return beyond === 0 ? mixed : mixBits(mixed, beyond);
}

/** Returns a number in [0, 1), determined by the keys (whole numbers). */
export function uniform(...keys: readonly number[]): number {
  return uniformFloat64(xoroshiro128plus(keys.reduce(mix, 0)));
}

/** Returns a standard normal number, determined by the keys. */
export function normal(...keys: readonly number[]): number {
  // Shares of 0 and 1 are avoided, because their quantiles are infinite.
  return normalQuantile((uniform(...keys) * (2 ** 53 - 2) + 1) / 2 ** 53);
}

/** Returns a whole number from 0 to n − 1, determined by the keys. */
export function pickIndex(n: number, ...keys: readonly number[]): number {
  return Math.min(n - 1, Math.floor(uniform(...keys) * n));
}

/** Returns the numbers from 0 to n − 1 in an order that is determined by the keys (Fisher and Yates). */
export function shuffled(n: number, ...keys: readonly number[]): number[] {
  const list = Array.from({ length: n }, (_, index) => index);
  for (let last = n - 1; last > 0; last -= 1) {
    const other = pickIndex(last + 1, ...keys, last);
    [list[last], list[other]] = [list[other]!, list[last]!];
  }
  return list;
}

const centre = [
  [
    3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125, 45921.953931549871457,
    67265.770927008700853, 33430.575583588128105, 2509.0809287301226727,
  ],
  [
    1, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077, 21213.794301586595867, 39307.89580009271061,
    28729.085735721942674, 5226.495278852545925,
  ],
] as const;
const shoulder = [
  [
    1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504,
    1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4,
  ],
  [
    1, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455, 0.14810397642748007459,
    0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9,
  ],
] as const;
const tails = [
  [
    6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123,
    0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
  ],
  [
    1, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525, 7.868691311456132591e-4,
    1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15,
  ],
] as const;

function ratio(coefficients: readonly (readonly number[])[], x: number): number {
  const value = (list: readonly number[]) => list.reduceRight((sum, one) => sum * x + one, 0);
  return value(coefficients[0]!) / value(coefficients[1]!);
}

/**
 * Returns the quantile of the standard normal distribution, with a relative error of 1e-15; infinite at 0 and 1 (Wichura, algorithm
 * AS 241, Applied Statistics 1988).
 */
export function normalQuantile(p: number): number {
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) return q * ratio(centre, 0.180625 - q * q);
  const r = Math.sqrt(-Math.log(q < 0 ? p : 1 - p));
  if (r === Number.POSITIVE_INFINITY) return q < 0 ? -r : r;
  const size = r <= 5 ? ratio(shoulder, r - 1.6) : ratio(tails, r - 5);
  return q < 0 ? -size : size;
}

/** Returns the standard normal distribution function, with an absolute error of 1e-7 (Abramowitz and Stegun 7.1.26). */
export function normalDistribution(x: number): number {
  const t = 1 / (1 + 0.3275911 * (Math.abs(x) / Math.SQRT2));
  const poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const tail = (poly * Math.exp((-x * x) / 2)) / 2;
  return x < 0 ? tail : 1 - tail;
}
