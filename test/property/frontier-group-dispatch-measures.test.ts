/** What `auto` of frontier-group-dispatch measures and plans, against sums over all that it was told. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addPoint,
  newFit,
  newPace,
  type Pace,
  remember,
  type StepCost,
  stepCost,
  trained,
} from '../../src/policies/frontier-group-dispatch/pace.ts';
import { modelledSeconds, planWidth } from '../../src/policies/frontier-group-dispatch/width.ts';
import { runs } from '../support/basics/runs.ts';

/** A completed response: its tokens and seconds, and requests and context in service around it. */
interface Point {
  readonly tokens: number;
  readonly seconds: number;
  readonly n: number;
  readonly c: number;
}

const point: fc.Arbitrary<Point> = fc
  .record({
    tokens: fc.integer({ min: 1, max: 4000 }),
    pace: fc.double({ min: 0.001, max: 0.1, noNaN: true }),
    n: fc.integer({ min: 1, max: 64 }),
    c: fc.integer({ min: 0, max: 50_000 }),
  })
  .map(({ tokens, pace, n, c }) => ({ tokens, seconds: tokens * pace, n, c }));
/** The same about a plane, so that both slopes are often above 0. */
const tilted = fc
  .record({
    points: fc.array(point, { minLength: 3, maxLength: 40 }),
    slope: fc.constantFrom(0, 1e-4, 1e-3, -1e-4),
    contextSlope: fc.constantFrom(0, 1e-7, 1e-6, -1e-7),
    noise: fc.constantFrom(0, 0.01, 0.3),
  })
  .map(({ points, slope, contextSlope, noise }) =>
    points.map((one) => {
      const pace = 0.07 + slope * one.n + contextSlope * one.c + noise * (one.seconds / one.tokens);
      return { ...one, seconds: one.tokens * Math.max(1e-4, pace) };
    }),
  );

/** Each point with the weight that it still has: its tokens, less for each that came later. */
const weighted = (points: readonly Point[]) =>
  points.map((one, at) => ({ ...one, weight: one.tokens * 0.99975 ** (points.length - 1 - at) }));

/** Solves a small system of linear equations; nothing where it has no one solution. */
function solved(rows: number[][]): number[] | undefined {
  const size = rows.length;
  for (let at = 0; at < size; at += 1) {
    const best = rows.reduce((most, row, index) => {
      return index >= at && Math.abs(row[at]!) > Math.abs(rows[most]![at]!) ? index : most;
    }, at);
    [rows[at], rows[best]] = [rows[best]!, rows[at]!];
    const pivot = rows[at]![at]!;
    if (Math.abs(pivot) < 1e-9) return undefined;
    for (const [index, row] of rows.entries()) {
      if (index === at) continue;
      const factor = row[at]! / pivot;
      for (let k = at; k <= size; k += 1) row[k]! -= factor * rows[at]![k]!;
    }
  }
  return rows.map((row, at) => row[size]! / row[at]!);
}

/** The plane of least squares over some of 1, requests and context (in thousands), by the normal equations. */
function regression(points: readonly Point[], uses: readonly boolean[]): Omit<StepCost, 'fastest'> | undefined {
  const columns = (one: Point) => [1, one.n, one.c / 1000].filter((_, at) => uses[at]);
  const all = weighted(points);
  const total = all.reduce((sum, one) => sum + one.weight, 0);
  const rows = columns(all[0]!).map((_, row) =>
    [...columns(all[0]!), 0].map((__, column) =>
      all.reduce((sum, one) => {
        const values = [...columns(one), one.seconds / one.tokens];
        return sum + (one.weight / total) * values[row]! * values[column]!;
      }, 0),
    ),
  );
  const found = solved(rows);
  if (found === undefined) return undefined;
  const [base = 0, slope = 0, context = 0] = uses.map((use) => (use ? found.shift()! : 0));
  return { base, slope, contextSlope: context / 1000 };
}

const error = (points: readonly Point[], { base, slope, contextSlope }: Omit<StepCost, 'fastest'>): number =>
  weighted(points).reduce((sum, { weight, tokens, seconds, n, c }) => {
    return sum + weight * (seconds / tokens - base - slope * n - contextSlope * c) ** 2;
  }, 0);

