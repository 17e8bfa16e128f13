/**
 * Shows how often the interval of a gain covers what a long run on other prompts gains, and how wide it is, with and without
 * telling the differences between rounds from those between prompts. `npx tsx bench/simulated/interval-coverage.ts [--trials 12]
 * [--steps 5]`
 */
import { parseArgs } from 'node:util';
import { jobOfOptions } from '../../src/cli/job/job.ts';
import { type SweepProblem, type SweepTask, sweepEvaluator } from '../../src/sim/index.ts';
import { gainInterval, type Measured, type Pair } from '../../src/sim/sweep/book.ts';
import type { SynchronousSettings } from '../../src/sim/sweep/settings/settings.ts';
import { confirmationSpread, independentSteps } from '../../src/sim/sweep/split.ts';
import { generatedWorkload, type Lengths } from './generated.ts';

const { values } = parseArgs({
  options: { trials: { type: 'string', default: '12' }, steps: { type: 'string', default: '5' } },
});
const [trials, steps] = [Number(values.trials), Number(values.steps)];
const seeds = Array.from({ length: 8 }, (_, index) => 10 + index);
const shape = { promptsPerRound: 32, responsesPerPrompt: 4 };
const { job, capTokens } = jobOfOptions({ preset: 'qwen2.5-7b-8k', ...shape, engines: 4 });

const workloads: readonly Lengths[] = [
  { spread: 0.5, correlation: 0.2, median: 1500 },
  { spread: 0.9, correlation: 0.5, median: 1500 },
  { spread: 1.2, correlation: 0.8, median: 900 },
  { spread: 0.7, correlation: 0.8, median: 2200 },
];
const settings: readonly SynchronousSettings[] = [
  { promptSpeculation: 1.25, responseSpeculation: 1, threshold: 'off', tp: 1, rewards: 'after' },
  { promptSpeculation: 1.25, responseSpeculation: 1.25, threshold: 'adaptive', tp: 'adaptive' },
];

const problemOf = (lengths: Lengths, seed: number): SweepProblem => ({
  kind: 'synchronous',
  job,
  workload: generatedWorkload(lengths, { capTokens, seed }),
  steps: independentSteps,
});

const counts = { told: { covered: 0, width: 0 }, untold: { covered: 0, width: 0 } };
let all = 0;
for (const workload of workloads) {
  for (let trial = 0; trial < trials; trial += 1) {
    const short = problemOf(workload, 1000 + 2 * trial);
    const [evaluate, evaluateLong] = [short, problemOf(workload, 1001 + 2 * trial)].map(sweepEvaluator);
    const run = (of: SweepTask['settings'], seed: number) =>
      evaluate!({ settings: of, seed, part: 'confirmation', steps }) as Measured;
    const long = (of: SweepTask['settings']) => (evaluateLong!({ settings: of, seed: 7 }) as Measured).secondsPerPrompt;
    const spread = confirmationSpread(short.workload(1), shape.promptsPerRound, steps);
    for (const one of settings) {
      const pairs = seeds.map((seed): Pair => ({ one: run(one, seed), other: run('baseline', seed) }));
      const gained = 1 - long(one) / long('baseline');
      const unknown = (of: Measured): Measured => ({ ...of, roundVariance: 0 });
      const intervals = {
        told: gainInterval(pairs, spread),
        untold: gainInterval(
          pairs.map((pair) => ({ one: unknown(pair.one), other: unknown(pair.other) })),
          spread,
        ),
      };
      all += 1;
      for (const kind of ['told', 'untold'] as const) {
        const { low, high } = intervals[kind];
        if (low <= gained && gained <= high) counts[kind].covered += 1;
        counts[kind].width += high - low;
      }
    }
  }
}
console.log(`${all} intervals of ${seeds.length} runs of ${steps} steps`);
for (const [kind, { covered, width }] of Object.entries(counts)) {
  const label = kind === 'told' ? 'rounds told from prompts' : 'all taken for prompts';
  console.log(
    `${label}: ${((100 * covered) / all).toFixed(0)} % cover, ${((100 * width) / all).toFixed(1)} points wide`,
  );
}
if (counts.told.covered / all < 0.9) process.exitCode = 1;
