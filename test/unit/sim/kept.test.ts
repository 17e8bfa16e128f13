/** What is counted of kept responses, on a source by hand. */
import { expect, it } from 'vitest';
import { KeptResponses } from '../../../src/sim/cluster/kept-counts.ts';
import { PromptSource, samplesPerTry } from '../../../src/sim/cluster/source.ts';
import { rollpackerScheduler, variants } from '../../../src/sim/colocated/ablation.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { synchronousBaseline, tailBatchingScheduler } from '../../../src/sim/colocated/scheduler.ts';
import { fixedPrompts, longestOf } from '../../../src/sim/comparison/kept-shares.ts';
import { jobPreset, rollpackerWorkload } from '../../../src/sim/models/presets.ts';
import { plainJob, plainWorkload } from '../../support/simulator/host.ts';

it('tells fixed responses from others of the first try, and from those that were drawn again', () => {
  // Samples 0 and 1 are fixed; a second try is shorter.
  const workload = plainWorkload((prompt, k) =>
    k >= samplesPerTry
      ? 40
      : [
          [100, 10, 90],
          [80, 70, 5],
        ][prompt]![k]!,
  );
  const source = new PromptSource(workload, 2);
  source.take(2);
  for (const k of [0, 1, 2]) for (const p of [0, 1]) source.draw(`q${p}/${k}`, `q${p}`, k);
  const kept = new KeptResponses(2, 80);
  // q0 is trained on its first and its third response; the third is none of the fixed ones.
  kept.add(source, 'q0', [{ requestId: 'q0/0' }, { requestId: 'q0/2' }]);
  source.trained('q0');
  source.deferred({ promptId: 'q1' });
  for (const k of [0, 1]) source.draw(`q1/${k}#1`, 'q1', k);
  kept.add(source, 'q1', [{ requestId: 'q1/0#1' }, { requestId: 'q1/1#1' }]);
  kept.rewarded([{ reward: 1 }, { reward: 0 }]);
  kept.rewarded([{ reward: 1 }, { reward: 1 }]);
  expect(kept.counts()).toEqual({
    longFixed: 2,
    longKept: 1,
    longTrained: 2,
    redrawnResponses: 2,
    redrawnTokens: 80,
    redrawnFixedTokens: 150,
    rewardedGroups: 2,
    evenGroups: 1,
  });
  // Nobody knows of these: nothing is counted, nothing fails.
  kept.add(source, 'q9', [{ requestId: 'none' }]);
  expect(kept.counts().longTrained).toBe(2);
});

it('takes the shortest of the longest 1 %, of one response at least', () => {
  const prompts = (lengths: number[]) => lengths.map((tokens) => ({ promptTokens: 1, responseTokens: [tokens] }));
  expect(longestOf(prompts([5, 9, 7]))).toBe(9);
  expect(longestOf(prompts(Array.from({ length: 300 }, (_, index) => index + 1)))).toBe(298);
});

it('counts every group of every scheduler, with rewards by workers or without', () => {
  const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
  const job = { ...preset, engines: 4, promptsPerRound: 16 };
  const workload = rollpackerWorkload(capTokens, 5);
  const [prompts, seed] = [64, 5];
  const longTokens = longestOf(fixedPrompts(workload, prompts, 8));
  const schedulers = [
    synchronousBaseline(job),
    tailBatchingScheduler(job),
    ...variants.map(({ id, switches }) => rollpackerScheduler(job, id, switches)),
  ];
  const runs = schedulers.map((one) => simulate(job, one, workload, { prompts, seed, longTokens, timeline: false }));
  for (const { kept } of runs) {
    expect(kept.rewardedGroups).toBe(prompts);
    expect(kept.evenGroups).toBeGreaterThan(0);
    expect(kept.longKept).toBeLessThanOrEqual(kept.longFixed);
    expect(kept.longKept).toBeLessThanOrEqual(kept.longTrained);
    // The same for all: it is a matter of prompts, not of schedules.
    expect(kept.longFixed).toBe(runs[0]!.kept.longFixed);
  }
  const all = { longKept: runs[0]!.kept.longFixed, longTrained: runs[0]!.kept.longFixed, redrawnResponses: 0 };
  for (const { scheduler, kept } of runs) {
    if (['synchronous', 'baseline', 'rlhfuse'].includes(scheduler)) expect(kept).toMatchObject(all);
    else expect(kept.redrawnResponses).toBeGreaterThan(0);
  }
  // What a worker gives is what the model says, but for code that is stopped.
  expect(runs[2]!.kept.evenGroups).toBe(runs[0]!.kept.evenGroups);
});

it('counts groups of jobs that say nothing of rewards', () => {
  const job = plainJob({ promptsPerRound: 4, responsesPerPrompt: 2 });
  const { kept, staleTokens, maxLag } = simulate(
    job,
    synchronousBaseline(job),
    plainWorkload(() => 5),
    {
      prompts: 8,
      seed: 1,
    },
  );
  expect(kept).toMatchObject({ rewardedGroups: 8, longFixed: 0, longTrained: 0 });
  expect([staleTokens, maxLag]).toEqual([0, 0]);
});
