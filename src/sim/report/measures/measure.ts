/** A measure of a scheduler is declared once: what it is called, how it is read from a result, and how it is written. */
import type { Interval } from '../../comparison/result.ts';
import { type Column, escapeHtml, number, percent as pagePercent, times } from '../format.ts';
import { fixed, percent, seconds, within } from './plain.ts';

/** A measure as a column on the terminal and as one on pages, whose cells are HTML; some are shown on one of them only. */
export interface Measure<T> {
  readonly text?: Column<T>;
  readonly page?: Column<T>;
}

/** How a value is written on the terminal, and on pages. */
export interface Format<V> {
  readonly text: (value: V) => string;
  readonly page: (value: V) => string;
}

const inTimes = (value: number): string => `${number(value)} ×`;
const inTenths = (value: number): string => number(value, 1);
const mainTimes = (interval: Interval): string => `<b>${times(interval)}</b>`;

/** Kinds of values. Shares are 0 to 1, and are written in percent. */
export const formats = {
  seconds: { text: seconds, page: inTenths },
  tenths: { text: fixed, page: inTenths },
  share: { text: percent, page: pagePercent },
  shareInTenths: { text: (value: number) => `${fixed(100 * value)}%`, page: pagePercent },
  shareInWhole: { text: (value: number) => `${fixed(100 * value, 0)}%`, page: pagePercent },
  factor: { text: (value: number) => `${fixed(value, 2)}x`, page: inTimes },
  mainFactor: { text: (value: number) => `${fixed(value, 2)}x`, page: (value: number) => `<b>${inTimes(value)}</b>` },
  relative: { text: (value: number) => fixed(value, 2), page: inTimes },
  interval: { text: within, page: times },
  mainInterval: { text: within, page: mainTimes },
  mainValue: { text: ({ value }: Interval) => `${fixed(value, 2)}x`, page: mainTimes },
};

/** Returns a function that declares measures: heads, of which one may be missing, how it is read, and how it is written. */
export const measuresOf =
  <T>() =>
  <V>(text: string | null, page: string | null, read: (one: T) => V, format: Format<V>): Measure<T> => ({
    ...(text === null ? {} : { text: [text, (one) => format.text(read(one))] }),
    ...(page === null ? {} : { page: [page, (one) => format.page(read(one))] }),
  });

/** Returns the columns of measures on the terminal. */
export const onTerminal = <T>(measures: readonly Measure<T>[]): Column<T>[] =>
  measures.map(({ text }) => text).filter((one) => one !== undefined);

/** Returns the columns of measures on pages, after that of the schedulers' names. */
export const onPages = <T extends { readonly label: string }>(measures: readonly Measure<T>[]): Column<T>[] => [
  ['scheduler', (one) => escapeHtml(one.label)],
  ...measures.map(({ page }) => page).filter((one) => one !== undefined),
];

type Longest = { readonly longestKeptShare: number; readonly longestTrainedRatio: number };
/** Two shares for the longest 1 % of responses: of those that are kept, and the trained long responses per long response. */
export const longest = measuresOf<Longest>()(
  'longest\n1%',
  'longest 1\u00a0%, same / as long',
  (one) => [one.longestKeptShare, one.longestTrainedRatio],
  {
    text: (shares) => `${shares.map((share) => fixed(100 * share, 0)).join(' / ')}%`,
    page: (shares) => shares.map(pagePercent).join(' / '),
  },
);
