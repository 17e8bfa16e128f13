/** The tables of docs/reproduction.md: the declared rows of the papers beside the values of the last whole run. */
import { keptCauses } from '../../bench/scorecard/causes/cause.ts';
import { farthest, keptRaises, printedRaises, type Raises } from '../../bench/scorecard/causes/raises-kept.ts';
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

const never = 14;
const stepCell = (step: number): string => (step >= never ? 'never' : String(step));
const gainCell = (gain: number): string => gain.toFixed(2);

/** Raises of the TP with one term changed, and with the nearest two and three. */
function raisesTable(): string {
  const { pairs, threes, rows: kept } = keptRaises();
  const cellsOf = ({ terms, first, second, gain }: Raises): string[] => [
    terms.length === 0 ? 'nothing' : terms.join(', '),
    stepCell(first),
    stepCell(second),
    gainCell(gain),
    percent(farthest({ terms, first, second, gain })),
  ];
  const { first, second, gain } = printedRaises;
  const paper = ['RollPacker', String(first), String(second), gainCell(gain), ''];
  const lines = [paper, ...kept.map(cellsOf)];
  const shown = table(['changed', 'first raise', 'second raise', 'gain', 'the worst of the three is off by'], lines);
  return `${shown}\n\nOf ${pairs} pairs and ${threes} threes, those that come nearest.`;
}

/** What was changed to find out why rows are off, and what they became. */
function causesTable(): string {
  const named = new Map(rows.map((one) => [one.id, one]));
  const of = (id: string): Scored => {
    const found = named.get(id);
    if (found === undefined) throw new Error(`no row is called ${id}`);
    return found;
  };
  return table(
    ['rows', 'cause', 'changed', 'became'],
    keptCauses().map(({ rows: ids, cause, changed, became }) => [
      ids.map((id) => `${of(id).where}, ${of(id).what}`).join('; '),
      cause,
      changed,
      became,
    ]),
  );
}

/** A generated part of the page, by its id: `all`, `far`, `raises`, `causes`, or a paper. */
export function scorecardPart(id: string): string {
  if (id === 'all') return `${tallyTable()}\n\nMeans of ${seeds} seeds; FlexRL's rows draw nothing.`;
  if (id === 'far') return farTable();
  if (id === 'raises') return raisesTable();
  if (id === 'causes') return causesTable();
  const some = counted.filter(({ paper }) => paper === id);
  const missing = outside[id as keyof typeof outside];
  if (missing === undefined) throw new Error(`no paper is called ${id}`);
  const list = missing.map(([where, why]) => `- ${where}: ${why}`).join('\n');
  return `${table(head, some.map(cells))}\n\nWhat it prints in numbers and is not simulated:\n\n${list}`;
}
