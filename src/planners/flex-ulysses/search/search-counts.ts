/**
 * The search for batches of nearly equal items. What a plan costs follows from how many items it shares at which level; so the
 * search goes through these counts, the cheapest first, and looks for a layout that keeps the limits by exchanges alone.
 */
import { fewestSharded } from '../counting.ts';
import { ladder } from './alike.ts';
import { type Counts, choices, placeCounts } from './counts.ts';
import { evenOut } from './even-out.ts';
import { placeLayers } from './layered.ts';
import type { Layout, LayoutCopy } from './layout.ts';
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
const mendable = 0.002;
const exchanges = 20_000;
/** Temperature and price of the annealings, in costs of sharing one item: see bench/flex-ulysses/alike.ts. */
const cooling = { temperature: [0.1, 0.005], price: [30, 3000] } as const;
const first = { temperature: [0.02, 0.005], price: [300, 3000] } as const;
const polishing = { temperature: [0.02, 0.002], price: [100, 3000] } as const;

/** The operations of the search that the searches of nearly equal items use. */
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

/** Counts with the layout that is least over its limits so far. */
interface Try {
  readonly counts: Counts;
  copy: LayoutCopy;
  over: number;
  steps: number;
}

/** Searches until the plan is as good as counting allows, or until the steps are spent. */
export function searchCounts({ problem, layout, offer, best, ...attempts }: Attempts): void {
  const { items, devices, cost, work, memory, budget } = problem;
  const { above, communication } = fewestSharded({ devices, splitCost: cost, work, lengths: memory }, 1, 1);
  const isDone = (): boolean => best().cost <= communication * nearEnough + slop || budget.isSpent;
  const [level = 0, ...others] = ladder(problem);
  const unit = cost[level]!.reduce((sum, one) => sum + one, 0) / items;
  let { steps } = attempts;
  const anneal = (
    count: number,
    { temperature, price }: Pick<Schedule, 'temperature' | 'price'>,
    frozen?: 'counts',
  ) => {
    const scaled = ([first, last]: readonly [number, number]) => [first * unit, last * unit] as const;
    const taken = Math.max(shortest, Math.ceil(count));
    steps -= taken;
    attempts.anneal({
      steps: taken,
      temperature: scaled(temperature),
      price: scaled(price),
      usual: level,
      ...(frozen && { frozen }),
    });
  };
  /** Divides anew what groups share, and exchanges whole items, if that may help. */
  const mend = (): void => {
    if (layout.over() > mendable * devices || layout.fits()) return;
    partition(layout, level, finely);
    if (!layout.fits()) evenOut(layout, exchanges);
    offer();
  };
  const run = (one: Try): boolean => {
    layout.restore(one.copy);
    const before = best();
    anneal(one.steps, one.steps === stepsEach * items ? first : cooling, 'counts');
    mend();
    if (best() !== before) return true;
    one.over = layout.over();
    one.copy = layout.keep();
    one.steps *= longer;
    return false;
  };
  /** Places items with these counts in all ways; returns the layout that is least over the limits, or whether one keeps them. */
  const start = (counts: Counts): Try | boolean => {
    let least: Try | undefined;
    for (const choice of choices) {
      const before = best();
      if (!placeCounts(layout, counts, choice)) return false;
      partition(layout, level, roughly);
      offer();
      if (best() !== before) return true;
      const over = layout.over();
      if (least === undefined || over < least.over)
        least = { counts, copy: layout.keep(), over, steps: stepsEach * items };
    }
    return least!;
  };

  const higher = others.map((one, at) => ({
    level: one,
    count: above[at === 0 ? level : others[at - 1]!]! - above[one]!,
  }));
  const least = above[0]! - higher.reduce((sum, { count }) => sum + count, 0);
  const most = items - higher.reduce((sum, { count }) => sum + count, 0);
  const tries: Try[] = [];
  for (const shared of sharedFrom(least, most, items - most, problem, level)) {
    if (isDone()) return;
    const counts = { level, shared, higher: higher.filter(({ count }) => count > 0).reverse() };
    const one = start(counts);
    if (typeof one === 'boolean' || one.copy.cost >= best().cost) break;
    tries.push(one);
  }
  placeLayers(layout, level, offer);
  const promise = ({ copy, over, steps: next }: Try): number => (best().cost - copy.cost) / (over * next);
  while (steps > 0 && !isDone()) {
    const open = tries.filter(({ copy, steps: next }) => copy.cost < best().cost - slop && next <= steps);
    if (open.length === 0) break;
    run(open.reduce((most, one) => (promise(one) > promise(most) ? one : most)));
  }
  for (const frozen of ['counts', undefined] as const) {
    if (isDone()) return;
    layout.restore(best());
    anneal(stepsEach * items * longer, polishing, frozen);
  }
}
