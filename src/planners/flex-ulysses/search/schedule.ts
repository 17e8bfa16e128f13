/** How an annealing cools. */

/** How an annealing runs: temperature and the price of being over a limit go evenly (in logarithm) from first to last. */
export interface Schedule {
  readonly steps: number;
  readonly temperature: readonly [number, number];
  readonly price: readonly [number, number];
  /** Whether degrees stay as they are; over devices only. */
  readonly frozen?: boolean;
}

/** An annealing goes in so many legs, each at one temperature. */
export const legs = 64;

/** Temperature and price of a leg. */
export function coolingAt({ temperature, price }: Schedule, leg: number): [number, number] {
  const share = leg / (legs - 1);
  const between = ([first, last]: readonly [number, number]): number => first * (last / first) ** share;
  return [between(temperature), between(price)];
}
