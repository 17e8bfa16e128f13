/** The invariants 5 to 9 of flex-ulysses, by their numbers in its README. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../src/index.ts';
import { executionOf } from '../../src/planners/flex-ulysses/execution/execution.ts';
import { packSizesOf } from '../../src/planners/flex-ulysses/execution/packs.ts';
import {
  type ExecutionOrder,
  type FlexUlyssesInput,
  type FlexUlyssesPlan,
  findDeadlock,
  predictTimeline,
  timingPresets,
} from '../../src/planners/flex-ulysses/index.ts';
import { instanceOf } from '../../src/planners/flex-ulysses/instance.ts';
import { assignmentsOf } from '../../src/planners/flex-ulysses/placement.ts';
import { flexUlyssesInput } from '../../src/planners/flex-ulysses/schema.ts';
import { generator } from '../support/basics/numbers.ts';
import { runs } from '../support/basics/runs.ts';
import { callsOf, makespanOf, mostLocalFrames, outcome, packsByGroup } from '../support/placement/execution.ts';

const strategies = flexUlyssesInput.shape.strategy.def.innerType.options;

const length = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.constantFrom(0, 1, 7, 100),
  fc.integer({ min: 1, max: 2000 }),
);

/** A batch with a level and a group for each sequence: what a strategy could have said, whichever it is. */
const placed = fc
  .record({
    devices: fc.constantFrom(1, 2, 4, 6, 8, 12, 16),
    lengths: fc.array(length, { maxLength: 30 }),
    dice: fc.array(fc.nat(1000), { minLength: 60, maxLength: 60 }),
    frames: fc.option(fc.array(fc.nat(12), { minLength: 30, maxLength: 30 }), { nil: undefined }),
    threshold: fc.option(fc.constantFrom(0, 5, 50, 400), { nil: undefined }),
    more: fc.option(fc.constantFrom(0, 10, 1000), { nil: undefined }),
    devicesPerNode: fc.constantFrom(2, 3, 8),
    timing: fc.constantFrom('H200' as const, 'H800' as const),
  })
  .map(({ dice, frames, threshold, more, timing, ...rest }) => {
    const input: FlexUlyssesInput = {
      ...rest,
      costs: { timing },
      ...(frames === undefined ? {} : { frames: frames.slice(0, rest.lengths.length) }),
      ...(threshold === undefined ? {} : { packThresholdTokens: threshold }),
      ...(more === undefined ? {} : { packCapTokens: (threshold ?? 0) + more }),
    };
    const settings = flexUlyssesInput.parse(input);
    const instance = instanceOf(settings);
    const level = Uint8Array.from(rest.lengths, (one, i) => (one === 0 ? 0 : dice[i]! % instance.levels));
    const group = Int32Array.from(level, (one, i) => dice[30 + i]! % (rest.devices / 2 ** one));
    const placement = { level, group };
    const assignments = assignmentsOf(placement);
    return { settings, instance, assignments, plan: executionOf(instance, placement, assignments, settings) };
  });

const degreesDown = ({ packs }: ExecutionOrder, mine: readonly number[]) =>
  mine.every((pack, at) => at === 0 || packs[mine[at - 1]!]!.degree >= packs[pack]!.degree);

test('5. every sequence is in one pack of its own group, and packs are as full as their cap allows', () => {
  fc.assert(
    fc.property(placed, ({ settings, instance, assignments, plan }) => {
      const { thresholdTokens, capTokens } = packSizesOf(instance, settings);
      const covered = plan.packs.flatMap((pack) => pack.sequences);
      expect(covered.toSorted((a, b) => a - b)).toEqual(assignments.map(({ sequence }) => sequence));
      for (const pack of plan.packs) {
        const lengths = pack.sequences.map((i) => settings.lengths[i]!);
        for (const i of pack.sequences) {
          expect(assignments[i]).toEqual({ sequence: i, degree: pack.degree, devices: pack.devices });
        }
        expect(pack.tokens).toBe(lengths.reduce((sum, one) => sum + one, 0));
        expect(pack.paddedTokens % pack.degree).toBe(0);
        expect(pack.paddedTokens - pack.tokens).toBeGreaterThanOrEqual(0);
        expect(pack.paddedTokens - pack.tokens).toBeLessThan(pack.degree);
        expect(pack.work).toBeCloseTo(
          lengths.reduce((sum, one) => sum + one * one, 0),
          6,
        );
        if (pack.sequences.length > 1) {
          expect(Math.max(...lengths)).toBeLessThanOrEqual(thresholdTokens);
          expect(pack.tokens).toBeLessThanOrEqual(capTokens);
        }
      }
      for (const packs of packsByGroup(plan.packs)) {
        const order = packs.flatMap((pack) => pack.sequences);
        const sorted = order.toSorted((a, b) => settings.lengths[b]! - settings.lengths[a]! || a - b);
        expect(order).toEqual(sorted);
        const short = packs.filter((pack) => settings.lengths[pack.sequences[0]!]! <= thresholdTokens);
        short.forEach((pack, at) => {
          if (at > 0) expect(short[at - 1]!.tokens + pack.tokens).toBeGreaterThan(capTokens);
        });
      }
    }),
    runs(400),
  );
});

