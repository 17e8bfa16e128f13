/** Advice, with few seeds, holds on the half of the prompts that it has not seen. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTraceFile } from '../../../../src/cli/files/traces.ts';
import { packageRoot } from '../../../../src/logs/index/package.ts';
import {
  jobPreset,
  rolloutpipeJob,
  rolloutpipeWorkload,
  type SweepProblem,
  sweep,
  sweepEvaluator,
  tracedWorkload,
} from '../../../../src/sim/node.ts';
import { gainInterval, keptRatio, type Measured, type Pair } from '../../../../src/sim/sweep/book.ts';
import { ofMean } from '../../../../src/sim/sweep/interval.ts';
import { halfOf, withPrompts } from '../../../../src/sim/sweep/prompt-halves.ts';

const { trace } = readTraceFile(join(packageRoot(), 'examples/traces/castillo-qwen2.5-7b-instruct-1m.jsonl'));
const prompts = trace.kind === 'prompts' ? trace.prompts : [];

const effort = { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 2, confirmationSeeds: 4, fineRounds: 1 };
const { job } = jobPreset('qwen2.5-14b-16k');
const problems: Record<string, (half: 0 | 1) => SweepProblem> = {
  'a synchronous job': (half) => ({
    kind: 'synchronous',
    job: { ...job, promptsPerRound: 8, engines: 4 },
    workload: (seed) =>
      tracedWorkload({
        name: 'castillo',
        prompts: prompts.filter(({ prompt }) => halfOf(prompt) === half),
        resampling: 'copula',
        capTokens: 16_384,
        seed,
      }),
    steps: 5,
  }),
  pools: (half) => ({
    kind: 'pools',
    job: rolloutpipeJob(16),
    workload: (seed) => withPrompts(rolloutpipeWorkload('olyphys', seed), ({ promptId }) => halfOf(promptId) === half),
    steps: 4,
  }),
};

test.each(Object.keys(problems))('%s: no worse than the papers’ settings by more than 1 %', (name) => {
  const problemOf = problems[name]!;
  const advice = sweep(problemOf(0), { effort });
  const evaluate = sweepEvaluator(problemOf(1));
  const runs = (settings: typeof advice.recommended.settings): Measured[] =>
    Array.from({ length: 8 }, (_, index) => evaluate({ settings, seed: 900 + index }) as Measured);
  const theirs = runs(advice.published.settings);
  const pairs = runs(advice.recommended.settings).map((one, index): Pair => ({ one, other: theirs[index]! }));
  expect(gainInterval(pairs, ofMean).low).toBeGreaterThanOrEqual(-0.01);
  expect(keptRatio(pairs)).toBeGreaterThan(0.97);
});
