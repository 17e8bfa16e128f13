/** The ablation: the recipe rollpacker drives engines, reward workers and the trainer of the simulated cluster. */
import { describe, expect, test } from 'vitest';
import { isPolicyError } from '../../../../src/index.ts';
import {
  ablation,
  type RollpackerSwitches,
  rollpackerConfigOf,
  rollpackerScheduler,
  variants,
} from '../../../../src/sim/colocated/ablation.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import type { RunResult } from '../../../../src/sim/comparison/result.ts';
import { gradientSeconds, passSeconds, swapSeconds } from '../../../../src/sim/models/cost-model.ts';
import { jobPreset, rollpackerWorkload } from '../../../../src/sim/models/presets.ts';

const preset = jobPreset('qwen2.5-7b-8k');
const job = { ...preset.job, promptsPerRound: 16 };
const off = variants[0].switches;
const workload = rollpackerWorkload(preset.capTokens, 3);
const run = (switches: RollpackerSwitches, of = job): RunResult =>
  simulate(of, rollpackerScheduler(of, 'x', switches), workload, {
    prompts: 10 * of.promptsPerRound,
    seed: 3,
    validate: true,
  });
const sum = (result: RunResult, part: (step: RunResult['steps'][number]) => number): number =>
  result.steps.reduce((total, step) => total + part(step), 0);

