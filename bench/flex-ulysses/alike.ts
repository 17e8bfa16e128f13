/**
 * Shows plans of flex-ulysses for nearly equal lengths, against what counting allows and what a long search found
 * (alike-best.jsonl, by alike-best.ts): batches of the grid of alike-batches.ts, those that the search was made with
 * (seed 1) and others. `npx tsx bench/flex-ulysses/alike.ts`; with `--all` the whole grid.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { machine, mean, median } from '../support.ts';
import { alikeCells, alikeInput, alikeKey, isProven, sampledCells } from './alike-batches.ts';
import { quantile, timed } from './study.ts';

const known = new Map(
  readFileSync(fileURLToPath(new URL('alike-best.jsonl', import.meta.url)), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [string, number]),
);
const cells = process.argv.includes('--all') ? alikeCells : sampledCells;

console.log(machine().replace(/;.*/, '; processor time'));
timed(alikeInput(cells[0]!, 1));
for (const seed of [1, 2]) {
  const ratios: number[] = [];
  const times: number[] = [];
  let proven = 0;
  let unknown = 0;
  for (const cell of cells) {
    const { plan, milliseconds } = timed(alikeInput(cell, seed));
    const { communication } = plan.metrics;
    times.push(milliseconds);
    const best = isProven(plan) ? plan.bounds.communication : known.get(alikeKey(cell, seed));
    if (best === undefined) {
      unknown += 1;
      continue;
    }
    if (isProven(plan)) proven += 1;
    ratios.push(best === 0 && communication === 0 ? 1 : communication / best);
    if (ratios.at(-1)! > 1.1) console.log(`  ${alikeKey(cell, seed)}: ${ratios.at(-1)!.toFixed(3)} × the best known`);
  }
  const within = ratios.filter((one) => one <= 1.1).length;
  console.log(
    `seed ${seed}: ${cells.length} batches, ${proven} proven within 2 % of the best, ${unknown} not searched; ` +
      `within 1.10 × of the best known ${((100 * within) / ratios.length).toFixed(1)} %, 95th percentile ${quantile(ratios, 0.95).toFixed(3)}, mean ${mean(ratios).toFixed(3)}; ` +
      `time ${median(times).toFixed(0)} ms, 95th percentile ${quantile(times, 0.95).toFixed(0)} ms, most ${quantile(times, 1).toFixed(0)} ms`,
  );
}
