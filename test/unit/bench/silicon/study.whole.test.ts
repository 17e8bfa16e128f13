/** The constants that ship are those of the fit, which takes seconds. */
import { expect, test } from 'vitest';
import { fitted, namedValues } from '../../../../bench/scorecard/silicon/fit.ts';
import { fittedPoints, readPoints } from '../../../../bench/scorecard/silicon/points.ts';
import { pointsFile } from '../../../../bench/scorecard/silicon/study.ts';
import { siliconConstants } from '../../../../src/sim/silicon/constants.ts';

const { points } = readPoints(pointsFile);

test('the constants that ship are what the fit gives, within 1 %', () => {
  const known = fittedPoints(points);
  const found = namedValues(fitted(known));
  for (const [name, value] of Object.entries(namedValues(siliconConstants))) {
    expect(Math.abs(found[name]! / value - 1), name).toBeLessThan(0.01);
  }
});
