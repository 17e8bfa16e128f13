import { describe, expect, test } from 'vitest';
import { figures } from '../../../bench/rollpacker-figures.ts';

describe('figures of RollPacker', () => {
  test.each(figures(1))('$id, $what: $paper', ({ paper, ours, tolerance }) => {
    expect(Math.abs(ours - paper) / paper).toBeLessThan(tolerance);
  });
});
