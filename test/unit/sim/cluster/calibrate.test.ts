import { describe, expect, it } from 'vitest';
import { isPolicyError } from '../../../../src/errors.ts';
import { calibrateJob, type MeasuredRollout } from '../../../../src/sim/calibration/calibrate.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { synchronousBaseline } from '../../../../src/sim/colocated/scheduler.ts';
import { jobPreset, rollpackerWorkload } from '../../../../src/sim/models/presets.ts';

const { job } = jobPreset('qwen2.5-7b-8k');

/** A rollout of 16 prompts as the job would have taken it. */
function measure(capTokens: number, cost: Partial<typeof job.cost>): MeasuredRollout {
  const workload = rollpackerWorkload(capTokens, 3);
  const slow = { ...job, engines: 4, promptsPerRound: 16, cost: { ...job.cost, ...cost } };
  const run = simulate(slow, synchronousBaseline(slow), workload, { prompts: 16, seed: 3 });
  const prompts = Array.from({ length: 16 }, (_, index) => {
    const prompt = workload.prompt(index);
    return {
      promptTokens: prompt.promptTokens,
      responseTokens: Array.from({ length: 8 }, (_k, k) => prompt.sample(k).tokens),
    };
  });
  return { seconds: run.rolloutSeconds, prompts };
}

describe('calibrateJob', () => {
  it.each([
    [0.0041, 7.5],
    [0.02, 0],
    [0, 1],
  ])('finds an overhead of %s s a step and %s s a rollout again', (overheadSeconds, fixedRolloutSeconds) => {
    const truth = { overheadSeconds, fixedRolloutSeconds };
    const small = { ...job, engines: 4 };
    const fitted = calibrateJob(small, [measure(8192, truth), measure(1024, truth)]);
    expect(fitted.cost.overheadSeconds).toBeCloseTo(overheadSeconds, 7);
    expect(fitted.cost.fixedRolloutSeconds).toBeCloseTo(fixedRolloutSeconds, 3);
    expect(fitted.cost.memoryBoundSeconds).toBe(job.cost.memoryBoundSeconds);
  });

  const one = (seconds: number, ...responseTokens: number[]): MeasuredRollout => ({
    seconds,
    prompts: [{ promptTokens: 10, responseTokens }],
  });
  it.each([
    ['invalid_input', 'measured[0].seconds', one(Number.NaN, 10), one(9, 100)],
    ['invalid_input', 'measured[1].prompts', one(1, 10), { seconds: 2, prompts: [] }],
    ['invalid_input', 'measured', one(1, 10), one(2, 10)],
    ['infeasible', 'cost.overheadSeconds', one(0.1, 10), one(0.2, 1000)],
    ['infeasible', 'cost.fixedRolloutSeconds', one(0.1, 100), one(50, 1000)],
  ])('refuses %s at %s', (code, path, first, second) => {
    try {
      calibrateJob(job, [first, second]);
      expect.unreachable();
    } catch (error) {
      expect(isPolicyError(error) && [error.code, error.path]).toEqual([code, path]);
    }
  });
});
