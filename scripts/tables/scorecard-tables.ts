/** The tables of docs/reproduction.md: the declared rows of the papers beside the values of the last whole run. */
import { measured } from '../../bench/scorecard/measured.ts';
import {
  percent,
  printed,
  type Scored,
  significant,
  type Tally,
  talliesOf,
  within,
} from '../../bench/scorecard/report.ts';
import { outside } from '../../bench/scorecard/rows.ts';
import { table } from './schema-table.ts';

const { seeds, rows } = measured();
const counted = rows.filter(({ isPart }) => isPart !== true);
const cells = (one: Scored): string[] => [
  one.where,
  one.what,
  printed(one, ' to '),
  significant(one.ours),
  percent(one.error),
  one.use,
];
const head = ['where', 'what', 'paper', 'ours', 'error', 'use'];

/** How many rows are near. */
function tallyTable(): string {
  return table(
    ['rows', 'within 10%', 'within 25%'],
    talliesOf(rows).map((one: Tally) => [one.name, within(0.1)(one), within(0.25)(one)]),
  );
}

/** What is off by more than a quarter, the worst first. */
function farTable(): string {
  const far = counted.filter(({ error }) => Math.abs(error) > 0.25);
  const size = ({ error }: Scored): number => Math.abs(Math.log1p(error));
  return table(
    ['paper', ...head],
    [...far].sort((a, b) => size(b) - size(a)).map((one) => [one.paper, ...cells(one)]),
  );
}

/** A generated part of the page, by its id: `all`, `far`, or a paper. */
export function scorecardPart(id: string): string {
  if (id === 'all') return `${tallyTable()}\n\nMeans of ${seeds} seeds; FlexRL's rows draw nothing.`;
  if (id === 'far') return farTable();
  const some = counted.filter(({ paper }) => paper === id);
  const missing = outside[id as keyof typeof outside];
  if (missing === undefined) throw new Error(`no paper is called ${id}`);
  const list = missing.map(([where, why]) => `- ${where}: ${why}`).join('\n');
  return `${table(head, some.map(cells))}\n\nWhat it prints in numbers and is not simulated:\n\n${list}`;
}
