/** The default strategy: the least communication at the best balance, or within a tolerance of it. */
import type { Instance } from '../instance.ts';
import { emptyPlacement } from '../placement.ts';
import type { FlexUlyssesSettings } from '../schema.ts';
import type { Placed } from '../strategy.ts';
import { annealDevices } from './anneal-devices.ts';
import { annealGroups, type Schedule } from './anneal-groups.ts';
import { type Balance, bestBalance, computeLimit } from './balance.ts';
import { construct, constructGroups, spreadLayers } from './construct.ts';
import { type Effort, effortFor, isSmall, type Run, runsFor } from './effort.ts';
import { evenOut } from './even-out.ts';
import { cheapest } from './exact.ts';
import { GroupLayout } from './group-layout.ts';
import { type Kept, Layout } from './layout.ts';
import { type Problem, problemOf, slop } from './problem.ts';
import { Sequence } from './random.ts';

/** Evening out cannot mend more than this: what is over, all devices together, by the number of devices. */
const mendable = 0.012;
/** A prefix with more over than this is not even tried, by the number of devices. */
const hopeless = 0.04;
/** A run that ends with more than this over, all groups together, is not worth polishing. */
const promising = 0.15;
const polishing: Omit<Schedule, 'steps'> = { temperature: [0.05, 0.003], price: [90, 540] };
/** Starts of an annealing over devices: whether all is spread at first, and the price of being over a limit. */
const deviceStarts: readonly (readonly [boolean, number])[] = [
  [false, 9],
  [false, 27],
  [true, 27],
  [true, 60],
];

/** With no more items than this, all placements are tried. */
const fewest = 12;

class Search {
  readonly #problem: Problem;
  readonly #effort: Effort;
  readonly #flat: Int32Array;
  readonly #layout: Layout;
  best: Kept;

  /** @param flat - the top group of each item where everything is spread, which keeps all limits */
  constructor(problem: Problem, flat: Int32Array, effort: Effort) {
    this.#problem = problem;
    this.#effort = effort;
    this.#flat = flat;
    this.#layout = new Layout(problem);
    this.#putFlat();
    this.best = this.#layout.keep();
  }

  get done(): boolean {
    return this.best.cost <= this.#problem.bound * (1 + slop) + slop;
  }

  #putFlat(): void {
    const { items, levels } = this.#problem;
    for (let item = 0; item < items; item += 1) this.#layout.put(item, levels - 1, this.#flat[item]!);
  }

  /** Keeps the layout if it is the best so far. */
  #offer(): void {
    if (this.#layout.cost < this.best.cost - slop && this.#layout.fits()) this.best = this.#layout.keep();
  }

  /** What is over, all devices together. */
  #over(): number {
    let over = 0;
    for (let device = 0; device < this.#problem.devices; device += 1)
      over += Math.max(0, this.#layout.load(device) - 1);
    return over;
  }

  #mend(): void {
    if (this.#over() <= mendable * this.#problem.devices && evenOut(this.#layout, this.#effort.exchanges))
      this.#offer();
  }

  /** The longest items spread, as few as possible, and the others whole. */
  prefixes(fill: number, random: Sequence): void {
    const { items, least } = this.#problem;
    let spread = least.reduce((count, level) => count + (level > 0 ? 1 : 0), 0);
    for (let attempt = 0; attempt < this.#effort.prefixes && spread <= items; attempt += 1) {
      construct(this.#layout, spread, fill);
      if (this.#layout.cost >= this.best.cost) return;
      const before = this.best;
      if (this.#over() <= hopeless * this.#problem.devices) this.polish(random);
      if (this.best !== before) return;
      spread += 1 + (attempt >> 2);
    }
  }

  /** An annealing over groups, then over devices. */
  run({ start, surplusWeight, temperature, price }: Run, random: Sequence): void {
    const groups = new GroupLayout(this.#problem);
    groups.surplusWeight = surplusWeight;
    if (start !== 'flat') constructGroups(groups, start);
    else for (let item = 0; item < this.#flat.length; item += 1) groups.put(item, this.#flat[item]!, 1);
    const found = annealGroups(groups, { steps: this.#effort.groupSteps, temperature, price }, random);
    if (found !== undefined || groups.overall < promising) {
      groups.writeTo(this.#layout);
      this.#offer();
      this.polish(random);
    }
    if (found !== undefined) {
      groups.clear();
      for (let item = 0; item < this.#flat.length; item += 1) groups.put(item, found.group[item]!, found.spread[item]!);
    } else spreadLayers(groups);
    groups.writeTo(this.#layout);
    this.#offer();
  }

  /** Anneals the layout over devices, without losing what it is. */
  polish(random: Sequence): void {
    const found = annealDevices(this.#layout, { steps: this.#effort.polishSteps, ...polishing }, random);
    if (!this.#layout.fits()) this.#mend();
    if (found === undefined) return;
    this.#layout.restore(found);
    this.#offer();
  }

  polishBest(random: Sequence): void {
    this.#layout.restore(this.best);
    this.polish(random);
  }

  /** All placements, as long as there are few. */
  enumerate(): void {
    this.best = cheapest(this.#problem, this.best.cost, this.#effort.enumerated) ?? this.best;
  }

  /** An annealing over devices from the start, at all degrees. */
  fromDevices(spread: boolean, price: number, random: Sequence): void {
    if (spread) this.#putFlat();
    else construct(this.#layout, 0, 0);
    const schedule = {
      steps: this.#effort.deviceSteps,
      temperature: [price / 10, 0.009],
      price: [price, 5 * price],
    } as const;
    const found = annealDevices(this.#layout, schedule, random);
    if (!this.#layout.fits()) this.#mend();
    if (found === undefined) return;
    this.#layout.restore(found);
    this.#offer();
  }
}

function searched(problem: Problem, balance: Balance, settings: FlexUlyssesSettings): Kept {
  const flat = Int32Array.from(problem.sequence, (i) => balance.group[i]!);
  const effort = effortFor(settings.effort, problem);
  const search = new Search(problem, flat, effort);
  const random = new Sequence(1);
  const ways: (() => void)[] = [() => search.prefixes(0, random), () => search.prefixes(1, random)];
  if (isSmall(problem))
    for (const [spread, price] of deviceStarts) ways.push(() => search.fromDevices(spread, price, random));
  for (const run of runsFor(problem).slice(0, effort.runs)) ways.push(() => search.run(run, random));
  ways.push(() => search.polishBest(random));
  if (problem.items <= fewest) ways.push(() => search.enumerate());
  for (const way of ways) if (!search.done) way();
  return search.best;
}

/** Places a batch with as little communication as the search finds within the limits. */
export function placeBySearch(instance: Instance, settings: FlexUlyssesSettings): Placed {
  const placement = emptyPlacement(instance.sequences);
  const balance = bestBalance(instance);
  const { memoryCap } = balance;
  const limit = computeLimit(balance, settings.balanceTolerance);
  const problem = problemOf(instance, limit, memoryCap);
  if (problem.items > 0) {
    const { level, group } = searched(problem, balance, settings);
    problem.sequence.forEach((i, item) => {
      placement.level[i] = level[item]!;
      placement.group[i] = group[item]!;
    });
  }
  return { placement, computeLimit: limit, memoryCap };
}
