/** The scorecard as words: a row beside ours, and how many rows are near. */
import { fixed } from '../../src/cli/terminal/plain-table.ts';
import { errorOf, type Paper, type Row } from './row.ts';

/** A row beside ours. */
export interface Scored extends Row {
  readonly ours: number;
  /** Relative; 0 inside a printed range. */
  readonly error: number;
}

export const scored = (row: Row, ours: number): Scored => ({ ...row, ours, error: errorOf(row, ours) });

/** Three digits that count, and no more. */
export const significant = (value: number): string =>
  value >= 100 ? fixed(value, 0) : value >= 10 ? fixed(value, 1) : fixed(value, 2);
export const printed = ({ printed: one }: Row, to = '-'): string =>
  typeof one === 'number' ? significant(one) : one.map(significant).join(to);
export const percent = (share: number): string => {
  const rounded = Math.round(100 * share);
  return `${rounded > 0 ? '+' : ''}${rounded === 0 ? 0 : rounded}%`;
};

/** Rows that are counted together. */
export interface Tally {
  readonly name: string;
  readonly rows: readonly Scored[];
}

/** How many of some rows are within a limit. */
export const within =
  (limit: number) =>
  ({ rows }: Tally): string => {
    const near = rows.filter(({ error }) => Math.abs(error) <= limit).length;
    return `${near} of ${rows.length}, ${fixed((100 * near) / rows.length, 0)}%`;
  };

/** Fitted and validation rows of each paper and of all, and apart from them the columns beside a step's seconds. */
export function talliesOf(some: readonly Scored[]): Tally[] {
  const counted = some.filter(({ isPart }) => isPart !== true);
  const papers = [...new Set(some.map(({ paper }) => paper))];
  const of = (name: string, rows: readonly Scored[]): Tally[] =>
    (['validation', 'fitted'] as const).map((use) => ({
      name: `${name}, ${use}`,
      rows: rows.filter((one) => one.use === use),
    }));
  return [
    ...of('all', counted),
    ...papers.flatMap((paper: Paper) =>
      of(
        paper,
        counted.filter((one) => one.paper === paper),
      ),
    ),
    ...of(
      'stages of FlexRL Table 2',
      some.filter(({ isPart }) => isPart === true),
    ),
  ].filter(({ rows }) => rows.length > 0);
}
