/** One-step off-policy pipelines: a round opens when the one before has drained and the one before that is trained. */
import { describe, expect, test } from 'vitest';
import { clairvoyantLowerBound } from '../../../../src/sim/bounds/lower-bound.ts';
import { rollpackerScheduler, variants } from '../../../../src/sim/colocated/ablation.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { oneStepOffAblation, withOneStepOff } from '../../../../src/sim/colocated/one-step-off.ts';
import { jobPreset, rollpackerWorkload } from '../../../../src/sim/models/presets.ts';
import { refusal } from '../../../support/basics/refusal.ts';
import { overheard } from '../../../support/simulator/host.ts';

const preset = jobPreset('qwen2.5-7b-8k');
const job = withOneStepOff({ ...preset.job, promptsPerRound: 16 });
const workload = rollpackerWorkload(preset.capTokens, 3);
const options = { prompts: 160, seed: 3, validate: true };
const ablation = oneStepOffAblation(job);

describe('a one-step off-policy pipeline', () => {
  test('half of the GPUs train, at half of the speed', () => {
    expect([job.engines, job.hardware!.trainingGpus]).toEqual([8, 8]);
    expect(job.cost.trainSecondsPerResponse).toBeCloseTo(2 * preset.job.cost.trainSecondsPerResponse, 12);
    expect(ablation.map((one) => one.label)).toEqual(['one-step-off', '+ tail batching', '+ rewards', '+ adaptive TP']);
  });

  test('trains a round beside the rollout of the next, never two rounds behind', () => {
    for (const scheduler of ablation) {
      const { scheduler: spied, heard } = overheard(scheduler);
      const run = simulate(job, spied, workload, options);
      expect(run.trainedResponses).toBe(160 * job.responsesPerPrompt);
      const decisionAt = (type: string) =>
        heard.decisions.filter((one) => one.type === type).map((one) => (one as { at: number }).at);
      const requested = heard.events.filter((one) => one.type === 'round.requested').map((one) => one.at);
      const [drained, trained] = [decisionAt('round.drained'), decisionAt('round.trained')];
      expect(trained).toHaveLength(run.steps.length);
      let overlaps = 0;
      for (let round = 1; round < run.steps.length; round += 1) {
        expect(requested[round]).toBeGreaterThanOrEqual(drained[round - 1]!);
        if (round > 1) expect(requested[round]).toBeGreaterThanOrEqual(trained[round - 2]!);
        if (requested[round]! < trained[round - 1]!) overlaps += 1;
      }
      expect(overlaps).toBeGreaterThan(run.steps.length / 2);
      run.steps.slice(1).forEach((step, index) => {
        expect(step.startSeconds).toBeCloseTo(run.steps[index]!.endSeconds, 6);
      });
      const last = run.steps[run.steps.length - 1]!;
      expect(last.endSeconds).toBeCloseTo(trained[trained.length - 1]! + job.cost.weightSyncSeconds, 6);
    }
  });

  test('is faster than the same job without overlap, and tail batching makes it faster still', () => {
    const [baseline, , rewards] = ablation.map((one) => simulate(job, one, workload, options).totalSeconds);
    const { switches } = variants.find((one) => one.id === 'baseline')!;
    const alone = simulate(job, rollpackerScheduler(job, 'x', switches), workload, options).totalSeconds;
    expect(baseline).toBeLessThan(alone / 1.2);
    expect(rewards).toBeLessThan(baseline! / 1.3);
  });

  test('is never faster than the bound for the same samples', () => {
    const fixed = Array.from({ length: 160 }, (_, index) => {
      const prompt = workload.prompt(index);
      const responseTokens = Array.from({ length: job.responsesPerPrompt }, (_unused, k) => prompt.sample(k).tokens);
      return { promptTokens: prompt.promptTokens, responseTokens };
    });
    const bound = clairvoyantLowerBound(fixed, 16, job.engines, job.cost, { oneStepOff: true }).totalSeconds;
    const { totalSeconds } = simulate(job, ablation[0]!, workload, options);
    expect(bound).toBeLessThanOrEqual(totalSeconds);
    expect(bound).toBeGreaterThan(0.2 * totalSeconds);
  });

  test('has no training that streams, and needs GPUs to give away', () => {
    const { switches } = variants.find((one) => one.id === 'stream-training')!;
    expect(refusal(() => rollpackerScheduler(job, 'x', { ...switches, oneStepOff: true }))).toMatchObject({
      code: 'infeasible',
      path: 'streamTraining',
    });
    expect(refusal(() => withOneStepOff({ ...preset.job, engines: 1 }))).toMatchObject({
      code: 'infeasible',
      path: 'engines',
    });
    const { hardware: _, ...bare } = preset.job;
    expect(refusal(() => withOneStepOff(bare))).toMatchObject({ code: 'infeasible', path: 'hardware' });
  });
});
