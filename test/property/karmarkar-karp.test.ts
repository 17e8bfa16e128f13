/** Karmarkar-Karp against a transcription of its rules, on values with many ties. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { karmarkarKarp } from '../../src/planners/micro-batches/index.ts';
import { runs } from '../support/basics/runs.ts';
import { naiveKarmarkarKarp } from '../support/oracles/karmarkar-karp.ts';

const values = (most: number, length: number) =>
  fc.array(fc.integer({ min: 0, max: most }), { maxLength: length, size: 'max' });
const list = fc.oneof(values(2, 30), values(9, 40), values(1e6, 60));

describe('karmarkarKarp', () => {
  test('free sizes: the same parts as by the rules', () => {
    fc.assert(
      fc.property(list, fc.integer({ min: 1, max: 12 }), (workloads, k) => {
        expect(karmarkarKarp(workloads, k)).toEqual(naiveKarmarkarKarp(workloads, k, false));
      }),
      runs(1500),
    );
  });

  test('equal sizes: the same parts as by the rules', () => {
    fc.assert(
      fc.property(list, fc.integer({ min: 1, max: 12 }), (given, k) => {
        const workloads = given.slice(0, given.length - (given.length % k));
        const parts = karmarkarKarp(workloads, k, { equalSize: true });
        expect(parts).toEqual(naiveKarmarkarKarp(workloads, k, true));
        expect(new Set(parts.map((part) => part.length)).size).toBe(1);
      }),
      runs(1500),
    );
  });
});
