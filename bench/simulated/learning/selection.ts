/**
 * Shows how many tokens, steps and seconds `prompt-selection` takes to a pass rate, against all prompts in the order of the data, where
 * pass rates grow by a small model of learning. In the last job selection loses: most of what differs there is guessed.
 * `npx tsx bench/simulated/learning/selection.ts [seeds]`, by default 5. Lengths are RollPacker's; prints the table of docs/prompt-selection.md.
 */

import { simulate } from '../../../src/sim/colocated/driver.ts';
import { defineJob } from '../../../src/sim/colocated/job.ts';
import { type Scheduler, tailBatchingScheduler } from '../../../src/sim/colocated/scheduler.ts';
import { meanOf } from '../../../src/sim/comparison/metrics.ts';
import { bootstrap } from '../../../src/sim/comparison/statistics.ts';
import { jobPreset, rollpackerWorkload } from '../../../src/sim/models/presets.ts';
import { inEpochs } from '../../../src/sim/workload/epochs.ts';

const seeds = Array.from({ length: Number(process.argv[2] ?? 5) }, (_, index) => index + 1);
const [steps, data] = [150, 256];
const shape = { promptsPerRound: 32, responsesPerPrompt: 8 };
const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');

/** Jobs by how pass rates are spread at the beginning, and by what is learnt from them. */
const jobs = [
  { name: 'mostly never or always right', correctShare: 0.3, correctCorrelation: 0.9 },
  { name: 'spread evenly', correctShare: 0.5, correctCorrelation: 0.5 },
  { name: 'all alike', correctShare: 0.6, correctCorrelation: 0.1 },
  { name: 'alike, and 60 % guessed', correctShare: 0.8, correctCorrelation: 0.1, learning: { guessedShare: 0.6 } },
];

interface Reached {
  readonly tokens: number;
  readonly steps: number;
  readonly seconds: number;
}

/** Returns what a run takes until half of what is missing at the beginning is learnt; throws if it does not get there. */
function reached(rewards: Omit<(typeof jobs)[number], 'name'>, scheduler: Scheduler, seed: number): Reached {
  const job = defineJob({ ...preset, ...shape, engines: 4, rewards: { ...preset.rewards!, learning: {}, ...rewards } });
  const workload = inEpochs(rollpackerWorkload(capTokens, seed), data, seed);
  const until = steps * shape.promptsPerRound;
  const run = simulate(job, scheduler, workload, { prompts: 8 * until, until, seed, timeline: false });
  const aim = (1 + run.steps[0]!.passRate!) / 2;
  let tokens = 0;
  for (const step of run.steps) {
    tokens += step.generatedTokens;
    if (step.passRate! >= aim) return { tokens, steps: step.step + 1, seconds: step.endSeconds };
  }
  throw new Error(`${scheduler.id}, seed ${seed}: ${run.steps.at(-1)!.passRate} of ${aim}`);
}

const withoutSpeculation = { promptSpeculation: 1, responseSpeculation: 1 };
const all = tailBatchingScheduler(shape, withoutSpeculation, 'all');
const exponents = [0, 0.5, 1].map((lengthExponent) => {
  const settings = { ...withoutSpeculation, promptSelection: { lengthExponent } };
  return { lengthExponent, scheduler: tailBatchingScheduler(shape, settings, `selection-${lengthExponent}`) };
});

console.log(
  '| pass rates | `lengthExponent` | tokens, all ÷ selected | steps | seconds |\n| --- | --- | --- | --- | --- |',
);
for (const { name, ...rewards } of jobs) {
  const base = seeds.map((seed) => reached(rewards, all, seed));
  for (const { lengthExponent, scheduler } of exponents) {
    const found = seeds.map((seed) => reached(rewards, scheduler, seed));
    const gain = (key: keyof Reached): string => {
      const logs = base.map((one, n) => Math.log(one[key] / found[n]![key]));
      const { value, low, high } = bootstrap(logs, meanOf, { seed: 1 });
      return `${Math.exp(value).toFixed(2)} (${Math.exp(low).toFixed(2)} to ${Math.exp(high).toFixed(2)})`;
    };
    console.log(`| ${name} | ${lengthExponent} | ${gain('tokens')} | ${gain('steps')} | ${gain('seconds')} |`);
  }
}
