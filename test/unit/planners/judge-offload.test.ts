import { describe, expect, test } from 'vitest';
import { judgeOffload, runPlanner } from '../../../src/index.ts';
import type { JudgeOffloadInput } from '../../../src/planners/judge-offload/index.ts';
import { refusal } from '../../support/basics/refusal.ts';

/** Four layers of 10 bytes; a layer computes for 2 s and is fetched in 1 s. */
const judge: JudgeOffloadInput = {
  layers: 4,
  layerBytes: 10,
  sequenceTokens: 100,
  activationBytes: { base: 5 },
  layerSeconds: { perToken: 0.02 },
  memoryBytes: 25,
  pcieBytesPerSecond: 10,
  actorSmShare: 0,
};
const plan = (changes: Partial<JudgeOffloadInput>) => runPlanner(judgeOffload, { ...judge, ...changes });

describe('judge-offload', () => {
  test('all layers stay where there is memory for them', () => {
    expect(plan({ memoryBytes: 45 })).toEqual({
      residentLayers: 4,
      streamedLayers: [],
      prefetchDepth: 0,
      mpsShare: 1,
      memoryBytes: 45,
      layerSeconds: 2,
      transferSeconds: 1,
      pipelinedSeconds: 8,
      sequentialSeconds: 8,
    });
  });

  test('resident layers hide the transfers of a judge that computes for longer than it fetches', () => {
    // With two buffers only the first transfer shows; one buffer and two layers between the streamed ones hide all.
    expect(plan({})).toMatchObject({ residentLayers: 0, streamedLayers: [0, 1, 2, 3], prefetchDepth: 2 });
    expect(plan({})).toMatchObject({ pipelinedSeconds: 9, sequentialSeconds: 12, memoryBytes: 25 });
    expect(plan({ memoryBytes: 35 })).toMatchObject({ residentLayers: 2, streamedLayers: [1, 3], pipelinedSeconds: 8 });
  });

  test('with one buffer, resident layers stand between the streamed ones and hide their transfers', () => {
    const slow = plan({ maxPrefetchDepth: 1, pcieBytesPerSecond: 5 });
    expect(slow).toMatchObject({ residentLayers: 1, prefetchDepth: 1, transferSeconds: 2, pipelinedSeconds: 12 });
    const even = plan({ maxPrefetchDepth: 1, pcieBytesPerSecond: 5, memoryBytes: 35 });
    expect(even).toMatchObject({ streamedLayers: [1, 3], pipelinedSeconds: 8, sequentialSeconds: 12 });
  });

  test('a judge that waits for PCIe gives back the SMs that it cannot use', () => {
    // 4 transfers of 4 s, the last layer after them: more SMs than 50 % of what it can fill shorten its end only.
    const bound = plan({ pcieBytesPerSecond: 2.5, memoryBytes: 25, actorSmShare: 0.2, latencyTolerance: 0.1 });
    expect(bound.mpsShare).toBeLessThan(0.8);
    expect(plan({ pcieBytesPerSecond: 2.5, actorSmShare: 0.2 }).mpsShare).toBe(0.8);
  });

  test('SMs that the judge cannot fill stay with the actor', () => {
    // RollPacker measured 22.6 % of the SMs for a 7B judge with a GPU to itself.
    const memoryBytes = 45;
    expect(plan({ memoryBytes, judgeSmShare: 0.226 })).toMatchObject({ mpsShare: 0.23, layerSeconds: 2 });
    expect(plan({ memoryBytes, judgeSmShare: 0.226, actorSmShare: 0.887 })).toMatchObject({
      mpsShare: 0.11,
      layerSeconds: expect.closeTo((2 * 0.226) / 0.11, 12),
    });
  });

  test('longer sequences need more memory, and more layers are streamed (RollPacker §4.3)', () => {
    const activationBytes = { base: 1, perToken: 0.05 };
    const resident = [100, 300, 500].map(
      (sequenceTokens) => plan({ sequenceTokens, activationBytes, memoryBytes: 46 }).residentLayers,
    );
    expect(resident).toEqual([4, 2, 0]);
  });

  test('measured points are joined by lines; before the first its value holds, beyond the last nothing is known', () => {
    const layerSeconds = [
      { tokens: 100, value: 1 },
      { tokens: 300, value: 4 },
    ];
    const seconds = (sequenceTokens: number) => plan({ sequenceTokens, layerSeconds }).layerSeconds;
    expect([50, 100, 200, 300].map(seconds)).toEqual([1, 1, 2.5, 4]);
    expect(refusal(() => seconds(301))).toEqual({
      code: 'infeasible',
      path: 'layerSeconds',
      expected: 'sequences of at most 300 tokens, the longest that was measured',
      got: '301',
    });
    const activationBytes = layerSeconds;
    expect(refusal(() => plan({ sequenceTokens: 301, activationBytes }))).toMatchObject({
      code: 'infeasible',
      path: 'activationBytes',
    });
  });

  test('transfers have a fixed part too', () => {
    expect(plan({ transferOverheadSeconds: 0.25 }).transferSeconds).toBe(1.25);
  });

  test('memory that does not hold one layer is infeasible', () => {
    expect(refusal(() => plan({ memoryBytes: 14 }))).toEqual({
      code: 'infeasible',
      path: 'memoryBytes',
      expected: 'at least 15 bytes: fixed bytes, activations and one layer',
      got: '14',
    });
    expect(plan({ memoryBytes: 15 })).toMatchObject({ residentLayers: 0, prefetchDepth: 1, pipelinedSeconds: 12 });
    expect(refusal(() => plan({ memoryBytes: 15, fixedBytes: 1 })).code).toBe('infeasible');
  });

  test('an actor that leaves less than one percent of the SMs leaves none', () => {
    expect(refusal(() => plan({ actorSmShare: 0.995 }))).toMatchObject({ code: 'infeasible', path: 'actorSmShare' });
    expect(plan({ actorSmShare: 0.99 }).mpsShare).toBe(0.01);
    expect(plan({ actorSmShare: 0.7, memoryBytes: 45 }).mpsShare).toBe(0.3);
  });

  test('the largest judge is planned within seconds', () => {
    const started = performance.now();
    const large = plan({ layers: 256, memoryBytes: 1285, pcieBytesPerSecond: 7, judgeSmShare: 0.4 });
    expect(large.residentLayers).toBeGreaterThan(100);
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  test.each<[string, object, string]>([
    ['no layers', { layers: 0 }, 'layers'],
    ['more layers than it can search', { layers: 257 }, 'layers'],
    ['a share above 1', { actorSmShare: 1.1 }, 'actorSmShare'],
    ['bandwidth 0', { pcieBytesPerSecond: 0 }, 'pcieBytesPerSecond'],
    ['negative memory', { memoryBytes: -1 }, 'memoryBytes'],
    ['a function without coefficients', { activationBytes: {} }, 'activationBytes'],
    ['a coefficient that is unknown', { activationBytes: { perByte: 1 } }, 'activationBytes.perByte'],
    ['a negative coefficient', { layerSeconds: { base: -1 } }, 'layerSeconds.base'],
    ['a bare number', { layerSeconds: 2 }, 'layerSeconds'],
    ['no points', { layerSeconds: [] }, 'layerSeconds'],
    [
      'points out of order',
      {
        layerSeconds: [
          { tokens: 5, value: 1 },
          { tokens: 5, value: 2 },
        ],
      },
      'layerSeconds[1].tokens',
    ],
    ['a point without a value', { layerSeconds: [{ tokens: 5 }] }, 'layerSeconds[0].value'],
    ['no prefetch', { maxPrefetchDepth: 0 }, 'maxPrefetchDepth'],
    ['an unknown key', { smShare: 0.5 }, 'smShare'],
  ])('refuses %s', (_, changes, path) => {
    const refused = refusal(() => plan(changes));
    expect([refused.code, refused.path]).toEqual(['invalid_input', path]);
  });
});
