/**
 * The search for batches of nearly equal items. What a plan costs follows from how many items it shares at which level; so the
 * search goes through these counts, the cheapest first, and looks for a layout that keeps the limits by exchanges alone.
 */
import { fewestSharded } from '../counting.ts';
import { ladder, type Shape, shapesFor } from './alike.ts';
import { constructAlike, flatten } from './construct-alike.ts';
import { choices, placeCounts } from './counts.ts';
import { evenOut } from './even-out.ts';
import type { Layout, LayoutCopy } from './layout.ts';
import { layGroups, lowerTop } from './lower.ts';
import { finely, partition, roughly } from './partition.ts';
import { type Problem, slop } from './problem.ts';
import type { Schedule } from './schedule.ts';

/** A plan that costs at most this many times the lower bound by counting is good enough. */
const nearEnough = 1.0005;
/** Steps of the first annealing of each count, for each item; a count whose layout is then least over is annealed four times as long. */
const stepsEach = 100;
const shortest = 4000;
const longer = 4;
/** Far above the least count, the next count to try is this share further away. */
const further = 0.1;
/** Excess per device beyond which evening out is not tried, and the exchanges that one evening out looks at. */
const mendable = 0.012;
const exchanges = 20_000;
/**
 * Temperature and price of the annealings, in costs of sharing one item: see bench/flex-ulysses/alike.ts. `changing` is for those
 * that change degrees.
 */
const cooling = { temperature: [0.1, 0.005], price: [30, 3000] } as const;
const first = { temperature: [0.02, 0.005], price: [300, 3000] } as const;
const changing = { temperature: [0.3, 0.01], price: [100, 20_000] } as const;
/**
 * With at most so many items, annealings that change degrees start from the best layout and from some others; they take the steps
 * that are left: of 255 batches in bench/flex-ulysses/alike.ts they make 11 cheaper, by up to 42 %. So many steps of 256 move a layer.
 */
const few = 128;
const counted = 0.6;
const others = 3;
const stepsOfChanges = 400;
const layers = 40;
/** Limit on items × groups over the starts from shapes: very many items get fewer starts. */
const looks = 2e8;

/** The operations of the search that the search of nearly equal items uses. */
export interface Attempts {
  readonly problem: Problem;
  readonly layout: Layout;
  /** Steps of all annealings together. */
  readonly steps: number;
  /** Spreads everything over the top groups; this layout keeps all limits. */
  readonly putFlat: () => void;
  /** Keeps the layout if it is the best so far. */
  readonly offer: () => void;
  /** Anneals the layout, and offers the result. */
  readonly anneal: (schedule: Schedule) => void;
  readonly best: () => LayoutCopy;
}

/**
 * Returns the numbers of shared items to try: all that are few above the least, then those with which whole groups have one whole
 * item more on each device.
 */
function* sharedFrom(least: number, most: number, above: number, { items, devices }: Problem, level: number) {
  const size = 1 << level;
  for (let more = 0; least + more <= most; more += Math.max(1, Math.floor(further * more))) {
    const wide = (items - above - least - more) % devices;
    if (more >= size) more += wide % size;
    if (least + more <= most) yield least + more;
  }
}

/** The layout of some counts that is least over its limits so far. */
interface Try {
  copy: LayoutCopy;
  over: number;
  steps: number;
}

