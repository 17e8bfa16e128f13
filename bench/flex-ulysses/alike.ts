/**
 * Shows plans of flex-ulysses for nearly equal lengths, against the best known (alike-best.jsonl, by alike-best.ts) and
 * what the search found before it went through counts: two grids of alike-batches.ts, by tolerance.
 * `npx tsx bench/flex-ulysses/alike.ts`; with `--thorough` at that effort. With `--seed 31`, other batches of the same grids,
 * one in four, on which nothing was chosen: against the better of the default and `thorough`.
 */
import { parseArgs } from 'node:util';
import { machine, mean } from '../support.ts';
import { type AlikeCell, alikeGrids, alikeInput, alikeKey, alikeSeeds, isProven } from './alike-batches.ts';
import { readBest } from './alike-records.ts';
import { quantile, searched } from './study.ts';

const { thorough, seed } = parseArgs({
  options: { thorough: { type: 'boolean' }, seed: { type: 'string' } },
}).values;
const known = readBest();
const effort = thorough === true ? 'thorough' : 'default';

/** Communication relative to the best known; where that is 0, anything else counts as infinite. */
const ratio = (one: number, best: number): number => (one <= best * (1 + 1e-9) ? 1 : one / best);
const within = (ratios: readonly number[], most: number): string =>
  `${((100 * ratios.filter((one) => one <= most).length) / ratios.length).toFixed(1)} %`;
const line = (...cells: readonly string[]): void => {
  console.log(cells.map((cell, at) => (at === 0 ? cell.padEnd(26) : cell.padStart(13))).join(''));
};
const millions = (steps: readonly number[]): string =>
  `${(mean(steps) / 1e6).toFixed(2)}, ${(Math.max(...steps) / 1e6).toFixed(1)}`;

console.log(machine().replace(/;.*/, '; processor time'));
searched(alikeInput(alikeGrids.close[0]!, 1));
if (seed !== undefined) {
  others(Number(seed));
  process.exit();
}
line(`${effort}; grid, tolerance`, 'batches', '<= 1.01', '<= 1.05', '<= 1.20', 'most', 'steps, M', 'ms, 95 %');
for (const grid of ['close', 'wide'] as const) {
  const cells: readonly AlikeCell[] = alikeGrids[grid];
  for (const tolerance of new Set(cells.map((cell) => cell.tolerance ?? 0.01))) {
    const runs = cells
      .filter((cell) => (cell.tolerance ?? 0.01) === tolerance)
      .map((cell) => {
        const key = alikeKey(cell, alikeSeeds[grid]);
        const best = known.get(key)!;
        const { plan, limit, steps, milliseconds } = searched({ ...alikeInput(cell, alikeSeeds[grid]), effort });
        if (Math.abs(limit / best.limit - 1) > 1e-12) console.log(`${key}: another limit than when it was recorded`);
        const reached = ratio(plan.metrics.communication, best.best);
        if (reached > 1.05) console.log(`  ${key}: ${reached.toFixed(3)} × the best known`);
        return { old: ratio(best.old, best.best), oldSteps: best.oldSteps, reached, steps, milliseconds };
      });
    for (const [name, ratios, steps, time] of [
      ['old', runs.map((run) => run.old), runs.map((run) => run.oldSteps), ''],
      [
        'new',
        runs.map((run) => run.reached),
        runs.map((run) => run.steps),
        quantile(
          runs.map((run) => run.milliseconds),
          0.95,
        ).toFixed(0),
      ],
    ] as const)
      line(
        `${grid}, ${tolerance}, ${name}`,
        String(runs.length),
        ...[1.01, 1.05, 1.2].map((most) => within(ratios, most)),
        Math.max(...ratios).toFixed(2),
        millions(steps),
        time,
      );
  }
}

/** Shows the default on batches of another seed, against the better of it and `thorough`. */
function others(from: number): void {
  line('grid', 'batches', '<= 1.01', '<= 1.05', '<= 1.20', 'most', 'steps, M', 'proven');
  for (const grid of ['close', 'wide'] as const) {
    const runs = (alikeGrids[grid] as readonly AlikeCell[])
      .filter((_, at) => at % 4 === from % 4)
      .map((cell) => {
        const input = alikeInput(cell, from);
        const one = searched(input);
        const proven = isProven(one.plan);
        const best = proven ? one : searched({ ...input, effort: 'thorough' });
        const reached = ratio(one.plan.metrics.communication, best.plan.metrics.communication);
        if (reached > 1.05) console.log(`  ${alikeKey(cell, from)}: ${reached.toFixed(3)} × thorough`);
        return { reached, steps: one.steps, proven };
      });
    const ratios = runs.map(({ reached }) => reached);
    line(
      grid,
      String(runs.length),
      ...[1.01, 1.05, 1.2].map((most) => within(ratios, most)),
      Math.max(...ratios).toFixed(2),
      millions(runs.map(({ steps }) => steps)),
      String(runs.filter(({ proven }) => proven).length),
    );
  }
}
