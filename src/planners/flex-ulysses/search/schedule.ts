/** The common part of annealings: their cooling, and the choice of steps. */
import { climb, type Sequence } from './random.ts';

/** The course of an annealing: temperature and the price of excess go evenly (in logarithm) from first to last. */
export interface Schedule {
  readonly steps: number;
  readonly temperature: readonly [number, number];
  readonly price: readonly [number, number];
  /** Whether degrees stay as they are; over devices only. */
  readonly frozen?: boolean;
  /** Steps of 256 that move layers; over devices only. */
  readonly layers?: number;
  /** The level that whole items are mostly spread at; the last one if absent. */
  readonly usual?: number;
}

/** Number of legs of an annealing, each at one temperature. */
const legs = 64;

/** Returns temperature and price of a leg. */
function coolingAt({ temperature, price }: Schedule, leg: number): [number, number] {
  const share = leg / (legs - 1);
  // Single precision: a power that differs in its last bit, as it does between machines, changes nothing.
  const between = ([first, last]: readonly [number, number]): number => Math.fround(first * (last / first) ** share);
  return [between(temperature), between(price)];
}

/** Simulated annealing: a step that makes things worse is taken the less often, the colder it is. */
export abstract class Annealing {
  protected readonly random: Sequence;
  #temperature = 0;
  #price = 0;

  constructor(random: Sequence) {
    this.random = random;
  }

  /** Takes all steps of a schedule. */
  run(schedule: Schedule): void {
    for (let leg = 0; leg < legs; leg += 1) {
      [this.#temperature, this.#price] = coolingAt(schedule, leg);
      for (let step = Math.ceil(schedule.steps / legs); step > 0; step -= 1) this.step();
    }
  }

  protected abstract step(): void;

  /** Draws the excess that a step of this cost may add and still be taken. */
  protected allowed(cost: number): number {
    return (climb(this.random) * this.#temperature - cost) / this.#price;
  }
}
