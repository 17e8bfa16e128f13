/** The tables of docs/tested.md: what `npm run test:real` has written into `bench/real-runs.json`. */
import { readFileSync } from 'node:fs';
import { table } from './schema-table.ts';

/** What the fixture `ran` of `python/tests/real` writes. */
interface RealRun {
  readonly version: string;
  readonly date: string;
  readonly real: string;
  readonly stands_in: string;
  readonly steps: number;
  readonly prompts: number;
  readonly accounted: number;
  readonly seconds: number | null;
  readonly own_seconds: number | null;
  readonly note: string;
}

const runs: Readonly<Record<string, RealRun>> = JSON.parse(
  readFileSync(new URL('../../bench/real-runs.json', import.meta.url), 'utf8'),
);

const secondsOf = (value: number | null): string => (value === null ? '' : value.toFixed(1));

/** Figures of every framework, and then what stands behind them. */
export function realRunsTables(): string {
  const rows = Object.entries(runs);
  const figures = table(
    ['Framework', 'Version', 'Date', 'Steps', 'Prompts accounted for', 'Seconds', "Framework's own"],
    rows.map(([framework, one]) => [
      framework,
      one.version,
      one.date,
      String(one.steps),
      `${one.accounted} of ${one.prompts}`,
      secondsOf(one.seconds),
      secondsOf(one.own_seconds),
    ]),
  );
  const behind = table(
    ['Framework', 'Real', 'Stood in for', 'Note'],
    rows.map(([framework, one]) => [framework, one.real, one.stands_in, one.note]),
  );
  return `${figures}\n\n${behind}`;
}
