/** Numbers as text, as the report writes them. */
import { number, percent as percentHtml } from '../../../../src/sim/report/format.ts';

export { number };
/** A share in percent. */
export const percent = (share: number): string => percentHtml(share).replace('&lt;', '<');
/** A ratio. */
export const times = (value: number): string => `${number(value)} ×`;
/** A ratio with its interval, if it has one. */
export const timesIn = ({ value, low, high }: { value: number; low: number; high: number }): string =>
  low === high ? times(value) : `${times(value)} (${number(low)}–${number(high)})`;
export const seconds = (value: number): string => `${number(value, value < 10 ? 2 : 1)} s`;