describe('what a token costs', () => {
  test('is the plane of least squares, or where a figure of it is below 0 the best of those without it', () => {
    fc.assert(
      fc.property(fc.oneof(tilted, fc.array(point, { minLength: 1, maxLength: 30 })), (points) => {
        const fit = newFit();
        for (const { tokens, seconds, n, c } of points) addPoint(fit, tokens, seconds, n, c);
        const found = stepCost(fit)!;
        expect(Math.min(found.base, found.slope, found.contextSlope)).toBeGreaterThanOrEqual(0);
        const planes = [
          [true, false, false],
          [true, true, false],
          [true, false, true],
          [true, true, true],
        ].flatMap((uses) => regression(points, uses) ?? []);
        const flat = planes[0]!;
        const mean = flat.base;
        const allowed = planes.filter((one) => Math.min(one.base, one.slope, one.contextSlope) >= 0);
        const least = Math.min(...allowed.map((one) => error(points, one)));
        const scale = error(points, { base: 0, slope: 0, contextSlope: 0 });
        expect(error(points, found)).toBeLessThanOrEqual(least + 1e-7 * scale);
        // It goes through the middle of the points, whatever it leans on.
        const all = weighted(points);
        const total = all.reduce((sum, one) => sum + one.weight, 0);
        const [n, c] = (['n', 'c'] as const).map(
          (key) => all.reduce((sum, one) => sum + one.weight * one[key], 0) / total,
        );
        expect(found.base + found.slope * n! + found.contextSlope * c!).toBeCloseTo(mean, 9);
      }),
      runs(400),
    );
  });

  test('has all of it for the requests where a base would be below 0, and is flat where nothing differs', () => {
    const cost = (points: readonly (readonly [n: number, pace: number])[]) => {
      const fit = newFit();
      for (const [n, pace] of points) addPoint(fit, 1000, 1000 * pace, n, 0);
      return stepCost(fit)!;
    };
    // Twice the requests, three times the seconds: a line through both would begin at -1.
    const steep = cost([
      [10, 1],
      [20, 3],
    ]);
    expect(steep.base).toBeCloseTo(0, 12);
    expect(steep.slope).toBeCloseTo(2 / 15, 3);
    const falling = cost([
      [10, 3],
      [20, 1],
    ]);
    expect(falling).toMatchObject({ base: expect.closeTo(2, 3), slope: 0, contextSlope: 0 });
    expect(cost([[10, 3]])).toMatchObject({ base: 3, slope: 0, contextSlope: 0, fastest: 3 });
    expect(stepCost(newFit())).toBeUndefined();
  });

  test('knows the fastest response, and forgets it slowly', () => {
    const fit = newFit();
    for (const pace of [0.5, 0.2, 0.9]) addPoint(fit, 100, 100 * pace, 1, 1);
    expect(fit.fastest).toBeCloseTo(0.2 / 0.99975, 9);
    for (let index = 0; index < 4000; index += 1) addPoint(fit, 100, 90, 1, 1);
    expect(fit.fastest).toBeCloseTo(0.2 / 0.99975 ** 4001, 9);
    addPoint(fit, 100, 10, 1, 1);
    expect(fit.fastest).toBe(0.1);
  });
});

/** What is known where every group has the same lengths, and the engines cost this. */
function paceOf(
  lengths: readonly number[],
  groups: number,
  step: Omit<StepCost, 'fastest'>,
  trainSeconds: number,
): Pace {
  const pace = newPace(1);
  for (let group = 0; group < groups; group += 1) remember(pace, [...lengths]);
  // Four points of the plane, so that it is found again.
  for (const [n, c] of [
    [10, 100],
    [20, 100],
    [10, 900],
    [40, 400],
  ] as const) {
    addPoint(pace.fit, 1000, 1000 * (step.base + step.slope * n + step.contextSlope * c), n, c);
  }
  pace.trainer = { busySeconds: 3 * trainSeconds, groups: 3 };
  return pace;
}

test('10: a plan is the widest of the widths within half a per cent of the best, of widths 15 % apart', () => {
  const given = fc.record({
    lengths: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 6 }),
    known: fc.integer({ min: 4, max: 9 }),
    groups: fc.integer({ min: 1, max: 60 }),
    groupsPerUpdate: fc.integer({ min: 1, max: 4 }),
    narrowest: fc.integer({ min: 1, max: 70 }),
    slope: fc.constantFrom(0, 1e-4, 1e-3, 1e-2),
    contextSlope: fc.constantFrom(0, 1e-6, 1e-5),
    trainShare: fc.constantFrom(0, 0.2, 1, 3),
  });
  fc.assert(
    fc.property(given, ({ lengths, known, groups, groupsPerUpdate, narrowest, slope, contextSlope, trainShare }) => {
      const tokens = lengths.reduce((sum, one) => sum + one, 0);
      const trainSeconds = 0.02 * tokens * trainShare;
      const pace = paceOf(lengths, known, { base: 0.01, slope, contextSlope }, trainSeconds);
      const plan = planWidth(pace, { groups, groupsPerUpdate, narrowest })!;
      const step = stepCost(pace.fit)!;
      expect(step.slope).toBeCloseTo(slope, 6);
      const round = {
        groups,
        groupsPerUpdate,
        step,
        trainSecondsPerToken: trainSeconds / tokens,
        lengths: () => lengths,
      };
      const seconds = Array.from({ length: groups }, (_, at) => modelledSeconds(round, at + 1));
      const from = Math.min(groups, narrowest);
      const tried = [from];
      for (let width = from; width < groups; ) {
        width = Math.min(groups, Math.max(width + 1, Math.round(width * 1.15)));
        tried.push(width);
      }
      const best = Math.min(...tried.map((width) => seconds[width - 1]!));
      const widest = Math.max(...tried.filter((width) => seconds[width - 1]! <= best * 1.005));
      expect(plan.width).toBe(widest);
      expect(plan.expectedSeconds).toBeCloseTo(seconds[widest - 1]!, 6);
      expect(plan).toMatchObject({ step, trainSecondsPerGroup: expect.closeTo(trainSeconds, 9) });
    }),
    runs(200),
  );
});

