/** RolloutPipe's figures, within the limits that docs/calibration.md states. */
import { describe, expect, test } from 'vitest';
import { type Figures, figuresOf, ranges, table1 } from '../../../../bench/papers/rolloutpipe.ts';
import { type PoolsTaskId, poolsTaskIds } from '../../../../src/sim/pools/presets.ts';
import { scale } from '../../../support/basics/runs.ts';

/** `npm run test:all` takes the mean over more of them. */
const seeds = scale < 1 ? [3, 4] : [1, 2, 3, 4, 5];
const at = (groups: 32 | 96) =>
  Object.fromEntries(poolsTaskIds.map((task) => [task, figuresOf(task, groups, seeds)])) as Record<
    PoolsTaskId,
    Figures
  >;
const small = at(32);
const large = at(96);

/** How far a value is outside of a range. */
const outside = (value: number, [low, high]: readonly number[]): number => Math.max(low! - value, value - high!, 0);

describe.each(poolsTaskIds)('%s', (task) => {
  test('R = 32: the reduction and CGP’s share are within 4 points of the paper’s ranges', () => {
    const { both, cgpShare } = small[task];
    expect(outside(both.reduction.value, ranges.reduction[32])).toBeLessThan(0.04);
    expect(outside(cgpShare, ranges.cgpShare[32])).toBeLessThan(0.04);
  });

  test('R = 96: the same', () => {
    const { both, cgpShare } = large[task];
    expect(outside(both.reduction.value, ranges.reduction[96])).toBeLessThan(0.04);
    expect(outside(cgpShare, ranges.cgpShare[96])).toBeLessThan(0.04);
  });

  test('the serial baseline waits for 47 to 52 % of the time (equation 4), give or take 3', () => {
    for (const { serial } of [small[task], large[task]]) {
      expect(outside(serial.startWaitingRatio, ranges.serialWaitingRatio)).toBeLessThan(0.03);
    }
  });

  test('with both mechanisms the trainer waits for 14 to 33 %, give or take 4', () => {
    for (const { both } of [small[task], large[task]]) {
      expect(outside(both.computeWaitingRatio, ranges.waitingRatio)).toBeLessThan(0.04);
    }
  });

  test('trainer compute is within 4 % of every column of Table 1, and the same for every scheduler', () => {
    for (const [groups, { serial, cgp, both }] of [
      [32, small[task]],
      [96, large[task]],
    ] as const) {
      for (const paper of table1[task][groups]) {
        expect(Math.abs(serial.computeSeconds / paper - 1)).toBeLessThan(0.04);
      }
      expect(cgp.computeSeconds).toBeCloseTo(serial.computeSeconds, 6);
      expect(both.computeSeconds).toBeCloseTo(serial.computeSeconds, 6);
      expect([cgp.keptTokenRatio, both.keptTokenRatio]).toEqual([1, 1]);
    }
  });

  test('responses have 3.3k to 3.6k tokens, give or take 0.15k', () => {
    expect(outside(large[task].serial.meanResponseTokens, [3300, 3600])).toBeLessThan(150);
  });
});

test('R = 96: first dispatches; that of OlyPhys does not fit, its rollout is too long', () => {
  const { serial, cgp, both } = ranges.firstDispatch96;
  for (const task of ['lsat-ar', 'sci-xw', 'sci-jl'] as const) {
    const ours = large[task];
    expect(outside(ours.serial.firstDispatchSeconds, serial)).toBeLessThan(25);
    expect(outside(ours.cgp.firstDispatchSeconds, cgp)).toBeLessThan(10);
    expect(outside(ours.both.firstDispatchSeconds, both)).toBeLessThan(10);
  }
  expect(large.olyphys.serial.firstDispatchSeconds).toBeGreaterThan(570);
});

describe('the width of the frontier', () => {
  const width = (groups: number) => figuresOf('lsat-ar', 32, seeds, groups).both;

  test('strictly as equation 6 says, F_w = U = 2, it is slower than serial, and says that it starves the trainer', () => {
    for (const groups of [32, 96] as const) {
      const { both, serial } = figuresOf('lsat-ar', groups, seeds, 2);
      expect(both.mainSeconds.value).toBeGreaterThan(1.2 * serial.mainSeconds.value);
      expect(both.starvedRounds).toBe(4 * seeds.length);
      expect(Math.max(...both.runs.flatMap((run) => run.rounds.map((one) => one.mostInService)))).toBe(16);
    }
  });

  test('12 to 20 groups reproduce the reduction', () => {
    for (const groups of [12, 16, 20]) {
      expect(outside(width(groups).reduction.value, ranges.reduction[32])).toBeLessThan(0.04);
    }
    expect(outside(width(4).reduction.value, ranges.reduction[32])).toBeGreaterThan(0.1);
  });
});
