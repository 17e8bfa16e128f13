/** What stands around the numbers of a comparison. */
import { describe, expect, it } from 'vitest';
import { describeWorkload, meanTotalSeconds, notesOn, settingsOf } from '../../../src/sim/compare-notes.ts';
import type { RunResult, SchedulerResult } from '../../../src/sim/result.ts';
import { comparison } from '../../support/comparison-fixture.ts';
import { plainJob, plainWorkload } from '../../support/sim-host.ts';

const job = plainJob({ engines: 3, promptsPerRound: 4, responsesPerPrompt: 2 }, { gpus: 2, rewardTailSeconds: 7 });
const options = { job, workload: () => plainWorkload(() => 5), steps: 2, seeds: [1, 2] };
const [baseline, tail] = comparison.schedulers as [SchedulerResult, SchedulerResult];

describe('describeWorkload', () => {
  it('sorts lengths as numbers and gives their quantiles as whole tokens', () => {
    const described = describeWorkload(
      plainWorkload(() => 5),
      8,
      [100, 9, 30, 1000, 21],
    );
    expect(described).toEqual({
      name: 'plain',
      source: 'test',
      prompts: 8,
      resampling: 'none',
      correlation: 0,
      capTokens: 1000,
      meanTokens: 232,
      quantiles: { p50: 30, p75: 100, p90: 640, p99: 964, max: 1000 },
    });
  });

  it('counts a prompt that is used twice once, and is 0 for nothing', () => {
    const workload = { ...plainWorkload(() => 5), distinctPrompts: 6 };
    expect(describeWorkload(workload, 8, []).prompts).toBe(6);
    expect(describeWorkload(workload, 8, [])).toMatchObject({ meanTokens: 0, quantiles: { p50: 0, max: 0 } });
  });
});

describe('settingsOf', () => {
  it('counts GPUs and prompts over all engines and steps', () => {
    expect(settingsOf(options)).toMatchObject({
      engines: 3,
      gpus: 6,
      trainedPrompts: 8,
      seeds: 2,
      rewardTailSeconds: 7,
    });
  });
});

describe('meanTotalSeconds', () => {
  it('is over runs, 0 for none', () => {
    const run = (totalSeconds: number) => ({ totalSeconds }) as RunResult;
    expect([meanTotalSeconds([run(3), run(5)]), meanTotalSeconds([])]).toEqual([4, 0]);
  });
});

describe('notesOn', () => {
  const notes = (one: Partial<SchedulerResult>, bound = 0) => notesOn(options, [baseline, { ...tail, ...one }], bound);

  it('says always what was compared, and nothing else where there is nothing to know', () => {
    expect(notes({ keptTokenRatio: 1 })).toEqual([
      'Every scheduler trains the same 8 prompts once; queues are flushed at the end.',
    ]);
  });

  it('says what is shorter, never that something is 0 % or longer', () => {
    expect(notes({ keptTokenRatio: 0.75 })[1]).toContain('is 25 % shorter');
    expect(notes({ keptTokenRatio: 0.997 })).toHaveLength(1);
    expect(notes({ keptTokenRatio: 1.2 })).toHaveLength(1);
  });

  it('explains a scheduler below the bound, a small last step, and repeated prompts', () => {
    expect(notes({ keptTokenRatio: 1 }, 1000)[1]).toContain('faster than the lower bound');
    const [run] = tail.runs as [RunResult];
    const small = { ...run, steps: run.steps.map((one, index) => ({ ...one, prompts: index === 0 ? 4 : 1 })) };
    expect(notes({ keptTokenRatio: 1, runs: [run, small] })[1]).toContain('fewer than 4 prompts');
    const again = { ...options, workload: () => ({ ...plainWorkload(() => 5), distinctPrompts: 7 }) };
    expect(notesOn(again, [baseline], 0)[1]).toContain('The workload has 7 prompts');
    expect(notesOn({ ...options, seeds: [1] }, [baseline], 0)[1]).toContain('One seed only');
  });
});