test('6. a pack has one place in the queues of all its devices, which list their own packs, highest degree first', () => {
  fc.assert(
    fc.property(placed, ({ settings, plan }) => {
      expect(plan.order).toHaveLength(settings.devices);
      plan.order.forEach((mine, device) => {
        const own = plan.packs.flatMap((pack, index) => (pack.devices.includes(device) ? [index] : []));
        expect(mine).toEqual(own);
        expect(degreesDown(plan, mine)).toBe(true);
      });
      plan.packs.forEach(({ degree, devices }, index) => {
        if (degree > 1) expect(new Set(devices.map((device) => plan.order[device]!.indexOf(index))).size).toBe(1);
      });
      const keys = plan.packs.map(({ degree, devices }) => [-degree, devices[0]!] as const);
      keys.forEach((key, at) => {
        const [degree, group] = keys[at - 1] ?? key;
        expect(degree < key[0] || (degree === key[0] && group <= key[1])).toBe(true);
      });
    }),
    runs(400),
  );
});

/** Both passes, with and without overlap. */
const deadlocksOf = (plan: ExecutionOrder) =>
  (['forward', 'backward'] as const).flatMap((pass) =>
    [true, false].map((overlap) => findDeadlock(plan, { pass, overlap })),
  );

describe('7. the collectives of a plan neither hang nor mix', () => {
  test('for any placement, in both passes', () => {
    fc.assert(
      fc.property(placed, ({ plan }) => {
        expect(deadlocksOf(plan)).toEqual([undefined, undefined, undefined, undefined]);
        const queues = plan.order.map((_, device) => callsOf(plan, device, true));
        expect(outcome(plan, queues)).toBe('ends');
        expect(
          outcome(
            plan,
            queues.map((queue) => queue.toReversed()),
          ),
        ).toBe('ends');
      }),
      runs(300),
    );
  });

  const random = generator(7);
  const skewed = (count: number) => Array.from({ length: count }, () => Math.floor(40 * 2 ** (10 * random())));
  const batches: [string, number[]][] = [
    ['no sequence', []],
    ['one giant', [1_000_000, ...Array.from({ length: 40 }, () => 100)]],
    ['all equal', Array.from({ length: 64 }, () => 4096)],
    ['fewer sequences than devices', [9000, 50, 7]],
    ['one sequence', [12_345]],
    ['zero lengths', [0, 5000, 0, 0, 17, 3]],
    ['only zero lengths', [0, 0, 0]],
    ['skewed lengths', skewed(200)],
  ];
  const cases = batches.flatMap(([name, lengths]) =>
    [1, 6, 12, 1024].flatMap((devices) => strategies.map((strategy) => [strategy, devices, name, lengths] as const)),
  );

  test.each(cases)('%s on %i devices: %s', (strategy, devices, _, lengths) => {
    const plan = runPlanner(flexUlysses, { lengths, devices, strategy, effort: 'fast' });
    expect(deadlocksOf(plan)).toEqual([undefined, undefined, undefined, undefined]);
    expect(plan.packs.flatMap((pack) => pack.sequences).toSorted((a, b) => a - b)).toEqual([...lengths.keys()]);
  });
});

/** Aligned groups drawn at random, in an order that nobody has chosen. */
function drawnPacks(random: () => number, devices: number, count: number): ExecutionOrder['packs'] {
  return Array.from({ length: count }, () => {
    const degree = 2 ** Math.floor(random() * (Math.log2(devices) + 1));
    const first = Math.floor((random() * devices) / degree) * degree;
    return { degree, devices: Array.from({ length: degree }, (_, k) => first + k) };
  });
}

function shuffled<T>(random: () => number, items: readonly T[]): T[] {
  const keys = items.map(() => random());
  return [...items.keys()].sort((a, b) => keys[a]! - keys[b]!).map((at) => items[at]!);
}

