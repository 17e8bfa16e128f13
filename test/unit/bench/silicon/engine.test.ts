/** The study of a real engine: what is told of it is told of rollouts that calibrated nothing. */
import { expect, test } from 'vitest';
import { resultsOf, secondsOf } from '../../../../bench/real/engine/predict.ts';
import { drawnSizes } from '../../../../bench/real/engine/rollouts.ts';
import { keptEngineStudy } from '../../../../bench/real/engine/study.ts';

const study = keptEngineStudy();

test('the rollouts are those that were drawn, and none of them is of the load that calibrates', () => {
  expect(study.rollouts.map(({ sizes }) => sizes)).toEqual(study.rollouts.map((_, index) => drawnSizes(index + 1)));
  const before = study.before.map(({ sizes }) => JSON.stringify(sizes));
  for (const { sizes, endSeconds } of study.rollouts) {
    expect(before).not.toContain(JSON.stringify(sizes));
    expect(endSeconds).toHaveLength(sizes.length);
  }
});

test('a calibration is nearer than none, in each part of a rollout', () => {
  const [modelled, calibrated] = resultsOf(study).rows.map(([, by]) => by);
  for (const part of ['all', 'draining', 'tail'] as const)
    expect(calibrated![part].medianError).toBeLessThan(modelled![part].medianError);
});

test('the parts of a rollout: draining is since 16 are left, the tail since fewer than 8 are', () => {
  const ends = Array.from({ length: 20 }, (_, index) => index + 1);
  expect(secondsOf(ends)).toEqual({ all: 20, draining: 16, tail: 7 });
});
