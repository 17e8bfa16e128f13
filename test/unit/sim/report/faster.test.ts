import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  equalText,
  factorText,
  fasterText,
  pageSigns,
  plainSigns,
  speedupOf,
} from '../../../../src/sim/report/faster.ts';

const of = (value: number, low = value, high = value) => ({ value, low, high, confidence: 0.95 });

describe('the sentence about a speedup', () => {
  it.each([
    [of(1.27, 1.24, 1.3), '1.27 ± 0.03x as fast (21% of the time saved)'],
    [of(1.5), '1.50x as fast (33% of the time saved)'],
    [of(0.8, 0.75, 0.84), '0.80 ± 0.05x as fast (25% more time)'],
    [of(1.005), '1.00x as fast (0.5% of the time saved)'],
    [of(1.0001), '1.00x as fast (no time saved)'],
    [of(1.5, 1.4, 2.9), '1.50x (1.40 to 2.90) as fast (33% of the time saved)'],
    [of(1.5, 0.9, Number.POSITIVE_INFINITY), '1.50x (0.90 and more) as fast (33% of the time saved)'],
  ])('%o: %s', (speedup, text) => {
    expect(fasterText(speedup, plainSigns)).toBe(text);
  });

  it('has the signs of its place', () => {
    expect(fasterText(of(1.5), pageSigns)).toBe('1.50\u00a0× as fast (33\u00a0% of the time saved)');
    expect(equalText(of(1.13, 1.1, 1.16), pageSigns)).toBe('1.13\u00a0±\u00a00.03\u00a0× at equal tokens');
  });

  it('names what something is faster than', () => {
    expect(fasterText(of(1.27, 1.24, 1.3), plainSigns, 'verl')).toBe(
      '1.27 ± 0.03x as fast as verl (21% of the time saved)',
    );
  });

  it('says the same of a saving: its ends stay in order, also beyond all of the time', () => {
    const share = fc.double({ min: -50, max: 50, noNaN: true });
    fc.assert(
      fc.property(fc.tuple(share, share, fc.double({ min: -5, max: 0.99, noNaN: true })), ([a, b, value]) => {
        const { low, value: middle, high } = speedupOf(of(value, Math.min(a, b, value), Math.max(a, b, value)));
        expect([low, middle, high].toSorted((x, y) => x - y)).toEqual([low, middle, high]);
        expect(1 - 1 / middle).toBeCloseTo(value, 9);
        expect(factorText({ low, value: middle, high, confidence: 0.95 }, plainSigns)).not.toMatch(/NaN|Infinity|-/);
      }),
    );
  });
});