const inOrder = (packs: ExecutionOrder['packs'], devices: number, indices: readonly number[]) =>
  Array.from({ length: devices }, (_, device) => indices.filter((i) => packs[i]!.devices.includes(device)));

/** Orders that a host could come upon; only the first is right. */
const orders = {
  'highest degree first': (_, packs, devices) =>
    inOrder(
      packs,
      devices,
      [...packs.keys()].sort((a, b) => packs[b]!.degree - packs[a]!.degree || a - b),
    ),
  'one order of all packs, drawn': (random, packs, devices) =>
    inOrder(packs, devices, shuffled(random, [...packs.keys()])),
  'an order of its own on each device': (random, packs, devices) =>
    inOrder(packs, devices, [...packs.keys()]).map((mine) => shuffled(random, mine)),
  'highest degree first, ties as each device likes': (random, packs, devices) =>
    inOrder(packs, devices, [...packs.keys()]).map((mine) =>
      shuffled(random, mine).sort((a, b) => packs[b]!.degree - packs[a]!.degree),
    ),
} satisfies Record<
  string,
  (random: () => number, packs: ExecutionOrder['packs'], devices: number) => readonly (readonly number[])[]
>;

describe('7. the check can fail', () => {
  /** Of 2000 drawn plans on 16 devices with 4 to 16 packs. */
  const failures = (name: keyof typeof orders, overlap: boolean): number => {
    const random = generator(11);
    let failed = 0;
    for (let run = 0; run < 2000; run += 1) {
      const packs = drawnPacks(random, 16, 4 + Math.floor(random() * 13));
      if (findDeadlock({ packs, order: orders[name](random, packs, 16) }, { overlap }) !== undefined) failed += 1;
    }
    return failed;
  };

  test.each([
    ['highest degree first', true, 0, 0],
    ['one order of all packs, drawn', true, 0.6, 0.8],
    // A common order is enough where nothing overlaps.
    ['one order of all packs, drawn', false, 0, 0],
    ['an order of its own on each device', true, 0.9, 1],
    ['an order of its own on each device', false, 0.9, 1],
    ['highest degree first, ties as each device likes', true, 0.75, 0.9],
  ] as const)('%s, overlap %s: %d to %d of the plans fail', (name, overlap, least, most) => {
    const share = failures(name, overlap) / 2000;
    expect(share).toBeGreaterThanOrEqual(least);
    expect(share).toBeLessThanOrEqual(most);
  });

  test('and it says the same as a search for cycles in the graph of all queues', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(orders) as (keyof typeof orders)[])),
        fc.integer({ min: 1 }),
        fc.constantFrom(2, 4, 8),
        fc.nat(9),
        fc.boolean(),
        fc.boolean(),
        (name, seed, devices, count, overlap, backward) => {
          const random = generator(seed);
          const packs = drawnPacks(random, devices, count);
          const plan = { packs, order: orders[name](random, packs, devices) };
          const found = findDeadlock(plan, { overlap, pass: backward ? 'backward' : 'forward' });
          const queues = plan.order.map((_, device) => callsOf(plan, device, overlap));
          const expected = outcome(plan, backward ? queues.map((queue) => queue.toReversed()) : queues);
          expect(found?.kind ?? 'none').toBe({ ends: 'none', hangs: 'cycle', mixes: 'pairing' }[expected]);
          if (found?.kind !== 'cycle') return;
          expect(new Set(found.devices).size).toBe(found.devices.length);
          found.devices.forEach((device, at) => {
            const members = packs[found.packs[at]!]!.devices;
            expect(members).toContain(device);
            expect(members).toContain(found.devices[(at + 1) % found.devices.length]);
          });
        },
      ),
      runs(1500),
    );
  });
});

/** What the timing model says, device by device. */
function timesOf(
  plan: Pick<FlexUlyssesPlan, 'packs'>,
  lengths: readonly number[],
  timing: 'H200' | 'H800',
  perNode: number,
) {
  const { attentionSeconds, allToAllSeconds } = timingPresets[timing];
  return plan.packs.map(({ degree, devices, paddedTokens, sequences }) => {
    const squares = sequences.reduce((sum, i) => sum + lengths[i]! ** 2, 0);
    const mine = paddedTokens / degree;
    const sent = devices.map((from) => {
      const others = devices.filter((to) => to !== from);
      const near = others.filter((to) => Math.floor(to / perNode) === Math.floor(from / perNode)).length;
      const [inside, between] = [(mine * near) / degree, (mine * (others.length - near)) / degree];
      const { perPeer, perToken, perTokenBetweenNodes, perTokenSquared } = allToAllSeconds;
      const linear = perToken * inside + perTokenBetweenNodes * between;
      return perPeer * others.length + linear + perTokenSquared * (inside + between) ** 2;
    });
    return {
      attention: (attentionSeconds.perToken * paddedTokens + attentionSeconds.perTokenSquared * squares) / degree,
      allToAll: Math.max(...sent),
    };
  });
}

