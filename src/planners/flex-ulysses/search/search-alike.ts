/**
 * The search for batches of nearly equal items: it starts with plans that shard as few items as the counting bound allows, and
 * anneals from them.
 */
import { fewestSharded } from '../counting.ts';
import { shapesFor } from './alike.ts';
import { constructAlike, flatten, layGroups } from './construct-alike.ts';
import { evenOut } from './even-out.ts';
import type { LayoutCopy } from './layout.ts';
import { slop } from './problem.ts';
import { type Attempts, searchCounts } from './search-counts.ts';

/** A plan that costs at most this many times the lower bound by counting is good enough. */
const nearEnough = 1.005;
/** Excess per device beyond which evening out is not tried. */
const mendable = 0.012;
/** Limit on the exchanges to look at when one start is evened out. */
const exchanges = 20_000;
/** Limit on items × groups over all starts of one plan: very many items get fewer starts. */
const looks = 2e8;
/** Price of excess when starts are compared. The unit of all prices here is the cost of sharing one item. */
const usualPrice = 30;
/**
 * Temperature and price at the start of each annealing, in turn; `afterwards` has the values of the last annealing, which starts
 * from the best layout.
 */
const warmths = [
  [0.3, 100],
  [1, 100],
  [0.3, 30],
] as const;
const afterwards = [0.1, 300] as const;
/** Temperature and price at the end. */
const coldest = 0.01;
const dearest = 20_000;
/** Steps of 256 that move a layer. */
const layers = 40;
/** Steps of an annealing: `stepsEach` for each item, at least `shortest`, and at most the total divided by `annealings`. */
const stepsEach = 400;
const shortest = 15_000;
const annealings = 5;

/** Share of the steps for the search through counts; the rest is for annealings that change degrees. */
const counted = 1 / 2;

/** Searches until the plan is as good as counting allows, or until the steps are spent. */
export function searchAlike(attempts: Attempts): void {
  const { problem, layout, putFlat, offer, best } = attempts;
  const { items, devices, groups, levels, cost, work, memory, budget } = problem;
  const { above, communication } = fewestSharded({ devices, splitCost: cost, work, lengths: memory }, 1, 1);
  const isDone = (): boolean => best().cost <= communication * nearEnough + slop;
  const shapes = shapesFor(problem, above).slice(0, Math.max(1, looks / (items * groups)));
  const { level } = shapes[0]!;
  const unit = cost[level]!.reduce((sum, one) => sum + one, 0) / items;
  const starts: { readonly copy: LayoutCopy; readonly score: number }[] = [];
  const start = (): void => {
    offer();
    starts.push({ copy: layout.keep(), score: layout.cost + layout.over() * usualPrice * unit });
  };
  for (const shape of shapes) {
    if (budget.isSpent) break;
    budget.spend(items * groups);
    if (!constructAlike(layout, shape)) continue;
    if (layout.over() <= mendable * devices) evenOut(layout, exchanges);
    start();
    if (isDone()) return;
    flatten(layout, level);
    offer();
    if (isDone()) return;
  }
  putFlat();
  layGroups(layout, levels - 1);
  start();
  if (isDone()) return;
  searchCounts({ ...attempts, steps: attempts.steps * counted });
  if (isDone()) return;
  starts.sort((a, b) => a.score - b.score);
  const allowed = attempts.steps * (1 - counted);
  const steps = Math.max(shortest, Math.min(stepsEach * items, allowed / annealings));
  const anneal = (copy: LayoutCopy, [temperature, price]: readonly [number, number]): void => {
    layout.restore(copy);
    attempts.anneal({
      steps,
      temperature: [temperature * unit, coldest * unit],
      price: [price * unit, dearest * unit],
      layers,
      usual: level,
    });
  };
  for (let count = 0; count * steps < allowed && !isDone() && !budget.isSpent; count += 1)
    anneal(starts[count % starts.length]!.copy, warmths[Math.floor(count / starts.length) % warmths.length]!);
  if (!isDone()) anneal(best(), afterwards);
}
