/** Steps that the simulator made with known constants are given back to it: it must find them again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPolicyError } from '../../../../src/errors.ts';
import { calibrate } from '../../../../src/sim/calibration/fit.ts';
import type { MeasuredStep } from '../../../../src/sim/calibration/measured.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { synchronousBaseline } from '../../../../src/sim/colocated/scheduler.ts';
import type { CostModel } from '../../../../src/sim/models/cost-model.ts';
import { jobPreset, rollpackerWorkload } from '../../../../src/sim/models/presets.ts';
import { runs } from '../../../support/basics/runs.ts';

const preset = jobPreset('qwen2.5-7b-8k').job;
const job = { ...preset, engines: 4 };
const promptsPerRound = 8;

/** A step of some prompts, as a job with these costs would have taken it. */
function measure(capTokens: number, cost: Partial<CostModel>, prompts = promptsPerRound, engines = 4): MeasuredStep {
  const workload = rollpackerWorkload(capTokens, 3);
  const truth = { ...job, engines, promptsPerRound: prompts, cost: { ...job.cost, ...cost } };
  const { steps } = simulate(truth, synchronousBaseline(truth), workload, { prompts, seed: 3, timeline: false });
  const [step] = steps;
  return {
    seconds: step!.rolloutSeconds,
    trainSeconds: step!.referenceSeconds + step!.trainSeconds,
    rewardSeconds: step!.rewardSeconds,
    syncSeconds: step!.syncSeconds,
    engines,
    prompts: Array.from({ length: prompts }, (_, index) => {
      const { promptTokens, sample } = workload.prompt(index);
      return { promptTokens, responseTokens: Array.from({ length: 8 }, (_k, k) => sample(k).tokens) };
    }),
  };
}

function refusal(steps: readonly MeasuredStep[]): [string, string] {
  try {
    calibrate(job, steps);
  } catch (error) {
    if (isPolicyError(error)) return [error.code, error.path];
    throw error;
  }
  throw new Error('nothing was refused');
}

const one = (seconds: number, responseTokens: readonly number[], more: Partial<MeasuredStep> = {}): MeasuredStep => ({
  seconds,
  prompts: [{ promptTokens: 10, responseTokens }],
  ...more,
});

