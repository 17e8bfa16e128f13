/** Durations in words: in a terminal, on a page, and on a chart. */

/** A unit, the number written with it, and the limit (in seconds) up to which it is used. */
type Unit = readonly [below: number, number: (seconds: number) => string, unit: string];
const [minute, hour, day] = [60, 3600, 86_400];
const units = {
  /** The form that people say. */
  spoken: [
    [1, (seconds) => (seconds * 1000).toFixed(0), 'ms'],
    [10, (seconds) => seconds.toFixed(1), 's'],
    [10 * minute, (seconds) => seconds.toFixed(0), 's'],
    [2 * hour, (seconds) => (seconds / minute).toFixed(0), 'min'],
    [2 * day, (seconds) => (seconds / hour).toFixed(1), 'h'],
    [Number.POSITIVE_INFINITY, (seconds) => (seconds / day).toFixed(1), 'days'],
  ],
  /** With the digits that tell bars of a chart apart. */
  measured: [
    [1, (seconds) => String(Number(seconds.toPrecision(2))), 's'],
    [2 * minute, (seconds) => seconds.toFixed(1), 's'],
    [2 * hour, (seconds) => (seconds / minute).toFixed(1), 'min'],
    [Number.POSITIVE_INFINITY, (seconds) => (seconds / hour).toFixed(2), 'h'],
  ],
} satisfies Record<string, readonly Unit[]>;

/** Writes a duration for people. */
export function duration(seconds: number, form: keyof typeof units = 'spoken'): string {
  const all: readonly Unit[] = units[form];
  const [, number, unit] = all.find(([below]) => seconds < below) ?? all.at(-1)!;
  return `${number(seconds)} ${unit}`;
}