/** Searches until the plan is as good as counting allows, or until the steps are spent. */
export function searchAlike({ problem, layout, putFlat, offer, best, anneal, ...attempts }: Attempts): void {
  const { items, devices, cost, work, memory, budget } = problem;
  const { above, communication } = fewestSharded({ devices, splitCost: cost, work, lengths: memory }, 1, 1);
  const isDone = (): boolean => best().cost <= communication * nearEnough + slop || budget.isSpent;
  const [level = 0, ...upper] = ladder(problem);
  const unit = cost[level]!.reduce((sum, one) => sum + one, 0) / items;
  const scaled = ([first, last]: readonly [number, number]) => [first * unit, last * unit] as const;
  const isFew = items <= few;
  let steps = attempts.steps * (isFew ? counted : 1);
  /** Divides anew what groups share, and exchanges whole items, if that may help. */
  const mend = (most: number): void => {
    if (layout.cost >= best().cost - slop) return;
    partition(layout, level, most);
    if (!layout.fits() && layout.over() <= mendable * devices) evenOut(layout, exchanges);
    offer();
  };
  /** Shares everything in groups that are over a limit: a plan that costs more, but keeps the limits. */
  const repair = (): void => {
    flatten(layout, level);
    offer();
  };
  const run = (one: Try): void => {
    layout.restore(one.copy);
    const { temperature, price } = one.steps === stepsEach * items ? first : cooling;
    const taken = Math.max(shortest, one.steps);
    steps -= taken;
    anneal({
      steps: taken,
      temperature: scaled(temperature),
      price: scaled(price),
      usual: level,
      frozen: 'counts',
    });
    mend(finely);
    one.over = layout.over();
    one.copy = layout.keep();
    one.steps *= longer;
    repair();
  };
  const tries: Try[] = [];
  /** Places items in some ways, and keeps the layout that is least over the limits; returns whether one keeps them. */
  const start = (ways: readonly (() => boolean)[]): boolean => {
    let least: Try | undefined;
    let found = false;
    for (const place of ways) {
      if (budget.isSpent || !place() || layout.cost >= best().cost) continue;
      const { cost: own } = layout;
      offer();
      mend(roughly);
      found = best().cost <= own;
      if (found) break;
      const over = layout.over();
      if (least === undefined || over < least.over) least = { copy: layout.keep(), over, steps: stepsEach * items };
      repair();
    }
    if (least !== undefined) tries.push(least);
    return found;
  };

  const higher = upper.map((one, at) => ({
    level: one,
    count: above[at === 0 ? level : upper[at - 1]!]! - above[one]!,
  }));
  const least = above[0]! - higher.reduce((sum, { count }) => sum + count, 0);
  const most = items - higher.reduce((sum, { count }) => sum + count, 0);
  const shapes = new Map<number, Shape[]>();
  for (const shape of shapesFor(problem, above).slice(0, Math.max(1, looks / (items * problem.groups))))
    shapes.set(shape.wide, [...(shapes.get(shape.wide) ?? []), shape]);
  for (const some of shapes.values()) {
    if (isDone()) return;
    const found = start(
      some.map((shape) => () => {
        budget.spend(items * problem.groups);
        return constructAlike(layout, shape);
      }),
    );
    if (found) break;
  }
  for (const shared of sharedFrom(least, most, items - most, problem, level)) {
    if (isDone()) return;
    const counts = { level, shared, higher: higher.filter(({ count }) => count > 0).reverse() };
    const known = tries.length;
    if (start(choices.map((choice) => () => placeCounts(layout, counts, choice))) || tries.length === known) break;
  }
  putFlat();
  lowerTop(layout, level);
  offer();
  layGroups(layout, level);
  offer();
  const promise = ({ copy, over, steps: next }: Try): number => (best().cost - copy.cost) / (over * next);
  while (steps > 0 && !isDone()) {
    const open = tries.filter(({ copy, steps: next }) => copy.cost < best().cost - slop && next <= steps);
    if (open.length === 0) break;
    run(open.reduce((most, one) => (promise(one) > promise(most) ? one : most)));
  }
  if (!isFew) return;
  const score = ({ copy, over }: Try): number => copy.cost + over * cooling.price[0] * unit;
  tries.sort((a, b) => score(a) - score(b));
  for (const copy of [best(), ...tries.slice(0, others).map((one) => one.copy)]) {
    if (isDone()) return;
    layout.restore(copy);
    anneal({
      steps: stepsOfChanges * items,
      temperature: scaled(changing.temperature),
      price: scaled(changing.price),
      layers,
      usual: level,
    });
  }
}
