/** What the oracle schedule does, seen from outside: order, placement, rewards, and what the policy is told. */
import { describe, expect, it } from 'vitest';
import { oracleSchedule, oracleWindowRounds } from '../../../../src/sim/bounds/oracle.ts';
import { rollpackerScheduler, variants } from '../../../../src/sim/colocated/ablation.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { fixedPrompts } from '../../../../src/sim/comparison/kept-shares.ts';
import { jobPreset, jobPresets, rollpackerWorkload } from '../../../../src/sim/models/presets.ts';
import { overheard, plainJob, plainWorkload, trainedPrompts } from '../../../support/simulator/host.ts';

const seed = 1;

describe('the oracle of a job whose rewards take constant seconds', () => {
  const job = plainJob({ engines: 2, promptsPerRound: 2, responsesPerPrompt: 2 });
  const lengths = [
    [10, 90],
    [5, 20],
    [30, 7],
    [80, 85],
  ];
  const workload = plainWorkload((prompt, k) => lengths[prompt]![k]!);
  const { scheduler, workload: ordered } = oracleSchedule({ job, workload, fixed: fixedPrompts(workload, 4, 2), seed });
  const { scheduler: watched, heard } = overheard(scheduler);
  const result = simulate(job, watched, ordered, { prompts: 4, seed });

  it('groups prompts by their longest response, and keeps all', () => {
    expect(trainedPrompts(heard).slice(0, 2).sort()).toEqual(['q0', 'q3']);
    expect(result.steps.map((one) => one.maxResponseTokens)).toEqual([90, 30]);
    expect(result.keptTokens).toBe(lengths.flat().reduce((sum, one) => sum + one, 0));
    // 90 and 30 decode steps of 10 ms: nothing waits for another.
    expect(result.totalSeconds).toBeCloseTo(1.2, 9);
  });

  it('launches the longest first, each where least is to be done', () => {
    const launches = heard.decisions.filter((one) => one.type === 'request.launch').slice(0, 4) as unknown as {
      requestId: string;
      engineId: string;
    }[];
    expect(launches.map(({ requestId }) => requestId)).toEqual(['q0/1#0', 'q3/1#0', 'q3/0#0', 'q0/0#0']);
    expect(launches[0]!.engineId).not.toBe(launches[1]!.engineId);
  });

  it('leaves the workload alone beyond the prompts that are trained', () => {
    expect(ordered.prompt(9)).toMatchObject({ promptId: 'q9', place: 9 });
    expect([0, 1, 2, 3].map((index) => ordered.prompt(index).place)).toEqual([0, 3, 2, 1]);
  });
});

describe('the oracle of a job with rewards and training', () => {
  const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
  const job = { ...preset, engines: 4, promptsPerRound: 16, rewards: { ...preset.rewards!, doomedShare: 0.3 } };
  const workload = rollpackerWorkload(capTokens, 2);
  const prompts = 6 * 16;
  const fixed = fixedPrompts(workload, prompts, 8);
  const oracle = oracleSchedule({ job, workload, fixed, seed, trains: true });
  const run = simulate(job, oracle.scheduler, oracle.workload, { prompts, seed, validate: true, timeline: false });

  it('keeps every response with the reward that the baseline sees', () => {
    const { switches } = variants.find((one) => one.id === 'baseline')!;
    const plain = simulate(job, rollpackerScheduler(job, 'baseline', switches), workload, { prompts, seed });
    expect(run.keptTokens).toBe(plain.keptTokens);
    expect(run.kept).toEqual(plain.kept);
    expect(run.kept.rewardedGroups).toBe(prompts);
    expect(run.totalSeconds).toBeLessThan(plain.totalSeconds);
  });

  it('stops code that never ends as it begins', () => {
    const eager = simulate(
      job,
      rollpackerScheduler(job, 'eager', {
        tailBatching: false,
        asyncReward: true,
        adaptiveTimeout: false,
        adaptiveTp: true,
        streamTraining: true,
      }),
      oracle.workload,
      { prompts, seed, timeline: false },
    );
    // A third of the code runs for 30 s on 8 sandboxes.
    expect(run.totalSeconds).toBeLessThan(0.7 * eager.totalSeconds);
  });

  it('looks no further than its window', () => {
    const rounds = 3 * oracleWindowRounds;
    const many = Array.from({ length: rounds }, (_, index) => ({ promptTokens: 1, responseTokens: [1 + index] }));
    const small = plainJob({ promptsPerRound: 1, responsesPerPrompt: 1 });
    const plain = plainWorkload((prompt) => 1 + prompt);
    const { workload: ordered } = oracleSchedule({ job: small, workload: plain, fixed: many, seed });
    expect(Array.from({ length: rounds }, (_, index) => ordered.prompt(index).place)).toEqual(
      [7, 15, 23].flatMap((last) => Array.from({ length: 8 }, (_, index) => last - index)),
    );
  });
});

describe('the oracle beside whatever keeps all responses', () => {
  const keepsAll = variants.filter((one) => !one.switches.tailBatching);
  const all = { asyncReward: true, adaptiveTimeout: true, adaptiveTp: true, streamTraining: true };
  const switches = [...keepsAll.map((one) => one.switches), { ...all, tailBatching: false }];

  it.each(jobPresets.map((one) => [one.id, one] as const))('is faster: %s', (_, { job: preset, capTokens }) => {
    const job = { ...preset, engines: 8, promptsPerRound: 32 };
    const workload = rollpackerWorkload(capTokens, 4);
    const prompts = 5 * 32;
    const given = { prompts, seed, timeline: false };
    const oracle = oracleSchedule({ job, workload, fixed: fixedPrompts(workload, prompts, 8), seed, trains: true });
    const best = simulate(job, oracle.scheduler, oracle.workload, given);
    for (const one of switches) {
      const run = simulate(job, rollpackerScheduler(job, 'other', one), workload, given);
      expect(run.keptTokens).toBe(best.keptTokens);
      expect(run.totalSeconds).toBeGreaterThan(best.totalSeconds);
    }
  });
});