test('9: a round of more than 2,048 requests is planned as its beginning, and all at once stands for all of it', () => {
  const step = { base: 0.01, slope: 0, contextSlope: 0 };
  const size = { groupsPerUpdate: 1, narrowest: 1 };
  // 16 responses a group: 128 groups are modelled.
  const pace = paceOf(
    Array.from({ length: 16 }, () => 10),
    8,
    step,
    0,
  );
  const [exact, beyond] = [128, 500].map((groups) => planWidth(pace, { ...size, groups })!);
  expect(exact!.width).toBe(128);
  expect(beyond).toEqual({ ...exact, width: 500 });
  // Four groups must be known, and a response.
  expect(planWidth(paceOf([5], 3, step, 0), { ...size, groups: 2 })).toBeUndefined();
  expect(planWidth({ ...pace, fit: newFit() }, { ...size, groups: 2 })).toBeUndefined();
  // One group of more requests than are modelled is modelled all the same.
  expect(planWidth({ ...pace, lengthCount: 8 * 4096 }, { ...size, groups: 3 })!.width).toBe(3);
});

describe('what the trainer does', () => {
  interface Report {
    readonly at: number;
    readonly seconds: number;
    readonly groups: number;
  }
  const reports = fc
    .array(
      fc.record({ after: fc.integer({ min: 0, max: 9 }), seconds: fc.integer({ min: 0, max: 12 }), groups: fc.nat(3) }),
      {
        minLength: 1,
        maxLength: 30,
      },
    )
    .map((all) => {
      let at = 20;
      return all.map(({ after, seconds, groups }): Report => ({ at: (at += after), seconds, groups }));
    });
  const told = (all: readonly Report[], isBehind: boolean, served = 0) => {
    const pace = newPace(1);
    pace.round.served = served;
    for (const { at, seconds, groups } of all) trained(pace, groups, seconds, { at, isBehind, groupsPerUpdate: 1 });
    return pace;
  };

  test('every second from its first work on is work or a wait, replicas side by side count once', () => {
    fc.assert(
      fc.property(reports, (all) => {
        const { round, trainer } = told(all, true);
        // Second by second: one is worked in if a report that ends last before or with it covers it.
        let [busy, waited] = [0, 0];
        for (const [index, { at, seconds }] of all.entries()) {
          const before = all[index - 1]?.at ?? at - seconds;
          for (let second = before; second < at; second += 1) {
            if (second >= at - seconds) busy += 1;
            else waited += 1;
          }
        }
        expect(round).toMatchObject({ busySeconds: busy, waitedSeconds: waited, reports: all.length });
        expect(round.busySeconds + round.waitedSeconds).toBe(all.at(-1)!.at - (all[0]!.at - all[0]!.seconds));
        const groups = all.reduce((sum, one) => sum + one.groups, 0);
        expect(round).toMatchObject({ trained: groups, consumed: groups });
        // What it takes for a group: earlier reports count 2 % less with each.
        const faded = all.reduce((sum, one) => sum * 0.98 + one.groups, 0);
        expect(trainer.groups).toBeCloseTo(faded, 9);
      }),
      runs(200),
    );
  });

  test('with groups for another update at hand a wait is work that it does not report; without a queue neither counts', () => {
    fc.assert(
      fc.property(reports, (all) => {
        // So many have left that there is always another update.
        const { round } = told(all, true, 1000);
        expect(round.waitedSeconds).toBe(0);
        expect(round.busySeconds).toBe(all.at(-1)!.at - (all[0]!.at - all[0]!.seconds));
        expect(told(all, false).round).toMatchObject({ waitedSeconds: 0, busySeconds: 0, trained: 0, reports: 0 });
        expect(told(all, false).round.consumed).toBe(all.reduce((sum, one) => sum + one.groups, 0));
        expect(told(all, false).trainer).toEqual(told(all, true).trainer);
      }),
      runs(200),
    );
  });

  test('another update is at hand with twice its groups: the last of them may be without rewards', () => {
    const supplied = (served: number) => {
      const pace = newPace(1);
      pace.round.served = served;
      trained(pace, 3, 1, { at: 10, isBehind: true, groupsPerUpdate: 3 });
      return pace.round.isSupplied;
    };
    expect([3, 8, 9, 10].map(supplied)).toEqual([false, false, true, true]);
  });
});
