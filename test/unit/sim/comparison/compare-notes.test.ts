/** What stands around the numbers of a comparison. */
import { describe, expect, it } from 'vitest';
import { describeWorkload, notesOn, settingsOf } from '../../../../src/sim/comparison/compare-notes.ts';
import type { RunResult, SchedulerResult } from '../../../../src/sim/comparison/result.ts';
import { comparison } from '../../../support/simulator/comparison.ts';
import { plainJob, plainWorkload } from '../../../support/simulator/host.ts';

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

describe('notesOn', () => {
  const kept = { keptTokenRatio: 1, redrawnShare: 0, redrawnLoss: 0 };
  const notes = (one: Partial<SchedulerResult>) => notesOn(options, [baseline, { ...tail, ...kept, ...one }]);
  const always = [
    'Every scheduler trains the same 8 prompts once; queues are flushed at the end.',
    'The oracle knows all lengths, groups prompts within 8 rounds by their longest response, and keeps every response.',
    'Even groups: nobody has recorded which responses are correct, so that is drawn by prompt, whatever their length.',
  ];

  it('says always what was compared, and nothing else where there is nothing to know', () => {
    expect(notes({})).toEqual(always);
    expect(notesOn({ ...options, oracle: false }, [baseline])).toEqual([always[0], always[2]]);
  });

  it('says what is shorter, never that something is 0 % or longer', () => {
    expect(notes({ keptTokenRatio: 0.75 })[1]).toContain('is 25 % shorter');
    expect(notes({ keptTokenRatio: 0.997 })).toHaveLength(3);
    expect(notes({ keptTokenRatio: 1.2 })).toHaveLength(3);
  });

  it('names the second bias where prompts are drawn again, once for all that come to the same', () => {
    const said = notes({ redrawnShare: 0.2, redrawnLoss: 0.084 })[1];
    expect(said).toContain('tail-batching: deferred prompts are drawn again, so that bad luck is thrown away');
    expect(said).toContain("20 % of the responses, and 8 % fewer tokens than the baseline's by this alone");
    expect(notes({ redrawnShare: 0.2, redrawnLoss: -0.03 })[1]).toContain('3 % more tokens');
    expect(notes({ redrawnShare: 0.2, redrawnLoss: 0.001 })[1]).toContain("about as many tokens as the baseline's");
    const two = [
      { ...tail, ...kept, redrawnShare: 0.2 },
      { ...tail, ...kept, label: 'other', redrawnShare: 0.2 },
    ];
    expect(notesOn(options, [baseline, ...two])[1]).toMatch(/^tail-batching, other: deferred prompts/);
  });

  it('says how old weights are, the baseline or not, and who is beyond the oracle', () => {
    expect(notes({ maxLag: 1 })[1]).toBe('tail-batching: tokens come from weights up to 1 version old.');
    expect(notesOn(options, [{ ...baseline, maxLag: 2 }])[1]).toBe(
      'The baseline: tokens come from weights up to 2 versions old.',
    );
    expect(notes({ ofOracle: 1.01 })[2]).toContain('tail-batching: faster than the oracle at equal tokens');
  });

  it('explains a small last step, one seed, recorded correctness, and repeated prompts', () => {
    const [run] = tail.runs as [RunResult];
    const small = { ...run, steps: run.steps.map((one, index) => ({ ...one, prompts: index === 0 ? 4 : 1 })) };
    expect(notes({ runs: [run, small] })[1]).toContain('fewer than 4 prompts');
    const again = { ...options, workload: () => ({ ...plainWorkload(() => 5), distinctPrompts: 7 }) };
    expect(notesOn(again, [baseline]).at(-1)).toContain('The workload has 7 prompts');
    expect(notesOn({ ...options, seeds: [1] }, [baseline])[2]).toContain('One seed only');
    const plain = plainWorkload(() => 5);
    const prompt = (index: number) => ({
      ...plain.prompt(index),
      sample: (k: number) => ({ ...plain.prompt(index).sample(k), correct: true }),
    });
    expect(notesOn({ ...options, workload: () => ({ ...plain, prompt }) }, [baseline])).toEqual(always.slice(0, 2));
  });
});
