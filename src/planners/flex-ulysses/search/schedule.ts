/** Parts that all annealings share: their cooling, and the choice of steps. */
import type { Budget } from './budget.ts';
import { climb, type Sequence } from './random.ts';

/**
 * The course of an annealing: the temperature and the price of excess go from their first to their last value in equal logarithmic
 * steps.
 */
export interface Schedule {
  readonly steps: number;
  readonly temperature: readonly [number, number];
  readonly price: readonly [number, number];
  /** What stays: the degree of each item, or how many items have each degree; over devices only. */
  readonly frozen?: 'items' | 'counts';
  /** Steps of 256 that move layers; over devices only. */
  readonly layers?: number;
  /** The usual level at which items are spread; the last level if absent. */
  readonly usual?: number;
}

/** Number of legs of an annealing, each at one temperature. */
const legs = 64;
/** One annealing may take this share of the remaining steps, so that each way of the search has its turn. */
const share = 1 / 2;
/** Budget steps per annealing step, besides one step for each device that the annealing step looks at. */
const each = 8;

/** Returns the temperature and the price of a leg. */
function coolingAt({ temperature, price }: Schedule, leg: number): [number, number] {
  const share = leg / (legs - 1);
  // In single precision, because powers may differ in the last bit between machines.
  const between = ([first, last]: readonly [number, number]): number => Math.fround(first * (last / first) ** share);
  return [between(temperature), between(price)];
}

/** Simulated annealing: the lower the temperature, the more rarely a step that makes the layout worse is taken. */
export abstract class Annealing {
  protected readonly random: Sequence;
  protected readonly budget: Budget;
  #temperature = 0;
  #price = 0;

  constructor(random: Sequence, budget: Budget) {
    this.random = random;
    this.budget = budget;
  }

  /** Takes all steps of a schedule. If the budget does not allow that, every leg is shorter, so that the end is cold. */
  run(schedule: Schedule): void {
    const { budget } = this;
    const end = budget.left * (1 - share);
    for (let leg = 0; leg < legs; leg += 1) {
      if (budget.isSpent) return;
      [this.#temperature, this.#price] = coolingAt(schedule, leg);
      const endOfLeg = budget.left - (budget.left - end) / (legs - leg);
      for (let step = Math.ceil(schedule.steps / legs); step > 0; step -= 1) {
        if (budget.left <= endOfLeg) {
          budget.cut ??= 'steps';
          break;
        }
        budget.left -= each;
        this.step();
      }
    }
  }

  protected abstract step(): void;

  /** Draws the largest excess that a step with this cost may add. */
  protected allowed(cost: number): number {
    return (climb(this.random) * this.#temperature - cost) / this.#price;
  }
}
