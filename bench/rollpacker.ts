/**
 * The figures of bench/rollpacker-figures.ts over several seeds: mean and range beside the paper's. Run:
 * `npx tsx bench/rollpacker.ts [seeds]`. docs/calibration.md says what was fitted, and what does not fit.
 */
import Table from 'cli-table3';
import { figures, scaled } from './rollpacker-figures.ts';

const seeds = Array.from({ length: Number(process.argv[2] ?? 5) }, (_, index) => index + 1);
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
const range = (values: readonly number[], digits: number): string =>
  `${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)}`;

const table = new Table({ head: ['', 'figure', 'paper', 'mean', 'range', 'error', 'limit'] });
const runs = seeds.map((seed) => figures(seed));
runs[0]!.forEach(({ id, what, paper, tolerance }, index) => {
  const values = runs.map((run) => run[index]!.ours);
  const ours = mean(values);
  const error = (100 * (ours - paper)) / paper;
  table.push([
    id,
    what,
    paper.toFixed(2),
    ours.toFixed(2),
    range(values, 2),
    `${error.toFixed(1)} %`,
    `${Math.abs(error) < 100 * tolerance ? 'within' : 'NOT WITHIN'} ${100 * tolerance} %`,
  ]);
});
console.log(table.toString());

const once = new Table({ head: ['Table 4', 'long step, s', 'range'] });
for (const share of [undefined, 0.2, 0.3, 0.4, 0.5]) {
  const values = seeds.map((seed) => scaled(share === undefined ? {} : { fetch: { once: share } }, seed));
  once.push([share === undefined ? 'stream' : `once, ${share * 100} %`, mean(values).toFixed(1), range(values, 1)]);
}
console.log(once.toString());
