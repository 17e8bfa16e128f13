/** Finds the cheapest placement of a small batch by trying all placements that could be cheaper. */
import { Layout, type LayoutCopy } from './layout.ts';
import { type Problem, slop } from './problem.ts';

class Enumeration {
  readonly #problem: Problem;
  readonly #layout: Layout;
  /** For each item, the least possible cost of this item and all later ones. */
  readonly #restCost: Float64Array;
  #left: number;
  #limit: number;
  best: LayoutCopy | undefined;

  constructor(problem: Problem, limit: number, budget: number) {
    this.#problem = problem;
    this.#layout = new Layout(problem);
    this.#limit = limit;
    this.#left = budget;
    const { items, cheapest } = problem;
    this.#restCost = new Float64Array(items + 1);
    for (let item = items - 1; item >= 0; item -= 1) {
      this.#restCost[item] = this.#restCost[item + 1]! + cheapest[item]!;
    }
  }

  /** Whether the devices of two groups have equal loads, device by device. */
  #same(one: number, other: number, level: number): boolean {
    const { work, memory } = this.#layout;
    const degree = 2 ** level;
    for (let rank = 0; rank < degree; rank += 1) {
      const a = one * degree + rank;
      const b = other * degree + rank;
      // Compares with a tolerance, because taking an item away leaves a rounding error.
      if (Math.abs(work[a]! - work[b]!) > slop || Math.abs(memory[a]! - memory[b]!) > slop) return false;
    }
    return true;
  }

  /** Whether an item may go to a group: it fits, and at no level is there an equal earlier group that would do as well. */
  #mayGo(item: number, level: number, group: number): boolean {
    const { work, memory, levels } = this.#problem;
    const degree = 2 ** level;
    this.#problem.budget.left -= degree;
    for (let device = group * degree; device < (group + 1) * degree; device += 1) {
      if (this.#layout.work[device]! + work[item]! / degree > 1 + slop) return false;
      if (this.#layout.memory[device]! + memory[item]! / degree > 1 + slop) return false;
    }
    // The two halves of a group are twins while they hold the same loads, and so are neighbouring top groups.
    for (let up = level, at = group; up < levels; up += 1, at >>= 1) {
      const twin = up === levels - 1 ? at - 1 : at % 2 === 1 ? at - 1 : -1;
      if (twin >= 0 && this.#same(at, twin, up)) return false;
    }
    return true;
  }

  place(item: number): void {
    const { items, levels, devices, least, cost } = this.#problem;
    this.#left -= 1;
    if (
      this.#left < 0 ||
      this.#problem.budget.isSpent ||
      this.#layout.cost + this.#restCost[item]! >= this.#limit - slop
    )
      return;
    if (item === items) {
      this.best = this.#layout.keep();
      this.#limit = this.best.cost;
      return;
    }
    const byCost = Array.from({ length: levels - least[item]! }, (_, above) => least[item]! + above);
    byCost.sort((a, b) => cost[a]![item]! - cost[b]![item]! || a - b);
    for (const level of byCost) {
      for (let group = 0; group < devices >> level; group += 1) {
        if (!this.#mayGo(item, level, group)) continue;
        this.#layout.put(item, level, group);
        this.place(item + 1);
        this.#layout.remove(item);
      }
    }
  }
}

/**
 * Tries all placements within the limits that cost less than `limit`, items with most work first, until the budget is spent.
 *
 * @param budget - number of placements of single items
 * @returns the cheapest placement that was found
 */
export function cheapest(problem: Problem, limit: number, budget: number): LayoutCopy | undefined {
  const enumeration = new Enumeration(problem, limit, budget);
  enumeration.place(0);
  return enumeration.best;
}
