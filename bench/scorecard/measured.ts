/** The values of the last whole run: the documentation is made from them, without running it again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type Scored, scored } from './report.ts';
import { rows } from './rows.ts';

const file = new URL('./measured.json', import.meta.url);

interface Measured {
  /** Of each row of RollPacker and RolloutPipe. */
  readonly seeds: number;
  /** By paper and id, four digits that count. */
  readonly ours: Readonly<Record<string, number>>;
}

const keyOf = ({ paper, id }: Pick<Scored, 'paper' | 'id'>): string => `${paper} ${id}`;

/** Keeps the values of all rows. */
export function writeMeasured(seeds: number, some: readonly Scored[]): void {
  const ours = Object.fromEntries(some.map((one) => [keyOf(one), Number(one.ours.toPrecision(4))]));
  writeFileSync(file, `${JSON.stringify({ seeds, ours } satisfies Measured, null, 2)}\n`);
}

/** All rows with the kept values. Throws for a row that was never measured. */
export function measured(): { readonly seeds: number; readonly rows: readonly Scored[] } {
  if (!existsSync(file)) throw new Error('run npm run scorecard -- --write first');
  const { seeds, ours } = JSON.parse(readFileSync(file, 'utf8')) as Measured;
  return {
    seeds,
    rows: rows.map((row) => {
      const value = ours[keyOf(row)];
      if (value === undefined) throw new Error(`${keyOf(row)} is not measured: npm run scorecard -- --write`);
      return scored(row, value);
    }),
  };
}