describe('8. the schedule is that of Algorithm 1', () => {
  test('makespans are the least that keep every rule of it', () => {
    fc.assert(
      fc.property(placed, ({ settings, plan }) => {
        const { timing } = settings.costs as { timing: 'H200' | 'H800' };
        const times = timesOf(plan, settings.lengths, timing, settings.devicesPerNode);
        const { makespanSeconds, computeSeconds, bubbleSeconds, bubbleRatio, serialSeconds } = plan.schedule;
        expect(makespanSeconds).toBeCloseTo(makespanOf(plan, times, true), 9);
        expect(serialSeconds).toBeCloseTo(makespanOf(plan, times, false), 9);
        const busy = plan.order.map((mine) => mine.reduce((sum, pack) => sum + times[pack]!.attention, 0));
        expect(computeSeconds).toBeCloseTo(Math.max(...busy), 9);
        const idle = busy.reduce((sum, one) => sum + makespanSeconds - one, 0) / busy.length;
        expect(bubbleSeconds).toBeCloseTo(idle, 9);
        expect(makespanSeconds).toBeGreaterThanOrEqual(computeSeconds * (1 - 1e-12));
        expect(bubbleRatio).toBeCloseTo(makespanSeconds === 0 ? 0 : idle / makespanSeconds, 9);
      }),
      runs(200),
    );
  });

  test('the timeline shows it: one thing at a time on a stream, all-to-alls at once on all members', () => {
    fc.assert(
      fc.property(placed, ({ settings, plan }) => {
        const { devicesPerNode, costs } = settings;
        const { schedule, spans, devices } = predictTimeline(plan, settings.lengths, {
          devicesPerNode,
          timing: costs.timing,
        });
        expect(schedule).toEqual(plan.schedule);
        expect(Math.max(0, ...spans.map((span) => span.endSeconds))).toBeCloseTo(schedule.makespanSeconds, 9);
        expect(Math.max(0, ...devices.map((one) => one.computeSeconds))).toBe(schedule.computeSeconds);
        const starts = new Map<string, number>();
        spans.forEach((span, at) => {
          const last = spans[at - 1];
          if (last !== undefined && last.device === span.device && last.stream === span.stream) {
            expect(span.startSeconds).toBeGreaterThanOrEqual(last.endSeconds - 1e-12);
          }
          if (span.operation === 'attention') return;
          const key = `${span.pack} ${span.operation}`;
          expect(starts.get(key) ?? span.startSeconds).toBe(span.startSeconds);
          starts.set(key, span.startSeconds);
        });
        const parts = plan.packs.reduce((sum, { degree }) => sum + degree * (degree > 1 ? 3 : 1), 0);
        expect(spans).toHaveLength(parts);
      }),
      runs(200),
    );
  });
});

test('9. frames are spread evenly, in runs, and as few leave the devices of their sequence as can be', () => {
  fc.assert(
    fc.property(placed, ({ settings, assignments, plan }) => {
      const { frames, devices } = settings;
      if (frames === undefined) {
        expect(plan).not.toHaveProperty('vision');
        expect(plan.movedFrames).toEqual({});
        return;
      }
      const shares = plan.vision!;
      const total = frames.reduce((sum, one) => sum + one, 0);
      expect(shares.map((share) => share.device)).toEqual([...Array(devices).keys()]);
      const counts = shares.map((share) => share.frames);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      let local = 0;
      const seen = frames.map((count) => new Uint8Array(count));
      for (const { device, slices, frames: count } of shares) {
        expect(slices.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(count);
        expect(new Set(slices.map((slice) => slice.sequence)).size).toBe(slices.length);
        for (const { sequence, from, to } of slices) {
          expect(to).toBeGreaterThan(from);
          expect(to).toBeLessThanOrEqual(frames[sequence]!);
          for (let frame = from; frame < to; frame += 1) seen[sequence]![frame]! += 1;
          if (assignments[sequence]!.devices.includes(device)) local += to - from;
        }
      }
      expect(seen.every((one) => one.every((times) => times === 1))).toBe(true);
      expect(local).toBe(mostLocalFrames(assignments, frames, devices));
      expect(plan.movedFrames).toEqual({ movedFrames: total - local });
    }),
    runs(300),
  );
});
