/** Errors of the time model as tables. */
import { fixed, plainTable } from '../../../src/cli/terminal/plain-table.ts';
import type { Errors } from './errors.ts';
import type { Both } from './study.ts';

/** A share as percent; a dash where there is none. */
export const percentOf = (share: number | null, digits = 1): string =>
  share === null ? '–' : `${fixed(100 * share, digits)}%`;
/** A rank correlation. */
export const tauOf = (tau: number | null): string => (tau === null ? '–' : fixed(tau, 2));

/** Heads of {@link errorCells}. */
export const errorHeads = [
  'rows',
  'TPOT mean',
  'median',
  'within 25%',
  'tau',
  'tau over TP',
  'TTFT median',
  'TTFT mean',
] as const;

/** The cells of errors. */
export const errorCells = ({ rows, tpot, ttft }: Errors): string[] => [
  String(rows),
  percentOf(tpot.mape),
  percentOf(tpot.median),
  percentOf(tpot.within25, 0),
  tauOf(tpot.tau),
  tauOf(tpot.tauTp),
  percentOf(ttft.median, 0),
  percentOf(ttft.mape, 0),
];

/** A table of errors by name. */
export function errorTable(name: string, rows: Readonly<Record<string, Errors>>): string {
  const lines = Object.entries(rows).map(([one, errors]) => [one, ...errorCells(errors)]);
  return plainTable<string[]>(
    [name, ...errorHeads].map((head, index) => [head, (cells: string[]) => cells[index]!]),
    lines,
  );
}

/** Errors without the doubted runs, where there are others. */
export const undoubtedOf = (rows: Readonly<Record<string, Both>>): Record<string, Errors> =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([name, { undoubted }]) => (undoubted === null ? [] : [[name, undoubted]])),
  );
