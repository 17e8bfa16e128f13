/** No other constants fit better, and the study that was kept is of those that ship; `study.whole.test.ts` fits them anew. */
import { expect, test } from 'vitest';
import { lossOf } from '../../../../bench/scorecard/silicon/fit.ts';
import { fittedPoints, readPoints } from '../../../../bench/scorecard/silicon/points.ts';
import { keptStudy, pointsFile, quickStudy, rounded } from '../../../../bench/scorecard/silicon/study.ts';
import { siliconConstants } from '../../../../src/sim/silicon/constants.ts';

const { points, refused } = readPoints(pointsFile);

test('every line of the file is read', () => {
  expect(refused).toEqual([]);
  expect(points).toHaveLength(1533);
});

test('no constant that is determined can be moved by a tenth without a worse fit', () => {
  const known = fittedPoints(points);
  const least = lossOf(known, siliconConstants);
  for (const name of ['kvBandwidth', 'linkBandwidth', 'layerSeconds', 'sequenceSeconds', 'interference'] as const) {
    for (const factor of [0.9, 1.1]) {
      const moved = lossOf(known, { ...siliconConstants, [name]: factor * siliconConstants[name] });
      expect(moved, name).toBeGreaterThan(least);
    }
  }
});

test('the study that was kept is of the constants that ship (npm run scorecard -- silicon --write)', () => {
  const now = rounded(quickStudy(points));
  expect(keptStudy()).toMatchObject(now);
});

test('errors on runs that the fit did not see', () => {
  const { configuration, family } = keptStudy().leftOut;
  expect(configuration.undoubted!.tpot.mape).toBeLessThan(0.16);
  expect(configuration.undoubted!.tpot.within25).toBeGreaterThan(0.8);
  expect(configuration.undoubted!.tpot.tau).toBeGreaterThan(0.8);
  expect(family.undoubted!.tpot.mape).toBeLessThan(0.17);
});

test('choices on machines that the fit did not see: seldom the worse one, and in order where they are no tie', () => {
  for (const { near, regret, ordered } of keptStudy().onSite.ranking) {
    expect(near).toBeGreaterThanOrEqual(0.9);
    expect(regret.most).toBeLessThan(0.05);
    expect(ordered).toBeGreaterThan(0.9);
  }
});
