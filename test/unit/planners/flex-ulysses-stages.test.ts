/** Two parts of the search of flex-ulysses: filling devices anew, and rebuilding what is over in an earlier plan. */
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../../src/index.ts';
import { instanceOf } from '../../../src/planners/flex-ulysses/instance.ts';
import { flexUlyssesInput } from '../../../src/planners/flex-ulysses/schema.ts';
import { complete } from '../../../src/planners/flex-ulysses/search/complete.ts';
import { construct } from '../../../src/planners/flex-ulysses/search/construct.ts';
import { Layout } from '../../../src/planners/flex-ulysses/search/layout.ts';
import { lowerStrays, putPrevious, rebuild } from '../../../src/planners/flex-ulysses/search/previous.ts';
import { problemOf } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import { familyLengths } from '../../support/placement/families.ts';
import { inputOf, knownInstances } from '../../support/placement/instances.ts';

describe('filling devices anew', () => {
  const known = knownInstances.find(({ id }) => id === 'd12_48')!;
  const layoutAt = (tolerance: number): Layout => {
    const instance = instanceOf(flexUlyssesInput.parse(inputOf(known)));
    const limit = (1 + tolerance) * known.bestCompute;
    const layout = new Layout(problemOf(instance, limit, known.memoryCapTokens));
    construct(layout, 2, 0);
    return layout;
  };

  test('four sequences fill each of twelve devices to a tenth of a percent', () => {
    const layout = layoutAt(0.001);
    const { level, cost } = layout.keep();
    expect(layout.fits()).toBe(false);
    expect(complete(layout, 50_000_000, new Sequence(1)).done).toBe(true);
    expect(layout.fits()).toBe(true);
    expect(layout.level).toEqual(level);
    expect(layout.cost).toBeCloseTo(cost, 9);
  });

  test('where the work does not fit, or the budget is spent, all stays where it was', () => {
    for (const [tolerance, budget] of [
      [-0.01, 1e9],
      [0.001, 1000],
    ] as const) {
      const layout = layoutAt(tolerance);
      const before = layout.keep();
      const { done, left } = complete(layout, budget, new Sequence(1));
      expect(done).toBe(false);
      expect(left > 0).toBe(tolerance < 0);
      expect(layout.keep()).toEqual(before);
    }
  });
});

describe('rebuilding an earlier plan', () => {
  test.each(['video-heavy', 'only-video'] as const)('%s: a few devices that are over are filled again', (family) => {
    const lengths = familyLengths(family, 1, 2048);
    const previous = runPlanner(flexUlysses, { lengths, devices: 256, effort: 'fast' });
    const others = familyLengths(family, 2, 32);
    const changed = lengths.map((length, at) => others[at / 50] ?? length);
    const instance = instanceOf(flexUlyssesInput.parse({ lengths: changed, devices: 256 }));
    const layout = new Layout(problemOf(instance, previous.limits.compute * 1.02, previous.limits.memoryTokens * 1.02));
    putPrevious(layout, previous);
    const over = layout.over();
    expect(over).toBeGreaterThan(0);
    lowerStrays(layout);
    rebuild(layout);
    expect(layout.fits()).toBe(true);
    expect(layout.group.every((group) => group >= 0)).toBe(true);
  });
});
