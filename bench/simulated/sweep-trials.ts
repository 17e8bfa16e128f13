/**
 * Shows the interval of a sweep, against what its recommendation then gains. In each trial a sweep gets some prompts,
 * and its recommendation then runs for 60 steps on prompts and seeds that it has not seen, beside the baseline: the
 * interval of the gain should cover what that run gains in 95 of 100 trials. Of a trace, each trial gives the sweep
 * another half of the prompts, and the run the rest; what is generated has other prompts for each seed.
 * `npx tsx bench/simulated/sweep-trials.ts [--trials 8] [--effort fast] [--workload servegen,…]`
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readTraceFile } from '../../src/cli/files/traces.ts';
import { jobOfOptions } from '../../src/cli/job/job.ts';
import { packageRoot } from '../../src/logs/index/package.ts';
import { quantileOf } from '../../src/sim/comparison/metrics.ts';
import {
  rolloutpipeJob,
  rolloutpipeWorkload,
  rollpackerWorkload,
  type SweepEffortId,
  type SweepProblem,
  type SweepTask,
  sweep,
  sweepEvaluator,
  tracedWorkload,
  type Workload,
} from '../../src/sim/index.ts';
import type { Measured } from '../../src/sim/sweep/book.ts';
import { halfOf } from '../../src/sim/sweep/prompt-halves.ts';
import { independentSteps } from '../../src/sim/sweep/split.ts';
import { traceWorkload, usualWorkload } from '../../src/sim/workload/of-trace.ts';

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '8' },
    effort: { type: 'string', default: 'fast' },
    workload: { type: 'string' },
  },
});

/** Prompts of the sweep, and those of the run after it. */
type Side = 'swept' | 'independent';
type Sided = (trial: number, side: Side) => (seed: number) => Workload;

const least = { covered: 36 / 40, width: 0.06 };
const { job, capTokens } = jobOfOptions({
  preset: 'qwen2.5-7b-8k',
  promptsPerRound: 32,
  responsesPerPrompt: 4,
  engines: 4,
});
const fileOf = (name: string): string => join(packageRoot(), 'examples', 'traces', `${name}.jsonl`);

function traced(file: string, cap: number): Sided {
  const { name, trace } = readTraceFile(fileOf(file));
  if (trace.kind !== 'prompts') throw new Error(`${file} has no single responses`);
  return (trial, side) => {
    const half = side === 'swept' ? 0 : 1;
    const prompts = trace.prompts.filter(({ prompt }) => halfOf(`trial ${trial} ${prompt}`) === half);
    return (seed) => tracedWorkload({ name, prompts, resampling: 'copula', capTokens: cap, seed });
  };
}

const generated =
  (workload: (seed: number) => Workload): Sided =>
  () =>
    workload;
const synchronous =
  (sided: Sided) =>
  (trial: number, side: Side): SweepProblem => ({ kind: 'synchronous', job, workload: sided(trial, side), steps: 10 });
const pools =
  (sided: Sided) =>
  (trial: number, side: Side): SweepProblem => ({
    kind: 'pools',
    job: rolloutpipeJob(16),
    workload: sided(trial, side),
    steps: 12,
  });

const castillo = 'castillo-qwen2.5-7b-instruct-1m';
const workloads: Readonly<Record<string, (trial: number, side: Side) => SweepProblem>> = {
  'castillo-7b': synchronous(traced(castillo, capTokens)),
  servegen: synchronous(
    generated(traceWorkload(readTraceFile(fileOf('servegen-deepseek-r1')), { ...usualWorkload, capTokens })),
  ),
  rollpacker: synchronous(generated((seed) => rollpackerWorkload(capTokens, seed))),
  'pools-castillo-7b': pools(traced(castillo, 16_384)),
  'pools-lsat-ar': pools(generated((seed) => rolloutpipeWorkload('lsat-ar', seed))),
};

interface Trial {
  readonly verdict: string;
  readonly predicted: number;
  readonly width: number;
  readonly gained: number;
  readonly isCovered: boolean;
}

function tryOnce(problemOf: (trial: number, side: Side) => SweepProblem, trial: number): Trial {
  const seed = 1 + 10_000 * trial;
  const { verdict, recommended } = sweep(problemOf(trial, 'swept'), { seed, effort: values.effort as SweepEffortId });
  const { value, low, high } = recommended.gain;
  const evaluate = sweepEvaluator({ ...problemOf(trial, 'independent'), steps: independentSteps });
  const secondsOf = (settings: SweepTask['settings']): number =>
    (evaluate({ settings, seed: seed + 5000 }) as Measured).secondsPerPrompt;
  const gained = 1 - secondsOf(recommended.settings) / secondsOf('baseline');
  return { verdict, predicted: value, width: high - low, gained, isCovered: low <= gained && gained <= high };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const median = (list: readonly number[]): number =>
  quantileOf(
    [...list].sort((a, b) => a - b),
    0.5,
  );
const all: Trial[] = [];
console.log('| workload | trials | covered | gain as predicted | as gained | median width |');
console.log('| --- | --- | --- | --- | --- | --- |');
const row = (name: string, trials: readonly Trial[]): void => {
  const covered = trials.filter((one) => one.isCovered).length;
  const cells = [
    name,
    trials.length,
    covered,
    percent(median(trials.map((one) => one.predicted))),
    percent(median(trials.map((one) => one.gained))),
    percent(median(trials.map((one) => one.width))),
  ];
  console.log(`| ${cells.join(' | ')} |`);
};
for (const name of values.workload?.split(',') ?? Object.keys(workloads)) {
  const problemOf = workloads[name];
  if (problemOf === undefined) throw new Error(`no workload ${name}: ${Object.keys(workloads).join(', ')}`);
  const trials = Array.from({ length: Number(values.trials) }, (_, trial) => tryOnce(problemOf, trial));
  all.push(...trials);
  row(name, trials);
  for (const [trial, one] of trials.entries()) {
    if (one.isCovered) continue;
    console.error(
      `${name}, trial ${trial}: ${one.verdict}, ${percent(one.predicted)} ± ${percent(one.width / 2)}, gained ${percent(one.gained)}`,
    );
  }
}
row('all', all);
const covered = all.filter((one) => one.isCovered).length / all.length;
const width = median(all.map((one) => one.width));
const isGood = covered >= least.covered && width <= least.width;
console.log(isGood ? 'covers' : 'DOES NOT COVER, or is too wide');
process.exitCode = isGood ? 0 : 1;
