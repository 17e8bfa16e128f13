/** Prompts whose pass rate grows with what is trained on, and a selection of them. */
import { describe, expect, it } from 'vitest';
import { errorOf, fitted, runsOf } from '../../../bench/simulated/learning/fit.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { defineJob } from '../../../src/sim/colocated/job.ts';
import { type TailSettings, tailBatchingScheduler } from '../../../src/sim/colocated/scheduler.ts';
import { jobPreset, rollpackerWorkload } from '../../../src/sim/models/presets.ts';
import { Learning, learningSettings } from '../../../src/sim/rewards/learning.ts';
import { inEpochs } from '../../../src/sim/workload/epochs.ts';

const prompt = (promptIndex: number, task?: string) => ({ promptIndex, task });

describe('the model of learning', () => {
  it('learns from groups that differ, most of all their own task, and nothing from others', () => {
    const learning = new Learning(learningSettings.parse({ rate: 1, transfer: 0.5 }), 1, 0);
    learning.train(prompt(0, 'math'), [1, 1, 1, 1]);
    learning.train(prompt(0, 'math'), [0, 0, 0, 0]);
    expect(learning.passRate(prompt(1, 'math'), 0.5)).toBe(0.5);
    learning.train(prompt(0, 'math'), [1, 0, 1, 0]);
    // A deviation of 0.5 moves the logit by 0.5, and by half of it elsewhere.
    expect(learning.passRate(prompt(1, 'math'), 0.5)).toBeCloseTo(1 / (1 + Math.exp(-0.5)), 12);
    expect(learning.passRate(prompt(1, 'code'), 0.5)).toBeCloseTo(1 / (1 + Math.exp(-0.25)), 12);
    expect(learning.passRate(prompt(1, 'math'), 0)).toBe(0);
    expect(learning.passRate(prompt(1, 'math'), 1)).toBe(1);
  });

  it('learns as much from a step of many groups as from one of few', () => {
    const few = new Learning(learningSettings.parse({}), 2, 0);
    const many = new Learning(learningSettings.parse({}), 8, 0);
    for (let n = 0; n < 2; n += 1) few.train(prompt(n), [1, 0]);
    for (let n = 0; n < 8; n += 1) many.train(prompt(n), [1, 0]);
    expect(many.passRate(prompt(9), 0.2)).toBeCloseTo(few.passRate(prompt(9), 0.2), 12);
  });

  it('learns nothing from guesses, which are right every other time', () => {
    const learning = new Learning(learningSettings.parse({ rate: 10, guessedShare: 0.5 }), 1, 0);
    const guessed = Array.from({ length: 1000 }, (_, n) => n).filter((n) => learning.isGuessed(n));
    expect(guessed.length / 1000).toBeCloseTo(0.5, 1);
    learning.train(prompt(guessed[0]!), [1, 0]);
    const other = Array.from({ length: 1000 }, (_, n) => n).find((n) => !learning.isGuessed(n))!;
    expect(learning.passRate(prompt(other), 0.3)).toBeCloseTo(0.3, 12);
    expect(learning.passRate(prompt(guessed[1]!), 0.9)).toBe(0.5);
  });

  it('has defaults that are fitted to real runs, and predicts runs that are not', () => {
    const runs = runsOf();
    const base = runs.filter(({ schedule }) => schedule === 'synchronous');
    const { rate, transfer } = learningSettings.parse({});
    const fit = fitted(base);
    expect(rate).toBeCloseTo(fit.rate, 2);
    expect(transfer).toBeCloseTo(fit.transfer, 2);
    for (const schedule of ['tail batching', 'lossless tail']) {
      const others = runs.filter((one) => one.schedule === schedule);
      expect(errorOf(others, fit)).toBeLessThan(0.7 * errorOf(others, { rate: 0, transfer: 0 }));
    }
  });
});

describe('a job that learns', () => {
  const shape = { promptsPerRound: 8, responsesPerPrompt: 8 };
  const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
  const run = (settings: TailSettings, rewards: object) => {
    const job = defineJob({ ...preset, ...shape, engines: 1, rewards: { ...preset.rewards!, ...rewards } });
    const workload = inEpochs(rollpackerWorkload(capTokens, 1), 64, 1);
    const scheduler = tailBatchingScheduler(shape, { promptSpeculation: 1, responseSpeculation: 1, ...settings });
    const asked = { prompts: 8 * 480, until: 480, seed: 1, timeline: false };
    const { steps } = simulate(job, scheduler, workload, asked);
    const last = steps.at(-1)!;
    return { steps, tokens: steps.reduce((sum, one) => sum + one.generatedTokens, 0), last, rate: last.passRate };
  };
  const mixed = { correctShare: 0.3, correctCorrelation: 0.9, learning: {} };

  it('has pass rates that grow, and sooner with a selection', () => {
    const all = run({}, mixed);
    const chosen = run({ promptSelection: { lengthExponent: 1 } }, mixed);
    expect(all.steps).toHaveLength(60);
    expect(chosen.steps).toHaveLength(60);
    expect(all.rate).toBeGreaterThan(all.steps[0]!.passRate! + 0.03);
    expect(chosen.rate).toBeGreaterThan(all.rate!);
    expect(chosen.tokens).toBeLessThan(all.tokens);
    for (const { steps } of [all, chosen])
      for (const [n, one] of steps.entries()) expect(one.passRate).toBeGreaterThanOrEqual(steps[n - 1]?.passRate ?? 0);
  });

  it('has steps without a pass rate where nothing is learnt', () => {
    expect(run({ promptSelection: {} }, { correctShare: 0.3 }).last).not.toHaveProperty('passRate');
  });

  it('ends when every prompt was trained or passed over', () => {
    const job = defineJob({ ...preset, ...shape, engines: 1, rewards: { ...preset.rewards!, ...mixed } });
    const workload = inEpochs(rollpackerWorkload(capTokens, 2), 64, 2);
    const scheduler = tailBatchingScheduler(shape, { promptSpeculation: 1, promptSelection: {} });
    const { trainedPrompts } = simulate(job, scheduler, workload, { prompts: 256, seed: 2, timeline: false });
    expect(trainedPrompts).toBeLessThan(256);
    expect(trainedPrompts).toBeGreaterThan(64);
  });
});
