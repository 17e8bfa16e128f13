/** The search of judge-offload: what it looks at, how ties go, and memory that holds a layer by a hair. */
import { describe, expect, test } from 'vitest';
import { judgeOffload, runPlanner } from '../../../src/index.ts';
import type { JudgeOffloadInput } from '../../../src/planners/judge-offload/index.ts';
import { choose } from '../../../src/planners/judge-offload/search.ts';
import { generator } from '../../support/basics/numbers.ts';
import { refusal } from '../../support/basics/refusal.ts';

const judge: JudgeOffloadInput = {
  layers: 8,
  layerBytes: 10,
  sequenceTokens: 100,
  activationBytes: { base: 5 },
  layerSeconds: { perToken: 0.02 },
  memoryBytes: 65,
  pcieBytesPerSecond: 10,
  actorSmShare: 0,
};
const plan = (changes: Partial<JudgeOffloadInput>) => runPlanner(judgeOffload, { ...judge, ...changes });

/** The greatest double below a positive one. */
function below(value: number): number {
  const bits = new BigUint64Array(Float64Array.of(value).buffer);
  bits[0]! -= 1n;
  return new Float64Array(bits.buffer)[0]!;
}

/** A choice, and how many forward passes were worked out for it: each reads its pace once. */
function counted(layers: number, slots: number, [layerSeconds, transferSeconds]: readonly [number, number]) {
  let passes = 0;
  const paceOf = (percent: number) => ({
    get layerSeconds() {
      return (layerSeconds * 100) / percent;
    },
    get transferSeconds() {
      passes += 1;
      return transferSeconds;
    },
  });
  const choice = choose({ layers, slots, maxDepth: layers }, 100, paceOf, 0);
  return { choice, passes };
}

describe('what the search looks at', () => {
  test('where one buffer hides every transfer, no other number of buffers, and no share of the SMs that cannot do', () => {
    const { choice, passes } = counted(80, 60, [1, 0.5]);
    expect(choice).toMatchObject({ depth: 1, percent: 100, seconds: 80 });
    // One pass for each lead of resident layers, to find the least time, and again for the choice.
    expect(passes).toBe(2 * 60);
  });

  test('where all layers fit, no pass at all', () => {
    const { choice, passes } = counted(80, 80, [1, 0.5]);
    expect(choice).toEqual({ streamed: [], depth: 0, percent: 100, seconds: 80 });
    expect(passes).toBe(0);
  });

  test('of the shares of the SMs, half of those that are left at each step', () => {
    // Every number of buffers and every lead: for each step of the bisection no more than for the least time.
    const slots = 12;
    const all = (slots * (slots + 1)) / 2;
    const { passes } = counted(24, slots, [1, 3]);
    expect(passes).toBeLessThanOrEqual(all * (1 + Math.ceil(Math.log2(100)) + 1));
  });
});

test('ties go to the longest lead of resident layers', () => {
  // Transfers that take no time to speak of: any layers may be streamed, and the last ones are.
  const streamed = plan({ memoryBytes: 55, pcieBytesPerSecond: 1e15 });
  expect(streamed).toMatchObject({ residentLayers: 4, prefetchDepth: 1, streamedLayers: [4, 5, 6, 7] });
  expect(plan({ memoryBytes: 75, pcieBytesPerSecond: 1e15 }).streamedLayers).toEqual([6, 7]);
});

describe('memory', () => {
  test('layers of an odd size: as many as fit to the last byte, whichever way their quotient is rounded', () => {
    const next = generator(3);
    let edges = 0;
    for (let run = 0; run < 3000; run += 1) {
      const layerBytes = 1 + 9 * Math.sqrt(next());
      const base = run % 2 === 0 ? 0 : 100 * next();
      const slots = 1 + Math.floor(next() * 7);
      // A sum that was rounded, and the number before it.
      const whole = base + slots * layerBytes;
      for (const memoryBytes of [whole, below(whole)]) {
        const input = { layerBytes, activationBytes: { base }, memoryBytes };
        const fits = base + slots * layerBytes <= memoryBytes;
        if (!fits && slots === 1) {
          expect(refusal(() => plan(input))).toMatchObject({ code: 'infeasible', path: 'memoryBytes' });
          continue;
        }
        const { memoryBytes: used, residentLayers, prefetchDepth } = plan(input);
        expect(used).toBeLessThanOrEqual(memoryBytes);
        expect(residentLayers + prefetchDepth).toBe(fits ? slots : slots - 1);
        if (fits !== Math.floor((memoryBytes - base) / layerBytes) >= slots) edges += 1;
      }
    }
    expect(edges).toBeGreaterThan(20);
  });
});
