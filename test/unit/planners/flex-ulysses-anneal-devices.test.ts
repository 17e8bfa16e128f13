/** Annealing over devices: what a step may do, how often it does, and where it ends when it is cold. */
import { describe, expect, test } from 'vitest';
import { annealDevices } from '../../../src/planners/flex-ulysses/search/anneal-devices.ts';
import { construct } from '../../../src/planners/flex-ulysses/search/construct.ts';
import { Layout } from '../../../src/planners/flex-ulysses/search/layout.ts';
import type { Problem } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import { range } from '../../support/basics/numbers.ts';
import {
  cold,
  drawProblem,
  HeardSequence,
  hot,
  type Places,
  rounded,
  tally,
} from '../../support/placement/problems.ts';

describe('over devices', () => {
  /** What an annealing makes small. */
  const energy = (problem: Problem, places: Places, price: number): number => {
    const { cost, over } = tally(problem, places);
    return cost + price * over;
  };
  const check = (layout: Layout): void => {
    const { work, memory, cost } = tally(layout.problem, layout);
    expect(rounded(layout.work)).toEqual(rounded(work));
    expect(rounded(layout.memory)).toEqual(rounded(memory));
    expect(layout.cost).toBeCloseTo(cost, 7);
    range(layout.problem.items).forEach((item) => {
      expect(layout.level[item]).toBeGreaterThanOrEqual(layout.problem.least[item]!);
      expect(layout.level[item]).toBeLessThan(layout.problem.levels);
      expect(layout.group[item]).toBeLessThan(layout.problem.devices >> layout.level[item]!);
    });
  };

  /** All layouts that one step could make of one. */
  function* neighbours({ items, levels, devices, least }: Problem, { level, group }: Places): Generator<Places> {
    const changed = (changes: readonly (readonly [item: number, level: number, group: number])[]): Places => {
      const next = { level: Array.from(level), group: Array.from(group) };
      for (const [item, to, there] of changes) {
        next.level[item] = to;
        next.group[item] = there;
      }
      return next;
    };
    for (let item = 0; item < items; item += 1) {
      for (let to = least[item]!; to < levels; to += 1)
        for (let there = 0; there < devices >> to; there += 1) yield changed([[item, to, there]]);
      for (let other = 0; other < item; other += 1) {
        if (level[other]! < least[item]! || level[item]! < least[other]!) continue;
        yield changed([
          [item, level[other]!, group[other]!],
          [other, level[item]!, group[item]!],
        ]);
      }
    }
  }

  const shapes = [
    { items: 7, devices: 4, top: 4, work: 0.85, memory: 0.5, ratio: 6, seed: 1 },
    { items: 8, devices: 8, top: 4, work: 0.8, memory: 0.8, ratio: 5, seed: 2 },
    { items: 9, devices: 4, top: 2, work: 0.5, memory: 0.95, ratio: 9, seed: 3 },
    { items: 10, devices: 8, top: 8, work: 0.95, memory: 0.9, ratio: 30, seed: 4 },
  ];

  test.each(shapes)('when it is cold nothing gets worse, and in the end no step makes it better: %j', (shape) => {
    const problem = drawProblem(shape);
    for (const price of [0.5, 50]) {
      const layout = new Layout(problem);
      construct(layout, 2, 0);
      let before = energy(problem, layout, price);
      const random = new HeardSequence(shape.seed);
      random.heard = () => {
        const now = energy(problem, layout, price);
        if (now > before + 1e-9) throw new Error(`from ${before} to ${now}`);
        before = now;
      };
      annealDevices(layout, cold(price, 1500), random);
      check(layout);
      annealDevices(layout, cold(price, 40_000), new Sequence(shape.seed));
      check(layout);
      const end = energy(problem, layout, price);
      for (const next of neighbours(problem, layout)) {
        expect(energy(problem, next, price)).toBeGreaterThanOrEqual(end - 1e-8);
      }
    }
  });

  test.each(shapes)(
    'it returns the cheapest layout on its way that keeps the limits, the first one included: %j',
    (shape) => {
      const problem = drawProblem({ ...shape, work: 0.6, memory: 0.6 });
      const layout = new Layout(problem);
      for (const price of [0.2, 3]) {
        construct(layout, problem.items, 0);
        let cheapest = Number.POSITIVE_INFINITY;
        const random = new HeardSequence(shape.seed);
        random.heard = () => {
          const { fits, cost } = tally(problem, layout);
          if (fits) cheapest = Math.min(cheapest, cost);
        };
        const schedule = { steps: 3000, temperature: [2, 0.05], price: [price, price] } as const;
        const found = annealDevices(layout, schedule, random);
        random.heard();
        expect(found === undefined).toBe(cheapest === Number.POSITIVE_INFINITY);
        if (found === undefined) continue;
        const { cost, fits } = tally(problem, found);
        expect(fits).toBe(true);
        expect(found.cost).toBeCloseTo(cost, 7);
        expect(found.cost).toBeCloseTo(cheapest, 7);
      }
    },
  );

  test('it returns nothing where no layout on its way keeps the limits', () => {
    const layout = new Layout(drawProblem({ items: 12, devices: 4, top: 2, work: 1.01, memory: 0.5, seed: 1 }));
    construct(layout, 0, 0);
    expect(annealDevices(layout, cold(100, 2000), new Sequence(1))).toBeUndefined();
    const full = new Layout(drawProblem({ items: 12, devices: 4, top: 2, work: 0.5, memory: 1.01, seed: 1 }));
    construct(full, 0, 0);
    expect(annealDevices(full, cold(100, 2000), new Sequence(1))).toBeUndefined();
  });

  test('frozen, no degree changes, and whole items still find their places', () => {
    const problem = drawProblem({ items: 12, devices: 4, top: 4, work: 0.9, memory: 0.5, ratio: 4, seed: 8 });
    const layout = new Layout(problem);
    construct(layout, 2, 0);
    const { level } = layout.keep();
    for (const item of range(problem.items)) if (level[item] === 0) layout.put(item, 0, 0);
    const { over } = tally(problem, layout);
    annealDevices(layout, { ...hot(5000), frozen: 'items' }, new Sequence(1));
    expect(layout.level).toEqual(level);
    annealDevices(layout, { ...cold(1, 40_000), frozen: 'items' }, new Sequence(1));
    expect(layout.level).toEqual(level);
    expect(tally(problem, layout).over).toBeLessThan(over / 20);
  });

  describe('when it is so hot that all steps are taken', () => {
    const problem = drawProblem({ items: 40, devices: 16, top: 8, work: 0.5, memory: 0.5, ratio: 50, seed: 6 });
    const { devices, levels } = problem;
    /** What one step did: which items are elsewhere after it, and how all was before. */
    interface Step {
      readonly items: readonly number[];
      readonly level: Uint8Array;
      readonly group: Int32Array;
      readonly work: readonly number[];
    }
    const share = (part: readonly unknown[], of: readonly unknown[]) => part.length / of.length;
    type Taken = Step & { readonly after: Places };
    const isChange = ({ items: [one], level, after }: Taken) => level[one!] !== after.level[one!];
    const stepsTaken = () => {
      const layout = new Layout(problem);
      construct(layout, 8, 0);
      const steps: Taken[] = [];
      let before = layout.keep();
      const random = new HeardSequence(2);
      random.heard = () => {
        const moved = problem.sequence.filter(
          (item) => layout.level[item] !== before.level[item] || layout.group[item] !== before.group[item],
        );
        if (moved.length === 0) return;
        const after = layout.keep();
        steps.push({ ...before, items: moved, work: tally(problem, before).work, after });
        before = after;
      };
      annealDevices(layout, hot(10_000), random);
      const single = steps.filter((step) => step.items.length === 1);
      return {
        steps,
        changes: single.filter(isChange),
        moves: single.filter((step) => !isChange(step)),
        exchanges: steps.filter((step) => step.items.length === 2),
      };
    };
    let known: ReturnType<typeof stepsTaken> | undefined;
    /** The steps that were taken, by their kinds: for the first test that asks, and all others. */
    const taken = () => (known ??= stepsTaken());

    test('a step changes the degree of one item, moves one, or exchanges two, about as 64 to 38 to 154', () => {
      const { steps, changes, moves, exchanges } = taken();
      expect(changes.length + moves.length + exchanges.length).toBe(steps.length);
      // Changes and moves that lead nowhere are not seen, nor exchanges with a partner that is not there.
      expect(Math.abs(share(changes, steps) - 0.285)).toBeLessThan(0.05);
      expect(Math.abs(share(moves, steps) - 0.15)).toBeLessThan(0.05);
      for (const {
        items: [one, other],
        level,
        group,
        after,
      } of exchanges) {
        expect([after.level[one!], after.group[one!]]).toEqual([level[other!], group[other!]]);
        expect([after.level[other!], after.group[other!]]).toEqual([level[one!], group[one!]]);
      }
    });

    test('of the changes of degree of a whole item most spread it over a top group, and half stay where it was', () => {
      const { changes } = taken();
      const whole = changes.filter(({ items: [one], level }) => level[one!] === 0);
      const toTop = whole.filter(({ items: [one], after }) => after.level[one!] === levels - 1);
      expect(share(toTop, whole)).toBeGreaterThan(0.9);
      const spread = changes.filter(({ items: [one], level }) => level[one!] === levels - 1);
      const toWhole = spread.filter(({ items: [one], after }) => after.level[one!] === 0);
      expect(share(toWhole, spread)).toBeGreaterThan(0.9);
      for (const between of range(levels))
        expect(changes.some(({ items: [one], after }) => after.level[one!] === between)).toBe(true);
      /** Whether the two groups have a device in common. */
      const stays = ({ items: [one], level, group, after }: Taken) => {
        const [from, to] = [level[one!]!, after.level[one!]!];
        const [a, b] = [group[one!]! << from, after.group[one!]! << to];
        return a < b + 2 ** to && b < a + 2 ** from;
      };
      // Of the other half, a top group is the same by chance in one of two cases.
      expect(Math.abs(share(toTop.filter(stays), toTop) - 0.75)).toBeLessThan(0.06);
      expect(Math.abs(share(toWhole.filter(stays), toWhole) - 0.73)).toBeLessThan(0.06);
      const reached = new Set(toWhole.map(({ items: [one], after }) => after.group[one!]));
      expect(reached.size).toBe(devices);
    });

    test('a whole item goes to the less loaded of two devices: seldom to one with more than most', () => {
      const { moves } = taken();
      const rank = ({ items: [one], work, after }: Taken) =>
        work.filter((load) => load < work[after.group[one!]!]!).length / (devices - 1);
      const ranks = moves.filter(({ items: [one], level }) => level[one!] === 0).map(rank);
      const mean = ranks.reduce((sum, one) => sum + one, 0) / ranks.length;
      // The mean of the smaller of two random ranks is a third.
      expect(Math.abs(mean - 1 / 3)).toBeLessThan(0.06);
    });

    test('half of the partners of a whole item are such that they bring its device to its limit, as far as work goes', () => {
      const { exchanges } = taken();
      /** The first item that has no more work than what would bring the device of another one to its limit. */
      const wanted = (one: number, { group, work }: Step): number => {
        const most = problem.work[one]! - work[group[one]!]! + 1;
        return problem.work.filter((own) => own > most).length;
      };
      const whole = exchanges.filter((step) => step.items.every((one) => step.level[one] === 0));
      const hits = whole.filter((step) => {
        const [one, other] = step.items as [number, number];
        return Math.abs(other - wanted(one, step)) <= 3 || Math.abs(one - wanted(other, step)) <= 3;
      });
      expect(share(hits, whole)).toBeGreaterThan(0.5);
      const far = exchanges.filter(({ items: [one, other] }) => Math.abs(one! - other!) > 8);
      expect(share(far, exchanges)).toBeGreaterThan(0.1);
    });
  });
});
