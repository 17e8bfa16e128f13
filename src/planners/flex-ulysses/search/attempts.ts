/** The attempts of the search, and the best placement that they have found. */

import type { FlexUlyssesSettings } from '../../../generated/settings/flex-ulysses.ts';
import { annealDevices } from './anneal-devices.ts';
import { annealGroups } from './anneal-groups.ts';
import { complete, isTight } from './complete.ts';
import { construct, constructGroups, constructLayers, readGroups, spreadLayers } from './construct.ts';
import type { Effort } from './effort.ts';
import { evenOut } from './even-out.ts';
import { cheapest } from './exact.ts';
import { GroupLayout } from './group-layout.ts';
import { Layout, type LayoutCopy } from './layout.ts';
import { lowerStrays, putPrevious, rebuild } from './previous.ts';
import { type Problem, slop } from './problem.ts';
import type { Sequence } from './random.ts';
import { type Ranking, rank } from './ranking.ts';
import type { Schedule } from './schedule.ts';
import { searchAlike } from './search-alike.ts';
import { again, isFew, type Start } from './starts.ts';

/** Excess per device, summed over all devices, beyond which evening out is not tried. */
const mendable = 0.012;
/** Excess per device beyond which a prefix is not tried. */
const hopeless = 0.04;
/** Excess over all groups beyond which the result of a run is not polished. */
const promising = 0.15;
const shaking = { temperature: [0.01, 1e-4], price: [1, 1], frozen: 'items' } as const;
/** A mended earlier plan may cost at most this many times its former cost; otherwise the search starts over. */
const littleMore = 1.02;
const warm = 30;
/** Factor of the usual steps, to anneal an earlier plan that mending did not repair. */
const reheated = 1.5;
const reheating: Omit<Schedule, 'steps'> = { temperature: [4.5, 0.03], price: [90, 300] };
const polishing: Omit<Schedule, 'steps'> = { temperature: [0.05, 0.003], price: [90, 540] };

/** A search for the cheapest placement of a problem. */
export class Search {
  readonly #problem: Problem;
  readonly #effort: Effort;
  readonly #flat: Int32Array;
  readonly #layout: Layout;
  /** The ranked fills when only items that do not fit on one device are spread. */
  #forced: Ranking | undefined;
  best: LayoutCopy;

  /** @param flat - the top group of each item in the layout that spreads everything and keeps all limits */
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

