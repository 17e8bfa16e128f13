/** Formats numbers for the terminal. */

/** Returns a number with this many digits after the decimal point. */
export const fixed = (value: number, digits = 1): string => value.toFixed(digits);

/** Formats seconds, with fewer digits for larger values. */
export const seconds = (value: number): string => fixed(value, value >= 100 ? 0 : 1);

/** Formats a share in percent; a small share has one digit more, so that it does not appear as 0. */
export const percent = (share: number): string => {
  if (share === 0) return '0%';
  if (share > 0 && share < 0.00005) return '<0.01%';
  return `${fixed(share * 100, Math.abs(share) < 0.01 ? 2 : 1)}%`;
};

/** Formats a number and, in the same line, its distance to the farther end of its interval. */
export const within = (
  { value, low, high }: { readonly value: number; readonly low: number; readonly high: number },
  digits = 2,
): string => {
  const off = Math.max(high - value, value - low);
  const least = 10 ** -digits / 2;
  return off < least ? fixed(value, digits) : `${fixed(value, digits)} ± ${fixed(off, digits)}`;
};
