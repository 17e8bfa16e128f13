/** The clairvoyant lower bound by hand, its inputs, and what it may not depend on. */
import { describe, expect, it } from 'vitest';
import { clairvoyantLowerBound, clairvoyantOrder, type FixedPrompt } from '../../../../src/sim/bounds/lower-bound.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { synchronousBaseline } from '../../../../src/sim/colocated/scheduler.ts';
import { refusal } from '../../../support/basics/refusal.ts';
import { plainJob, plainWorkload } from '../../../support/simulator/host.ts';

const around = {
  fixedRolloutSeconds: 1,
  rewardTailSeconds: 2,
  trainBaseSeconds: 3,
  trainSecondsPerToken: 0.5,
  weightSyncSeconds: 4,
};
const job = plainJob({ engines: 2, promptsPerRound: 2, responsesPerPrompt: 2 }, around);
const of = (...responseTokens: number[]): FixedPrompt => ({ promptTokens: 10, responseTokens });
const bound = (prompts: readonly FixedPrompt[], cost = job.cost, promptsPerRound = 2, engines = 2) =>
  clairvoyantLowerBound(prompts, promptsPerRound, engines, cost);

describe('the clairvoyant lower bound', () => {
  it('waits for the longest of each round, long ones together', () => {
    // Rounds of 2: {900, 800}, {50, 40}, {7}; a step takes 10 ms.
    const prompts = [of(40, 1), of(900, 2), of(7, 7), of(50, 3), of(1, 800)];
    const { stragglerSeconds, rolloutSeconds, otherSeconds, totalSeconds } = bound(prompts);
    expect(stragglerSeconds).toBeCloseTo(0.01 * (900 + 50 + 7), 9);
    expect(rolloutSeconds).toBeCloseTo(stragglerSeconds, 12);
    expect(otherSeconds).toBeCloseTo(3 * (1 + 2 + 3 + 4) + 0.5 * 1811, 9);
    expect(totalSeconds).toBeCloseTo(rolloutSeconds + otherSeconds, 12);
    expect(bound([...prompts].reverse())).toEqual(bound(prompts));
  });

  it('has the work to do where that is more than waiting', () => {
    const cost = { ...job.cost, maxRunningSequences: 4 };
    const prompts = Array.from({ length: 20 }, () => of(100, 100));
    const { workSeconds, stragglerSeconds, rolloutSeconds } = bound(prompts, cost, 20);
    expect(stragglerSeconds).toBeCloseTo(1, 9);
    // 4000 tokens, 4 at a time on each of 2 engines.
    expect(workSeconds).toBeCloseTo((0.01 * 4000) / 4 / 2, 9);
    expect(rolloutSeconds).toBe(workSeconds);
  });

  it('cannot hold more context than fits', () => {
    const cost = { ...job.cost, kvCapacityTokens: 200 };
    const { workSeconds } = bound([of(100, 100)], cost, 1, 1);
    // Σ of 10 … 109 for each of two responses, 200 at a time.
    expect(workSeconds).toBeCloseTo((0.01 * 2 * (100 * 10 + 4950)) / 200, 9);
  });

  it('never falls with more tokens, nor rises with more engines', () => {
    const prompts = [of(40, 1), of(900, 2), of(7, 7), of(50, 3)];
    const more = [of(40, 1), of(900, 2), of(7, 8), of(50, 3)];
    expect(bound(more).totalSeconds).toBeGreaterThan(bound(prompts).totalSeconds);
    for (const engines of [1, 2, 4, 8]) {
      expect(bound(prompts, job.cost, 2, 2 * engines).totalSeconds).toBeLessThanOrEqual(
        bound(prompts, job.cost, 2, engines).totalSeconds,
      );
    }
  });

  it('is met by the baseline where all responses are alike', () => {
    const workload = plainWorkload(() => 60);
    const run = simulate(job, synchronousBaseline(job), workload, { prompts: 6, seed: 1 });
    const prompts = Array.from({ length: 6 }, () => of(60, 60));
    expect(bound(prompts).totalSeconds).toBeCloseTo(run.totalSeconds, 6);
  });

  it('is 0 for nothing', () => {
    expect(bound([])).toEqual({
      totalSeconds: 0,
      rolloutSeconds: 0,
      stragglerSeconds: 0,
      workSeconds: 0,
      otherSeconds: 0,
    });
  });

  it.each([
    ['promptsPerRound', () => bound([of(1)], job.cost, 0)],
    ['promptsPerRound', () => bound([of(1)], job.cost, 1.5)],
    ['engines', () => bound([of(1)], job.cost, 1, 0)],
    ['engines', () => bound([of(1)], job.cost, 1, Number.NaN)],
    ['prompts[1].responseTokens', () => bound([of(1), of()])],
    ['prompts[0].responseTokens', () => bound([of(1, Number.NaN)])],
    ['prompts[0].responseTokens', () => bound([of(-1)])],
    ['prompts[0].promptTokens', () => bound([{ promptTokens: -1, responseTokens: [1] }])],
  ])('refuses bad %s', (path, act) => {
    expect(refusal(act)).toMatchObject({ code: 'invalid_input', path });
  });
});

describe('the clairvoyant order', () => {
  it('is by the longest response, ties as they came, and leaves the list as it was', () => {
    const list = [of(3, 1), of(1, 9), of(9, 2), of(5)];
    expect(clairvoyantOrder(list)).toEqual([list[1], list[2], list[3], list[0]]);
    expect(list[0]).toEqual(of(3, 1));
  });
});
