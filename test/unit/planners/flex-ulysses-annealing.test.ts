/** What the annealings of flex-ulysses have in common: random numbers, climbs, and how a schedule goes. */
import { describe, expect, test } from 'vitest';
import { Budget } from '../../../src/planners/flex-ulysses/search/budget.ts';
import { climb, Sequence } from '../../../src/planners/flex-ulysses/search/random.ts';
import { Annealing } from '../../../src/planners/flex-ulysses/search/schedule.ts';
import { range } from '../../support/basics/numbers.ts';

describe('random numbers', () => {
  test('every number below n comes about as often as the others, the same again for the same seed', () => {
    const [one, same, other] = [new Sequence(5), new Sequence(5), new Sequence(6)];
    const counts = new Array<number>(7).fill(0);
    let agree = 0;
    let repeats = 0;
    for (let draw = 0; draw < 70_000; draw += 1) {
      const number = one.below(7);
      counts[number]! += 1;
      if (same.below(7) === number) repeats += 1;
      if (other.below(7) === number) agree += 1;
    }
    expect(repeats).toBe(70_000);
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
    expect(Math.abs(agree - 10_000)).toBeLessThan(500);
    const whole = range(1000).map(() => one.next());
    expect(whole.every((number) => Number.isInteger(number) && number >= 0 && number < 2 ** 32)).toBe(true);
    for (let bit = 0; bit < 32; bit += 1) {
      const set = whole.filter((number) => Math.floor(number / 2 ** bit) % 2 === 1).length;
      expect(Math.abs(set - 500), `bit ${bit}`).toBeLessThan(80);
    }
  });

  test('a climb of more than h has the probability exp(−h)', () => {
    const random = new Sequence(3);
    const climbs = range(50_000).map(() => climb(random));
    for (const height of [0.1, 0.5, 1, 2, 4]) {
      const share = climbs.filter((one) => one > height).length / climbs.length;
      expect(Math.abs(share - Math.exp(-height)), `${height}`).toBeLessThan(0.01);
    }
    expect(Math.min(...climbs)).toBeGreaterThan(0);
  });
});

describe('what annealings have in common', () => {
  /** Always climbs by the same. */
  class Steady extends Sequence {
    override next(): number {
      return 4096;
    }
  }
  const height = climb(new Steady(1));

  /** Notes what each step may do. */
  class Noted extends Annealing {
    readonly free: number[] = [];
    readonly dear: number[] = [];
    protected step(): void {
      this.free.push(this.allowed(0));
      this.dear.push(this.allowed(2));
    }
  }
  const ran = (steps: number): Noted => {
    const annealing = new Noted(new Steady(1), new Budget());
    annealing.run({ steps, temperature: [8, 0.5], price: [2, 32] });
    return annealing;
  };

  test('64 legs have as many steps as are asked for, together', () => {
    expect(ran(640).free).toHaveLength(640);
    expect(ran(65).free).toHaveLength(128);
  });

  test('temperature and price go evenly, by logarithm, from first to last', () => {
    const { free, dear } = ran(640);
    free.forEach((allowed, step) => {
      const share = Math.floor(step / 10) / 63;
      const temperature = 8 * 0.0625 ** share;
      const price = 2 * 16 ** share;
      expect(allowed).toBeCloseTo((height * temperature) / price, 6);
      expect(dear[step]).toBeCloseTo((height * temperature - 2) / price, 6);
    });
  });
});
