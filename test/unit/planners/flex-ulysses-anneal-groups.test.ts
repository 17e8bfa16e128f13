/** Annealing over top groups: what a step may do, how often it does, and where it ends when it is cold. */
import { describe, expect, test } from 'vitest';
import { annealGroups } from '../../../src/planners/flex-ulysses/search/anneal-groups.ts';
import { constructGroups } from '../../../src/planners/flex-ulysses/search/construct.ts';
import { GroupLayout } from '../../../src/planners/flex-ulysses/search/group-layout.ts';
import { Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import { range } from '../../support/basics/numbers.ts';
import { cold, drawProblem, HeardSequence, hot } from '../../support/placement/problems.ts';

describe('over top groups', () => {
  /** The same layout, summed up from scratch. */
  const scratchOf = (layout: GroupLayout, { group, spread }: Pick<GroupLayout, 'group' | 'spread'> = layout) => {
    const scratch = new GroupLayout(layout.problem);
    scratch.surplusWeight = layout.surplusWeight;
    for (const item of range(layout.problem.items)) scratch.put(item, group[item]!, spread[item]!);
    scratch.measure();
    return scratch;
  };
  const energy = (layout: GroupLayout, price: number): number => {
    const { cost, overall } = scratchOf(layout);
    return cost + price * overall;
  };
  const check = (layout: GroupLayout): void => {
    const scratch = scratchOf(layout);
    expect(layout.cost).toBeCloseTo(scratch.cost, 7);
    expect(layout.overall).toBeCloseTo(scratch.overall, 7);
    range(layout.problem.groups).forEach((group) => {
      for (const [name, value] of Object.entries(scratch.loads[group]!)) {
        expect(layout.loads[group]![name as 'over'], name).toBeCloseTo(value, 7);
      }
      expect([...layout.wholeOf(group)]).toEqual([...scratch.wholeOf(group)]);
    });
    for (const item of range(layout.problem.items)) {
      if (layout.problem.least[item]! > 0) expect(layout.spread[item]).toBe(1);
    }
  };

  /** Layouts that one step could make of one. */
  function* neighbours(layout: GroupLayout): Generator<GroupLayout> {
    const { problem } = layout;
    const { items, groups, least, top } = problem;
    const changed = (changes: readonly (readonly [item: number, group: number, spread: number])[]): GroupLayout => {
      const group = layout.group.slice();
      const spread = layout.spread.slice();
      for (const [item, to, how] of changes) {
        group[item] = to;
        spread[item] = how;
      }
      return scratchOf(layout, { group, spread });
    };
    for (const item of range(items)) {
      const now = layout.spread[item]!;
      for (const to of range(groups)) {
        yield changed([[item, to, now]]);
        if (now === 0 || least[item] === 0) yield changed([[item, to, 1 - now]]);
      }
      for (const other of range(item)) {
        const theirs = layout.spread[other]!;
        if ((now === 0 && least[other]! > 0) || (theirs === 0 && least[item]! > 0)) continue;
        yield changed([
          [item, layout.group[other]!, theirs],
          [other, layout.group[item]!, now],
        ]);
      }
      if (now === 1 && least[item]! > 0) continue;
      const alike = range(items).filter(
        (one) =>
          one >= item &&
          layout.group[one] === layout.group[item] &&
          layout.spread[one] === now &&
          (now === 0 || least[one] === 0),
      );
      for (let count = 2; count <= Math.min(top, alike.length); count += 1) {
        yield changed(alike.slice(0, count).map((one) => [one, layout.group[item]!, 1 - now] as const));
      }
    }
  }

  const shapes = [
    { items: 10, devices: 8, top: 4, work: 0.9, memory: 0.5, ratio: 6, surplusWeight: 0, seed: 1 },
    { items: 12, devices: 8, top: 2, work: 0.6, memory: 0.95, ratio: 9, surplusWeight: 0, seed: 2 },
    { items: 14, devices: 8, top: 4, work: 0.85, memory: 0.9, ratio: 20, surplusWeight: 2, seed: 3 },
    { items: 16, devices: 16, top: 4, work: 0.9, memory: 0.9, ratio: 40, surplusWeight: 0.5, seed: 4 },
  ];

  test.each(shapes)('when it is cold nothing gets worse, and in the end no step makes it better: %j', (shape) => {
    const problem = drawProblem(shape);
    for (const price of [0.5, 50]) {
      for (const flat of [false, true]) {
        const layout = new GroupLayout(problem);
        layout.surplusWeight = shape.surplusWeight;
        if (flat) for (const item of range(problem.items)) layout.put(item, item % problem.groups, 1);
        else constructGroups(layout, 0);
        layout.measure();
        let before = energy(layout, price);
        const random = new HeardSequence(shape.seed);
        random.heard = () => {
          const now = energy(layout, price);
          if (now > before + 1e-9) throw new Error(`from ${before} to ${now}`);
          before = now;
        };
        annealGroups(layout, cold(price, 1000), random);
        check(layout);
        annealGroups(layout, cold(price, 30_000), new Sequence(shape.seed));
        check(layout);
        const end = energy(layout, price);
        for (const next of neighbours(layout))
          expect(next.cost + price * next.overall).toBeGreaterThanOrEqual(end - 1e-8);
      }
    }
  });

  test.each(shapes)('it returns the cheapest layout on its way that keeps the limits: %j', (shape) => {
    const problem = drawProblem({ ...shape, work: 0.6, memory: 0.6 });
    for (const price of [0.2, 3]) {
      const layout = new GroupLayout(problem);
      for (const item of range(problem.items)) layout.put(item, item % problem.groups, 1);
      const start = scratchOf(layout).cost;
      let cheapest = Number.POSITIVE_INFINITY;
      const random = new HeardSequence(shape.seed);
      random.heard = () => {
        const { cost, overall } = scratchOf(layout);
        if (overall < 1e-9) cheapest = Math.min(cheapest, cost);
      };
      const found = annealGroups(layout, { steps: 2000, temperature: [2, 0.05], price: [price, price] }, random)!;
      random.heard();
      expect(cheapest).toBeLessThan(start);
      const { cost, overall } = scratchOf(layout, found);
      expect(overall).toBeLessThan(1e-9);
      expect(found.cost).toBeCloseTo(cost, 7);
      expect(found.cost).toBeCloseTo(cheapest, 7);
    }
  });

  test('it returns nothing where no layout on its way keeps the limits', () => {
    const layout = new GroupLayout(drawProblem({ items: 12, devices: 4, top: 2, work: 1.01, memory: 0.5, seed: 1 }));
    constructGroups(layout, 0);
    expect(annealGroups(layout, cold(100, 2000), new Sequence(1))).toBeUndefined();
  });

  test('when it is so hot that all steps are taken, it turns layers, turns and moves items, and exchanges them', () => {
    const problem = drawProblem({ items: 80, devices: 16, top: 4, work: 0.5, memory: 0.5, ratio: 5, seed: 6 });
    const { items, top } = problem;
    const layout = new GroupLayout(problem);
    constructGroups(layout, 0);
    const kinds = { layer: 0, turn: 0, turnAway: 0, move: 0, exchange: 0, near: 0, full: 0 };
    let before = { group: layout.group.slice(), spread: layout.spread.slice() };
    const random = new HeardSequence(2);
    random.heard = () => {
      const elsewhere = range(items).filter((item) => layout.group[item] !== before.group[item]);
      const turned = range(items).filter((item) => layout.spread[item] !== before.spread[item]);
      const [one, other] = [...new Set([...elsewhere, ...turned])];
      if (one === undefined) return;
      if (turned.length > 1 && new Set(turned.map((item) => before.spread[item])).size === 1) {
        kinds.layer += 1;
        if (turned.length === top) kinds.full += 1;
        expect(turned.length).toBeLessThanOrEqual(top);
        expect(elsewhere).toEqual([]);
        // They stand beside each other among those of their kind.
        const alike = range(items).filter(
          (item) => before.group[item] === before.group[one] && before.spread[item] === before.spread[one],
        );
        expect(alike.slice(alike.indexOf(one)).slice(0, turned.length)).toEqual(turned);
      } else if (other !== undefined) {
        kinds.exchange += 1;
        if (Math.abs(one - other) <= 8) kinds.near += 1;
        expect([layout.group[one], layout.spread[one]]).toEqual([before.group[other], before.spread[other]]);
        expect([layout.group[other], layout.spread[other]]).toEqual([before.group[one], before.spread[one]]);
      } else if (turned.length === 0) kinds.move += 1;
      else if (elsewhere.length === 0) kinds.turn += 1;
      else kinds.turnAway += 1;
      before = { group: layout.group.slice(), spread: layout.spread.slice() };
    };
    annealGroups(layout, hot(10_000), random);
    const all = kinds.layer + kinds.turn + kinds.turnAway + kinds.move + kinds.exchange;
    const share = (count: number, of = all) => count / of;
    expect(Math.abs(share(kinds.layer) - 0.25)).toBeLessThan(0.04);
    // Of those of one item, half stay in their group; of the moves to any of four groups a quarter leads nowhere.
    expect(Math.abs(share(kinds.turn) - 0.1)).toBeLessThan(0.03);
    expect(Math.abs(share(kinds.turnAway) - 0.07)).toBeLessThan(0.03);
    expect(Math.abs(share(kinds.move) - 0.13)).toBeLessThan(0.04);
    expect(Math.abs(share(kinds.full, kinds.layer) - 0.75)).toBeLessThan(0.1);
    // 76 of 116 exchanges are of neighbours.
    expect(Math.abs(share(kinds.near, kinds.exchange) - 0.7)).toBeLessThan(0.1);
  });
});