  /** Evens out a layout that is a little over its limits, without changing a degree; shakes it between attempts that fail. */
  #mend(random: Sequence): void {
    if (this.#layout.cost >= this.best.cost - slop || this.#layout.over() > mendable * this.#problem.devices) return;
    for (let attempt = 0; ; attempt += 1) {
      if (evenOut(this.#layout, this.#effort.exchanges)) return this.#offer();
      if (attempt === this.#effort.shakes || this.#problem.budget.isSpent) return;
      annealDevices(this.#layout, { steps: this.#effort.polishSteps, ...shaking }, random);
    }
  }

  #rank(spread: number): Ranking {
    return rank(this.#layout, spread, () => {
      this.#offer();
      return this.done;
    });
  }

  #rankForced(): Ranking {
    this.#forced ??= this.#rank(this.#problem.least.filter((level) => level > 0).length);
    return this.#forced;
  }

  /** Spreads some of the longest items, as few as possible, and keeps the others whole. */
  prefixes(random: Sequence): void {
    const { items, devices, budget } = this.#problem;
    const { prefixes, polished } = this.#effort;
    let { spread } = this.#rankForced();
    for (let attempt = 0; attempt < prefixes && spread <= items && !budget.isSpent; attempt += 1) {
      const before = this.best;
      const ranking = attempt === 0 ? this.#rankForced() : this.#rank(spread);
      if (this.best !== before || ranking.cost >= before.cost) return;
      for (const { fill, over } of ranking.fills.slice(0, polished)) {
        if (over > hopeless * devices) return;
        construct(this.#layout, spread, fill);
        this.polish(random);
        if (this.best !== before) return;
      }
      spread += 1 + (attempt >> 2);
    }
  }

  /** Works like {@link prefixes}, but fills all devices anew if there are few devices. */
  completions(random: Sequence): void {
    if (!isTight(this.#problem)) return;
    const { budget } = this.#problem;
    let left = Math.min(this.#effort.completion, budget.left / 2);
    for (let { spread } = this.#rankForced(); left > 0 && !budget.isSpent; spread += 1) {
      construct(this.#layout, spread, 0);
      if (this.#layout.cost >= this.best.cost - slop) return;
      const most = left / 3;
      const completion = complete(this.#layout, most, random);
      this.#offer();
      const taken = most - completion.left + 1;
      budget.spend(taken);
      if (completion.done) return;
      left -= taken;
    }
  }

  /** Searches if all items are nearly equal, see {@link searchAlike}. */
  alike(random: Sequence): void {
    searchAlike({
      problem: this.#problem,
      layout: this.#layout,
      steps: this.#effort.alikeSteps,
      putFlat: () => this.#putFlat(),
      offer: () => this.#offer(),
      anneal: (schedule) => this.#anneal(schedule, random),
      best: () => this.best,
    });
  }

  /** Returns the fill with this rank; the best fill if the budget has not allowed ranking so many. */
  #fill(rank: number): number {
    const { fills } = this.#rankForced();
    return (fills[rank] ?? fills[0]!).fill;
  }

  start(start: Start, random: Sequence): void {
    const fill = typeof start.fill === 'number' ? start.fill : this.#fill(start.fill === 'best' ? 0 : 1);
    if (start.over === 'devices') this.#startDevices(start, fill, random);
    else this.#startGroups(start, fill, random);
  }

  #startDevices({ from, temperature, price, patience }: Start, fill: number, random: Sequence): void {
    if (from === 'flat') this.#putFlat();
    else construct(this.#layout, 0, fill);
    this.#anneal({ steps: patience * this.#effort.deviceSteps, temperature, price }, random);
  }

  /** Anneals over groups, then over devices. */
  #startGroups({ from, surplusWeight, temperature, price, patience }: Start, fill: number, random: Sequence): void {
    const groups = new GroupLayout(this.#problem);
    groups.surplusWeight = surplusWeight;
    if (from === 'layers') constructLayers(groups, fill);
    else if (from === 'items') constructGroups(groups, fill);
    else if (from === 'layout') readGroups(groups, this.#layout);
    else for (let item = 0; item < this.#flat.length; item += 1) groups.put(item, this.#flat[item]!, 1);
    const found = annealGroups(groups, { steps: patience * this.#effort.groupSteps, temperature, price }, random);
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

  /** Anneals the layout, and mends the result if it exceeds a limit. */
  #anneal(schedule: Schedule, random: Sequence): void {
    const found = annealDevices(this.#layout, schedule, random);
    if (!this.#layout.fits()) this.#mend(random);
    if (found === undefined) return;
    this.#layout.restore(found);
    this.#offer();
  }

  polish(random: Sequence): void {
    this.#anneal({ steps: this.#effort.polishSteps, ...polishing }, random);
  }

  /** Anneals the best layout again: first a little warmer, then at a very low temperature. */
  polishBest(random: Sequence): void {
    for (const warmth of [warm, 1]) {
      this.#layout.restore(this.best);
      const { temperature, price } = polishing;
      const schedule = { temperature: [temperature[0] * warmth, temperature[1]], price } as const;
      this.#anneal({ steps: this.#effort.deviceSteps / 2, ...schedule }, random);
    }
  }

  /**
   * Mends an earlier plan.
   *
   * @returns whether the mended plan keeps all limits and costs little more than before
   */
  fromPrevious(previous: NonNullable<FlexUlyssesSettings['previous']>, random: Sequence): boolean {
    const flat = this.best;
    this.#problem.budget.spend(this.#problem.items * this.#problem.devices);
    putPrevious(this.#layout, previous);
    const carried = this.#layout.keep();
    lowerStrays(this.#layout);
    rebuild(this.#layout);
    this.#offer();
    if (this.done) return true;
    const rebuilt = this.best !== flat;
    // If the cheapest plan is found at once, the earlier plan is not needed.
    this.#rankForced();
    if (this.done) return true;
    const before = this.best.cost;
    const isFromPrevious = (): boolean => rebuilt || this.best.cost < before;
    this.#layout.restore(carried);
    if (isFew(this.#problem) || this.#layout.over() <= mendable * this.#problem.devices) {
      this.polish(random);
      if (isFromPrevious() && this.best.cost <= carried.cost * littleMore + slop) return true;
      if (isFew(this.#problem)) return false;
      this.#layout.restore(carried);
    }
    this.#anneal({ steps: reheated * this.#effort.deviceSteps, ...reheating }, random);
    if (isFromPrevious()) this.#layout.restore(this.best);
    this.start(again, random);
    return isFromPrevious();
  }

  /** Tries all placements if there are few. */
  enumerate(): void {
    this.best = cheapest(this.#problem, this.best.cost, this.#effort.enumerated) ?? this.best;
  }
}
