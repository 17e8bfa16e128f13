/** Rewards and training after the rollout of a policy that leaves both to its host: those of the baseline. */
import { describe, expect, test } from 'vitest';
import { usualSchedulers } from '../../../../src/sim/colocated/ablation.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { type Scheduler, synchronousBaseline, tailBatchingScheduler } from '../../../../src/sim/colocated/scheduler.ts';
import type { RunResult } from '../../../../src/sim/comparison/result.ts';
import { withJudge } from '../../../../src/sim/models/judge-preset.ts';
import { jobPreset, rollpackerWorkload } from '../../../../src/sim/models/presets.ts';

const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
const small = { ...preset, promptsPerRound: 16 };

/** All but names: the recipe sets the parallelism, and its rounds without a queue are short. */
const figures = ({ scheduler: _, engines: _engines, unmet: _unmet, steps, ...run }: RunResult) => ({
  ...run,
  steps: steps.map(({ kind: _kind, tp: _tp, ...step }) => step),
});

describe('a policy of admissions, staged', () => {
  test.each([
    ['sandboxes, rules and workers that judge', small],
    ['a judge on its own GPUs', withJudge(small, 'dedicated', capTokens)],
    ['a judge beside the actor', withJudge(small, 'colocated', capTokens)],
  ])('takes the steps of the same policy inside of rollpacker: %s', (_, job) => {
    const alone: Scheduler[] = [synchronousBaseline(job), tailBatchingScheduler(job)];
    for (const [index, inside] of usualSchedulers(job).entries()) {
      const run = (scheduler: Scheduler) =>
        simulate(job, scheduler, rollpackerWorkload(capTokens, 5), { prompts: 88, seed: 5, timeline: false });
      expect(figures(run({ ...alone[index]!, staged: true }))).toEqual(figures(run(inside)));
    }
  });
});
