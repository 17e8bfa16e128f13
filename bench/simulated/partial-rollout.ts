/**
 * Shows what partial rollout is worth, by the bound on the lag of tokens, against the synchronous baseline and tail batching (both
 * factors 1.25): traces whose prompts come back, each recorded response once; then ServeGen, over assumed correlations, 60 rounds.
 * Rounds are composed by predicted length in windows of 10 rounds, and have 1.25 or 1.5 times their prompts. Seconds for a prompt are
 * those of whole runs, the first epoch included. Prints the tables of docs/simulator.md.
 * `npx tsx bench/simulated/partial-rollout.ts [seeds] [part] [trace...]`, by default 5, every part, and the traces that are shipped.
 */
import type { Job } from '../../src/sim/colocated/job.ts';
import {
  losslessTailScheduler,
  type Scheduler,
  synchronousBaseline,
  tailBatchingScheduler,
} from '../../src/sim/colocated/scheduler.ts';
import { compare } from '../../src/sim/comparison/compare.ts';
import type { SchedulerResult } from '../../src/sim/comparison/result.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import { heldOut, secondsPerPrompt, serveGenOf, tracesOf } from './returning-prompts.ts';

const windowRounds = 10;
/** Bounds on the lag; the last is none: no token of these runs is so old. */
const bounds = [1, 2, 4, 1000];
const factors = [1.25, 1.5];
const [seedCount = '5', chosen = 'all', ...given] = process.argv.slice(2);
const seeds = Array.from({ length: Number(seedCount) }, (_, index) => index + 1);

const partial = (job: Job, promptSpeculation: number, maxStaleness: number): Scheduler =>
  losslessTailScheduler(job, { windowRounds, promptSpeculation, maxStaleness }, `${promptSpeculation} ${maxStaleness}`);

/** Changes of time against tail batching, by scheduler: the mean over the traces is of these. */
const changes = new Map<string, number[]>();
const percent = (share: number): string => `${share > 0 ? '+' : '−'} ${Math.abs(100 * share).toFixed(1)} %`;

function row(name: string, job: Job, steps: number, workload: (seed: number) => Workload): void {
  const schedulers = [
    tailBatchingScheduler(job),
    losslessTailScheduler(job, { windowRounds }),
    ...factors.flatMap((factor) => bounds.map((bound) => partial(job, factor, bound))),
  ];
  const options = { job, workload, steps, seeds, baseline: synchronousBaseline(job), schedulers };
  const { schedulers: results } = compare({ ...options, timeline: false, oracle: false });
  const [synchronous, tail, lossless, ...partials] = results as [SchedulerResult, SchedulerResult, SchedulerResult];
  const over = (one: SchedulerResult): number => secondsPerPrompt(one, 0) / secondsPerPrompt(tail, 0) - 1;
  const cell = (one: SchedulerResult): string => {
    // Nothing is thrown away, and nothing is older than the bound.
    const { keptTokenRatio, staleShare, meanLag, maxLag, scheduler, runs } = one;
    const isWhole = runs.every(({ generatedTokens, keptTokens }) => generatedTokens === keptTokens);
    if (Math.abs(keptTokenRatio - 1) > 1e-12 || !isWhole)
      throw new Error(`${name} ${scheduler}: kept ${keptTokenRatio}`);
    const change = over(one);
    changes.set(scheduler, [...(changes.get(scheduler) ?? []), change]);
    return `${percent(change)}; ${(100 * staleShare).toFixed(0)} %, ${meanLag.toFixed(2)}, ${maxLag}`;
  };
  const seconds = [synchronous, tail].map((one) => secondsPerPrompt(one, 0).toFixed(3));
  factors.forEach((factor, at) => {
    const cells = [
      ...[name, `${factor}`, ...seconds, tail.keptTokenRatio.toFixed(2), percent(over(lossless))],
      ...partials.slice(at * bounds.length, (at + 1) * bounds.length).map(cell),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  });
}

const head = [
  ...['lengths', 'factor', 'synchronous', 'tail batching', 'its kept tokens', 'on policy'],
  ...['1 version', '2 versions', '4 versions', 'no bound'],
];

function table(title: string, rows: () => void): void {
  console.log(`\n${title}\n`);
  for (const cells of [head, head.map(() => '---')]) console.log(`| ${cells.join(' | ')} |`);
  changes.clear();
  rows();
  for (const factor of factors) {
    const means = bounds.map((bound) => {
      const all = changes.get(`${factor} ${bound}`)!;
      return percent(all.reduce((sum, one) => sum + one, 0) / all.length);
    });
    console.log(`| mean | ${[factor, '', '', '', '', ...means].join(' | ')} |`);
  }
}

const parts: Readonly<Record<string, () => void>> = {
  once: () =>
    table(`each recorded response once, ${seeds.length} seeds`, () => {
      for (const trace of tracesOf(given)) {
        const held = heldOut(trace);
        if (held !== undefined) row(trace.name, held.job, held.steps, held.workload);
      }
    }),
  servegen: () =>
    table(`ServeGen DeepSeek-R1, assumed correlations, ${seeds.length} seeds`, () => {
      const { job, workload } = serveGenOf();
      for (const correlation of [0, 0.3, 0.7]) {
        row(`ServeGen R1, ρ ${correlation}`, job, 60, (seed) => workload(correlation, seed));
      }
    }),
};
if (chosen !== 'all' && !(chosen in parts))
  throw new Error(`expected all, ${Object.keys(parts).join(', ')}: ${chosen}`);
for (const [name, run] of Object.entries(parts)) if (chosen === 'all' || chosen === name) run();