describe('the ablation', () => {
  test('a variant names the scheduler that it stands on; the first and what is no variant stand for themselves', () => {
    const places = ablation(job).map(({ id, variant }) => [id, variant?.above]);
    expect(places).toEqual([
      ['baseline', undefined],
      ['tail-batching', 'baseline'],
      ['rewards', 'tail-batching'],
      ['adaptive-tp', 'rewards'],
      ['stream-training', 'adaptive-tp'],
      ['rlhfuse', undefined],
    ]);
  });

  test('every variant trains every prompt once, and is told by its own row', () => {
    for (const scheduler of ablation(job)) {
      const result = simulate(job, scheduler, workload, { prompts: 160, seed: 3, validate: true });
      expect(result.trainedPrompts).toBe(160);
      expect(result.trainedResponses).toBe(160 * job.responsesPerPrompt);
      expect(result.engines.reduce((gpus, row) => gpus + row.gpus, 0)).toBe(16);
      for (const { timeline } of result.engines) {
        timeline.slice(1).forEach((segment, index) => {
          expect(segment.startSeconds).toBeCloseTo(timeline[index]!.endSeconds, 6);
        });
      }
    }
  });

  test('all off is the synchronous job: rewards after the rollout, training after the rewards', () => {
    const baseline = run(off);
    expect(baseline.steps.every((step) => step.deferredPrompts === 0 && step.abortedTokens === 0)).toBe(true);
    for (const { rewardSeconds, referenceSeconds, trainSeconds, keptTokens, responses } of baseline.steps) {
      expect(rewardSeconds).toBeGreaterThan(0);
      const batch = { responses, tokens: keptTokens };
      const [pass, gradients] = [passSeconds(job.cost, batch), gradientSeconds(job.cost, batch)];
      const least = pass + job.cost.trainBaseSeconds + gradients;
      // Whole groups on eight replicas: the last one ends later than an even share would.
      expect(referenceSeconds).toBeGreaterThan(swapSeconds(job.cost));
      expect(referenceSeconds + trainSeconds).toBeGreaterThanOrEqual(least - 1e-6);
      expect(referenceSeconds + trainSeconds).toBeLessThan(least + 2 * (pass + gradients));
    }
  });

  test('each mechanism shortens what it is for', () => {
    const baseline = run(off);
    const tail = run({ ...off, tailBatching: true });
    expect(sum(tail, (step) => step.rolloutSeconds)).toBeLessThan(sum(baseline, (step) => step.rolloutSeconds));
    expect(sum(run({ ...off, asyncReward: true }), (step) => step.rewardSeconds)).toBeLessThan(
      sum(baseline, (step) => step.rewardSeconds),
    );
    // With few responses on an engine, a projection of their peak is careful, and GPUs are released late.
    const larger = { ...job, promptsPerRound: 32 };
    const rewards = run({ ...off, asyncReward: true }, larger);
    const stream = run({ ...off, asyncReward: true, streamTraining: true }, larger);
    expect(sum(stream, (step) => step.trainSeconds)).toBeLessThan(sum(rewards, (step) => step.trainSeconds));
    // Reference passes of what is streamed are over before the rollout is.
    expect(sum(stream, (step) => step.referenceSeconds)).toBeLessThan(sum(rewards, (step) => step.referenceSeconds));
    const passes = stream.engines.flatMap(({ timeline }) => timeline.filter((one) => one.activity === 'reference'));
    expect(passes.length).toBeGreaterThan(0);
    const trained = stream.engines.flatMap((engine) => engine.timeline.filter((one) => one.activity === 'train'));
    expect(trained.length).toBeGreaterThan(
      rewards.engines.flatMap((e) => e.timeline.filter((one) => one.activity === 'train')).length,
    );
  });

  test('preemptions at the least parallelism make adaptive TP raise it, and a round is then faster', () => {
    // A KV cache that holds few of the sequences that a short round starts.
    const hardware = {
      ...job.hardware!,
      trainingReplicas: 2,
      costs: job.hardware!.costs.map(({ tp, cost }) => ({ tp, cost: { ...cost, kvCapacityTokens: 12_000 * tp ** 2 } })),
    };
    const tight = { ...job, engines: 4, hardware, cost: { ...job.cost, kvCapacityTokens: 12_000 } };
    const at = (adaptiveTp: boolean) =>
      simulate(tight, rollpackerScheduler(tight, 'x', { ...off, tailBatching: true, adaptiveTp }), workload, {
        prompts: 320,
        seed: 3,
      });
    const [fixed, adaptive] = [at(false), at(true)];
    expect(fixed.preemptions).toBeGreaterThan(100);
    expect(adaptive.preemptions).toBeLessThan(fixed.preemptions / 2);
    expect(adaptive.rolloutSeconds).toBeLessThan(fixed.rolloutSeconds);
    // The first engines are there; every other change takes its time, which is part of the rollout.
    const changes = adaptive.steps.map(({ tp }, index) => index > 0 && tp !== adaptive.steps[index - 1]!.tp);
    expect(changes).toContain(true);
    adaptive.steps.forEach(({ tp, reshardSeconds, rolloutSeconds }, index) => {
      expect(reshardSeconds).toBeCloseTo(changes[index] ? 1 + hardware.modelBytes / tp! / 25e9 : 0, 9);
      expect(rolloutSeconds).toBeGreaterThan(reshardSeconds + tight.cost.fixedRolloutSeconds);
    });
    const stuck = { ...tight, hardware: { ...hardware, communicatorSeconds: 30 } };
    const slow = simulate(
      stuck,
      rollpackerScheduler(stuck, 'x', { ...off, tailBatching: true, adaptiveTp: true }),
      workload,
      {
        prompts: 320,
        seed: 3,
      },
    );
    expect(slow.bubbleRatio).toBeCloseTo(adaptive.bubbleRatio, 1);
    expect(sum(slow, (step) => step.reshardSeconds)).toBeGreaterThan(sum(adaptive, (step) => step.reshardSeconds) + 25);
  });

  test('any number of engines goes: training replicas share the GPUs evenly', () => {
    for (const engines of [1, 3, 5, 12]) {
      const other = { ...job, engines };
      const { trainingReplicas } = rollpackerConfigOf(other);
      const sizes = trainingReplicas.map((replica) => replica.gpuIds.length);
      expect(new Set(sizes).size).toBe(1);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(engines);
      const scheduler = rollpackerScheduler(other, 'x', {
        ...off,
        tailBatching: true,
        asyncReward: true,
        streamTraining: true,
      });
      expect(simulate(other, scheduler, workload, { prompts: 32, seed: 3 }).trainedPrompts).toBe(32);
    }
  });

  test('a job without hardware or rewards is refused by name', () => {
    const { hardware: _, ...bare } = job;
    const refusal = (() => {
      try {
        return rollpackerScheduler(bare, 'x', off);
      } catch (error) {
        return error;
      }
    })();
    expect(isPolicyError(refusal)).toBe(true);
    expect(refusal).toMatchObject({ code: 'infeasible', path: 'hardware' });
  });

  test('the same seed gives the same run, another seed another', () => {
    const all = { ...off, tailBatching: true, asyncReward: true, adaptiveTimeout: true, streamTraining: true };
    expect(JSON.stringify(run(all))).toBe(JSON.stringify(run(all)));
  });
});