describe('calibrate', () => {
  test('finds the constants that measured steps were made with', () => {
    const seconds = (most: number) => fc.double({ min: 0, max: most, noNaN: true });
    const constants = fc.record({
      overheadSeconds: seconds(0.03),
      fixedRolloutSeconds: seconds(20),
      // A job in which training takes nothing is no measurement of training.
      scale: fc.double({ min: 0.1, max: 5, noNaN: true }),
      tokenScale: fc.double({ min: 0.5, max: 50, noNaN: true }),
      weightSyncSeconds: seconds(30),
      rewardTailSeconds: seconds(30),
    });
    fc.assert(
      fc.property(constants, fc.constantFrom(1, 4), ({ scale, tokenScale, ...truth }, engines) => {
        const { cost } = job;
        const training = {
          trainBaseSeconds: cost.trainBaseSeconds * scale,
          trainSecondsPerResponse: cost.trainSecondsPerResponse * scale,
          referenceSwapSeconds: cost.referenceSwapSeconds * scale,
          trainSecondsPerToken: cost.trainSecondsPerToken * tokenScale,
          referenceSecondsPerToken: cost.referenceSecondsPerToken * tokenScale,
          logProbSecondsPerToken: cost.logProbSecondsPerToken * tokenScale,
        };
        const costs = { ...truth, ...training };
        const steps = [measure(1024, costs, 8, engines), measure(8192, costs), measure(3000, costs)];
        const found = calibrate(job, steps);
        for (const [name, value] of Object.entries(costs)) {
          expect(found.job.cost[name as keyof CostModel], name).toBeCloseTo(value, 6);
        }
        expect(found.job.cost.memoryBoundSeconds).toBe(cost.memoryBoundSeconds);
        for (const { rollout, training: trained } of found.steps) {
          expect(Math.abs(rollout.error)).toBeLessThan(1e-6);
          expect(Math.abs(trained!.error)).toBeLessThan(1e-6);
        }
        expect(found.steps.map(({ rollout }) => rollout.use)).toEqual(['fit', 'fit', 'check']);
        expect(found.training!.secondsPerToken).toBeCloseTo(7e-6 * tokenScale, 9);
        expect([...found.fitted].sort()).toEqual(Object.keys(costs).sort());
      }),
      { seed: 11, ...runs(25) },
    );
  });

  test('a job without a model of training is given one', () => {
    const { hardware: _, ...plain } = job;
    const cost = { ...job.cost, trainBaseSeconds: 0, trainSecondsPerResponse: 0, trainSecondsPerToken: 0 };
    const bare = { ...plain, cost: { ...cost, referenceSecondsPerToken: 0, logProbSecondsPerToken: 0 } };
    const steps = [one(14, [1000, 400], { trainSeconds: 12 }), one(81, [8000, 400], { trainSeconds: 19 })];
    const found = calibrate(bare, steps).job.cost;
    expect([found.trainBaseSeconds, found.trainSecondsPerToken]).toEqual([
      expect.closeTo(10.6, 9),
      expect.closeTo(0.001, 12),
    ]);
  });

  test('other parallelisms of the job are as much slower or faster as before', () => {
    const { job: fitted } = calibrate(job, [one(14, [1200]), one(81, [8000])]);
    for (const [index, { cost }] of fitted.hardware!.costs.entries()) {
      const before = job.hardware!.costs[index]!.cost;
      expect(cost.overheadSeconds / fitted.cost.overheadSeconds).toBeCloseTo(
        before.overheadSeconds / job.cost.overheadSeconds,
        9,
      );
      expect(cost.fixedRolloutSeconds).toBe(fitted.cost.fixedRolloutSeconds);
      expect(cost.memoryBoundSeconds).toBe(before.memoryBoundSeconds);
    }
  });

  test('says what it does not fit, and what cannot be told apart', () => {
    const good = calibrate(job, [one(14, [1200]), one(81, [8000])]);
    expect(good.warnings).toEqual([]);
    expect(good.training).toBeUndefined();
    const [near] = calibrate(job, [one(14, [1200]), one(15, [1300])]).warnings;
    expect(near).toMatch(/^The two rollouts hardly tell .* move a decode step by 2\.90 ms \(29 %\)\. Measure one with/);
    const [check] = calibrate(job, [one(14, [1200]), one(81, [8000]), one(50, [3000])]).warnings;
    expect(check).toMatch(/^The check does not hold: rollout 3 takes 50\.0 s measured, 31\.\d s simulated\.$/);
    const trained = [one(14, [1200], { trainSeconds: 30 }), one(81, [8000], { trainSeconds: 30.1 })];
    expect(calibrate(job, trained).warnings[0]).toMatch(/^The two trainings hardly tell .* by \d+ %\./);
  });

  test.each<[string, string, readonly MeasuredStep[]]>([
    ['invalid_input', 'rollouts', [one(1, [10])]],
    ['invalid_input', 'rollouts[1].seconds', [one(1, [10]), one(0, [20])]],
    ['invalid_input', 'rollouts[2].prompts', [one(1, [10]), one(2, [20]), { seconds: 1, prompts: [] }]],
    ['invalid_input', 'rollouts[0].engines', [one(1, [10], { engines: 0 }), one(2, [20])]],
    ['invalid_input', 'measured', [one(1, [10]), one(2, [10])]],
    ['invalid_input', 'rollouts[1].trainSeconds', [one(14, [1200]), one(81, [8000], { trainSeconds: 3 })]],
    [
      'invalid_input',
      'trainSeconds',
      [one(14, [1000, 700], { trainSeconds: 9 }), one(16, [1200, 500], { trainSeconds: 9 })],
    ],
    ['infeasible', 'cost.overheadSeconds', [one(9, [1000]), one(8, [8000])]],
    ['infeasible', 'cost.fixedRolloutSeconds', [one(0.1, [100]), one(50, [1000])]],
    [
      'infeasible',
      'cost.trainSecondsPerToken',
      [one(14, [1200], { trainSeconds: 40 }), one(81, [8000], { trainSeconds: 9 })],
    ],
    [
      'infeasible',
      'cost.trainBaseSeconds',
      [one(14, [1200], { trainSeconds: 1 }), one(81, [8000], { trainSeconds: 60 })],
    ],
  ])('refuses with %s at %s', (code, path, steps) => {
    expect(refusal(steps)).toEqual([code, path]);
  });
});
