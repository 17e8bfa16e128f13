/** What the benchmark of flex-ulysses measures, on batches that take no time. */
import { expect, test } from 'vitest';
import {
  besideKnown,
  changed,
  efforts,
  inputsOf,
  qualities,
  quantile,
  replanning,
  ways,
} from '../../../bench/flex-ulysses/study.ts';
import { familyLengths, placementFamilies } from '../../support/placement/families.ts';
import { communicationRatio, knownInstances } from '../../support/placement/instances.ts';

const batches = { family: 'text', sequences: 16, devices: 8, seeds: [1, 2] } as const;

test('every way has a row, and Ulysses at degree 8 sends 7/64 of the tokens', () => {
  const rows = qualities(inputsOf(batches));
  expect(rows.map((row) => row.way)).toEqual(Object.keys(ways));
  for (const row of rows) {
    expect(row.balance).toBeGreaterThanOrEqual(1 - 1e-9);
    expect(row.bound).toBeLessThanOrEqual(row.communication + 1e-9);
  }
  expect(rows.at(-1)!.communication).toBeCloseTo(7 / 64, 12);
});

test('the same seed gives the same batch, and so many lengths change', () => {
  for (const family of placementFamilies) {
    expect(familyLengths(family, 3, 40)).toEqual(familyLengths(family, 3, 40));
    const before = inputsOf({ ...batches, family });
    changed({ ...batches, family }, 4).forEach(({ lengths }, at) => {
      const places = lengths.filter((length, index) => length !== before[at]!.lengths[index]);
      expect(places.length).toBeGreaterThan(0);
      expect(places.length).toBeLessThanOrEqual(4);
    });
  }
});

test('times, efforts and planning again have a figure for each input', () => {
  const run = efforts(inputsOf(batches));
  expect([run.default.length, run.fast.length, run.fastCommunication.length]).toEqual([2, 2, 2]);
  expect(replanning(batches, 1, 'fast').map((one) => one.compute)).toHaveLength(2);
});

test('a known batch is held against the best known, and only 0 equals 0', () => {
  const single = knownInstances.find(({ id }) => id === 'single_8')!;
  expect(besideKnown(single, 0.01, 'default')).toMatchObject({ compute: 1 / 1.01, communication: 1 });
  const none = knownInstances.find(({ id }) => id === 'vid_64_8')!;
  expect(communicationRatio(none, 0.01, 0)).toBe(1);
  expect(communicationRatio(none, 0.01, 1)).toBe(Number.POSITIVE_INFINITY);
});

test('a quantile is the value that so many do not exceed', () => {
  expect(quantile([3, 1, 2], 0.95)).toBe(3);
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2);
});
