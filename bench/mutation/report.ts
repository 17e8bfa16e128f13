/** The table of mutation scores. */
import { type Column, fixed, plainTable } from '../../src/cli/terminal/plain-table.ts';
import type { Outcome } from './outcomes.ts';

/** A share of mutants that were killed, with half of its 95 % interval. */
export interface Score {
  readonly share: number;
  readonly within: number;
}

/**
 * The score of all mutants of some definitions, from those that were drawn of each: each counts for as many as it has, and
 * where all were drawn there is no error.
 */
export function scoreOf(outcomes: readonly Outcome[]): Score {
  const all = outcomes.reduce((sum, one) => sum + one.all, 0);
  let share = 0;
  let variance = 0;
  for (const one of outcomes) {
    const [weight, p] = [one.all / all, one.killed / one.drawn];
    share += weight * p;
    if (one.drawn === one.all) continue;
    // Two more of each (Agresti and Coull): where all of a sample were killed, all need not be.
    const n = one.drawn + 4;
    const q = (one.killed + 2) / n;
    variance += (weight ** 2 * q * (1 - q) * (1 - one.drawn / one.all)) / n;
  }
  return { share, within: 1.96 * Math.sqrt(variance) };
}

const percent = (value: number): string => fixed(value * 100, 1);

interface Row {
  readonly name: string;
  readonly of: readonly Outcome[];
}

const total =
  (key: 'all' | 'drawn' | 'killed' | 'byTraceAlone') =>
  ({ of }: Row): string =>
    of.reduce((sum, one) => sum + one[key], 0).toLocaleString('en');
const survivors = ({ of }: Row) => of.flatMap((one) => one.survivors);

const columns: readonly Column<Row>[] = [
  ['definition', ({ name }) => name],
  ['mutants', total('all')],
  ['drawn', total('drawn')],
  ['killed', total('killed')],
  ['by trace\nalone', total('byTraceAlone')],
  ['survived', (row) => String(survivors(row).length)],
  ['not run', (row) => String(survivors(row).filter(({ isCovered }) => !isCovered).length)],
  ['score, %', ({ of }) => percent(scoreOf(of).share)],
  ['95 %', ({ of }) => `± ${percent(scoreOf(of).within)}`],
];

/** One row a definition, then all policies, all planners, all recipes. */
export function mutationTable(outcomes: readonly Outcome[]): string {
  const sums: readonly Row[] = [
    ...(['policies', 'planners', 'recipes'] as const).map((name) => ({
      name,
      of: outcomes.filter(({ kind }) => kind === name),
    })),
    { name: 'policies and planners', of: outcomes.filter(({ kind }) => kind !== 'recipes') },
  ];
  const rows = [...outcomes.map((one) => ({ name: one.id, of: [one] })), ...sums.filter(({ of }) => of.length > 0)];
  return plainTable(columns, rows);
}
