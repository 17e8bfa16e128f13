/** The annealings of flex-ulysses: what a step may do, how often it does, and where it ends when it is cold. */
import { describe, expect, test } from 'vitest';
import { annealDevices } from '../../../src/planners/flex-ulysses/search/anneal-devices.ts';
import { annealGroups } from '../../../src/planners/flex-ulysses/search/anneal-groups.ts';
import { construct, constructGroups } from '../../../src/planners/flex-ulysses/search/construct.ts';
import { GroupLayout } from '../../../src/planners/flex-ulysses/search/group-layout.ts';
import { Layout } from '../../../src/planners/flex-ulysses/search/layout.ts';
import type { Problem } from '../../../src/planners/flex-ulysses/search/problem.ts';
import { climb, Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import { Annealing, type Schedule } from '../../../src/planners/flex-ulysses/search/schedule.ts';
import { drawProblem, HeardSequence, type Places, rounded, tally } from '../../support/placement-problems.ts';

const range = (count: number): number[] => Array.from({ length: count }, (_, one) => one);
/** So cold that no step is taken that makes things worse, and so hot that any is. */
const cold = (price: number, steps: number): Schedule => ({
  steps,
  temperature: [1e-15, 1e-15],
  price: [price, price],
});
const hot = (steps: number): Schedule => ({ steps, temperature: [1e9, 1e9], price: [1, 1] });

describe('random numbers', () => {
  test('every number below n comes about as often as the others, the same again for the same seed', () => {
    const [one, same, other] = [new Sequence(5), new Sequence(5), new Sequence(6)];
    const counts = new Array<number>(7).fill(0);
    let agree = 0;
    let repeats = 0;
    for (let draw = 0; draw < 70_000; draw += 1) {
      const number = one.below(7);
      counts[number]! += 1;
      if (same.below(7) === number) repeats += 1;
      if (other.below(7) === number) agree += 1;
    }
    expect(repeats).toBe(70_000);
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
    expect(Math.abs(agree - 10_000)).toBeLessThan(500);
    const whole = range(1000).map(() => one.next());
    expect(whole.every((number) => Number.isInteger(number) && number >= 0 && number < 2 ** 32)).toBe(true);
    for (let bit = 0; bit < 32; bit += 1) {
      const set = whole.filter((number) => Math.floor(number / 2 ** bit) % 2 === 1).length;
      expect(Math.abs(set - 500), `bit ${bit}`).toBeLessThan(80);
    }
  });

  test('a climb of more than h has the probability exp(−h)', () => {
    const random = new Sequence(3);
    const climbs = range(50_000).map(() => climb(random));
    for (const height of [0.1, 0.5, 1, 2, 4]) {
      const share = climbs.filter((one) => one > height).length / climbs.length;
      expect(Math.abs(share - Math.exp(-height)), `${height}`).toBeLessThan(0.01);
    }
    expect(Math.min(...climbs)).toBeGreaterThan(0);
  });
});

describe('what annealings have in common', () => {
  /** Always climbs by the same. */
  class Steady extends Sequence {
    override next(): number {
      return 4096;
    }
  }
  const height = climb(new Steady(1));

  /** Notes what each step may do. */
  class Noted extends Annealing {
    readonly free: number[] = [];
    readonly dear: number[] = [];
    protected step(): void {
      this.free.push(this.allowed(0));
      this.dear.push(this.allowed(2));
    }
  }
  const ran = (steps: number): Noted => {
    const annealing = new Noted(new Steady(1));
    annealing.run({ steps, temperature: [8, 0.5], price: [2, 32] });
    return annealing;
  };

  test('64 legs have as many steps as are asked for, together', () => {
    expect(ran(640).free).toHaveLength(640);
    expect(ran(65).free).toHaveLength(128);
  });

  test('temperature and price go evenly, by logarithm, from first to last', () => {
    const { free, dear } = ran(640);
    free.forEach((allowed, step) => {
      const share = Math.floor(step / 10) / 63;
      const temperature = 8 * 0.0625 ** share;
      const price = 2 * 16 ** share;
      expect(allowed).toBeCloseTo((height * temperature) / price, 9);
      expect(dear[step]).toBeCloseTo((height * temperature - 2) / price, 9);
    });
  });
});

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
    annealDevices(layout, { ...hot(5000), frozen: true }, new Sequence(1));
    expect(layout.level).toEqual(level);
    annealDevices(layout, { ...cold(1, 40_000), frozen: true }, new Sequence(1));
    expect(layout.level).toEqual(level);
    expect(tally(problem, layout).over).toBeLessThan(over / 20);
  });

  describe('when it is so hot that all steps are taken', () => {
    const problem = drawProblem({ items: 40, devices: 16, top: 8, work: 0.5, memory: 0.5, ratio: 50, seed: 6 });
    const { items, devices, levels } = problem;
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
    /** The steps that were taken, by their kinds. */
    const taken = () => {
      const layout = new Layout(problem);
      construct(layout, 8, 0);
      const steps: Taken[] = [];
      let before = layout.keep();
      const random = new HeardSequence(2);
      random.heard = () => {
        const moved = range(items).filter(
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
