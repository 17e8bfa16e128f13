/** Segments of a rollout: no gap, no overlap, no time lost, no bubble hidden. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addActivity, rolloutSegments } from '../../../../../src/sim/cluster/engines/timeline.ts';
import type { Segment } from '../../../../../src/sim/comparison/result.ts';

const ran = (startSeconds: number, endSeconds: number, running: number): Segment => ({
  startSeconds,
  endSeconds,
  activity: 'rollout',
  running,
});

test('idle time stands between what ran, before it and after it', () => {
  expect(rolloutSegments([ran(1, 2, 5), ran(4, 5, 5)], 0, 7)).toEqual([
    ran(0, 1, 0),
    ran(1, 2, 5),
    ran(2, 4, 0),
    ran(4, 5, 5),
    ran(5, 7, 0),
  ]);
  expect(rolloutSegments([], 3, 4)).toEqual([ran(3, 4, 0)]);
  expect(rolloutSegments([], 3, 3)).toEqual([]);
});

test('neighbours that hardly differ are joined, with their mean over time; the difference is to the first of them', () => {
  const recorded = [ran(0, 3, 64), ran(3, 4, 62), ran(4, 5, 61), ran(5, 6, 60), ran(6, 7, 59)];
  expect(rolloutSegments(recorded, 0, 7)).toEqual([ran(0, 5, (3 * 64 + 62 + 61) / 5), ran(5, 7, 59.5)]);
});

test('covers the rollout without gaps and keeps running sequences and idle time, whatever was recorded', () => {
  const piece = fc.record({
    gap: fc.constantFrom(0, 0, 0, 0.25, 1.5),
    length: fc.constantFrom(0.125, 0.5, 2),
    running: fc.integer({ min: 1, max: 90 }),
  });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.constantFrom(0, 1), (pieces, after) => {
      let at = 10;
      const recorded = pieces.map(({ gap, length, running }) => {
        const start = at + gap;
        at = start + length;
        return ran(start, at, running);
      });
      const before = structuredClone(recorded);
      const segments = rolloutSegments(recorded, 10, at + after);
      expect(recorded).toEqual(before);
      let last = 10;
      for (const one of segments) {
        expect(one.startSeconds).toBe(last);
        expect(one.endSeconds).toBeGreaterThan(last);
        last = one.endSeconds;
      }
      expect(last).toBe(at + after);
      const area = (list: readonly Segment[]) =>
        list.reduce((sum, one) => sum + one.running * (one.endSeconds - one.startSeconds), 0);
      expect(area(segments)).toBeCloseTo(area(recorded), 6);
      const idle = segments
        .filter((one) => one.running === 0)
        .reduce((sum, one) => sum + one.endSeconds - one.startSeconds, 0);
      expect(idle).toBeCloseTo(pieces.reduce((sum, one) => sum + one.gap, 0) + after, 9);
    }),
  );
});

test('what takes no time is not drawn', () => {
  const segments: Segment[] = [];
  addActivity(segments, 'reward', 2, 2);
  addActivity(segments, 'train', 2, 5);
  expect(segments).toEqual([{ startSeconds: 2, endSeconds: 5, activity: 'train', running: 0 }]);
});
