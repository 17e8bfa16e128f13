/** The ablation with a judge as a model on GPUs: of its own, or beside the actor. */
import { describe, expect, test } from 'vitest';
import { type RollpackerSwitches, rollpackerScheduler, variants } from '../../../src/sim/colocated/ablation.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import type { Job } from '../../../src/sim/colocated/job.ts';
import type { RunResult } from '../../../src/sim/comparison/result.ts';
import { withJudge } from '../../../src/sim/models/judge-preset.ts';
import { jobPreset, rollpackerWorkload } from '../../../src/sim/models/presets.ts';

const preset = jobPreset('qwen2.5-7b-8k');
const job = { ...preset.job, promptsPerRound: 16 };
const off = variants[0].switches;
const workload = rollpackerWorkload(preset.capTokens, 3);
const sum = (result: RunResult, part: (step: RunResult['steps'][number]) => number): number =>
  result.steps.reduce((total, step) => total + part(step), 0);

describe('the ablation with a judge', () => {
  const only = { ...job, rewards: { ...job.rewards!, shares: { rule: 0, sandbox: 0, judge: 1 } } };
  const all = variants.find((one) => one.id === 'stream-training')!.switches;
  const at = (other: Job, switches: RollpackerSwitches): RunResult => {
    const scheduler = rollpackerScheduler(other, 'x', switches);
    const result = simulate(other, scheduler, workload, { prompts: 160, seed: 3, validate: true });
    expect(result.trainedResponses).toBe(160 * job.responsesPerPrompt);
    return result;
  };
  const beside = withJudge(only, 'colocated', preset.capTokens);

  test('beside the actor it slows the rollout, and hides there; loaded after the rollout it does neither', () => {
    const plain = at({ ...only, rewards: { ...only.rewards, judgeBaseSeconds: 0 } }, { ...off, asyncReward: true });
    const laidOut = at(beside, { ...off, asyncReward: true });
    const after = at(beside, { ...off, asyncReward: true, judgeOffload: false });
    expect(after.rolloutSeconds).toBeCloseTo(plain.rolloutSeconds, 6);
    expect(laidOut.rolloutSeconds).toBeGreaterThan(1.01 * plain.rolloutSeconds);
    const reward = (result: RunResult): number => sum(result, (step) => step.rewardSeconds);
    expect(reward(laidOut)).toBeLessThan(reward(after) / 2);
    expect(laidOut.totalSeconds).toBeLessThan(after.totalSeconds);
    // The synchronous baseline waits for the rollout in any case.
    expect(Math.abs(reward(at(beside, off)) / reward(after) - 1)).toBeLessThan(0.1);
  });

  test('taking turns without MPS is slower than a share of the SMs', () => {
    const resident = withJudge(only, 'colocated', preset.capTokens, { withoutOffload: 'resident' });
    const turns = at(resident, { ...all, judgeOffload: false });
    expect(turns.rolloutSeconds).toBeGreaterThan(at(beside, all).rolloutSeconds);
  });

  test('on GPUs of its own it leaves the engines alone; there are fewer of them', () => {
    const apart = withJudge(only, 'dedicated', preset.capTokens);
    expect([apart.engines, apart.rewards!.judge!.gpus]).toEqual([12, 4]);
    const scored = at(apart, { ...off, asyncReward: true });
    const same = at({ ...only, engines: 12 }, { ...off, asyncReward: true });
    expect(scored.rolloutSeconds).toBeCloseTo(same.rolloutSeconds, 6);
  });

  test('it takes memory from the KV cache, and is refused where the longest response would not fit', () => {
    const tight = (kvCapacityTokens: number): Job => ({
      ...beside,
      hardware: {
        ...beside.hardware!,
        costs: beside.hardware!.costs.map(({ tp, cost }) => ({ tp, cost: { ...cost, kvCapacityTokens } })),
      },
    });
    const { kvBytesPerToken } = beside.hardware!;
    const taken = Math.ceil(beside.rewards!.judge!.model.memoryBytes / kvBytesPerToken);
    const few = at(tight(taken + 9000), { ...off, asyncReward: true });
    const room = at(tight(taken + 200_000), { ...off, asyncReward: true });
    expect(few.preemptions).toBeGreaterThan(room.preemptions);
    expect(() => at(tight(taken - 9000), { ...off, asyncReward: true })).toThrow(/longest response/);
  });
});
