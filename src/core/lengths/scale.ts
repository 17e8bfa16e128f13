/**
 * A scale on which ratios of lengths are nearly distances: the logarithm to base 2, with a straight line between powers of two.
 * The scale needs no logarithm, so that every machine and every JavaScript engine gives the same number.
 */

/** Steps of the scale for each doubling of the length. */
export const octave = 1024;

const octaves = 30;
/** A log-length beyond that of every length. */
export const endOfScale = octaves * octave;

/** Returns the log-length of a number of tokens, its place on the scale: a whole number from 0 (0 tokens), the greater the longer. */
export function logLengthOf(tokens: number): number {
  const value = Math.min(tokens, 2 ** octaves - 2) + 1;
  const exponent = 31 - Math.clz32(value);
  return exponent * octave + Math.floor(((value - 2 ** exponent) * octave) / 2 ** exponent);
}

/** Returns the length that has a log-length, which need not be a whole number, in tokens: not rounded. */
export function tokensAt(logLength: number): number {
  if (logLength <= 0) return 0;
  const exponent = Math.floor(logLength / octave);
  return (1 + logLength / octave - exponent) * 2 ** exponent - 1;
}
