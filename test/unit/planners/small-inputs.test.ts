/** Inputs of a few hundred bytes whose plans would take minutes, or all memory: refused, or planned at once. */
import { describe, expect, test } from 'vitest';
import { flexUlysses, microBatches, runPlanner } from '../../../src/index.ts';
import { selectTp, type TpProfile } from '../../../src/policies/adaptive-tp/index.ts';
import { refusal } from '../../support/basics/refusal.ts';

const of = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
/** Far above what any of them takes, and far below what they took. */
const limit = { timeout: 60_000 };

describe('micro-batches', () => {
  const small = { lengths: of(500, 5), maxTokensPerMicroBatch: 10 };

  test('as many as a number asks for are refused before they are made', limit, () => {
    const path = 'maxTokensPerMicroBatch';
    expect(refusal(() => runPlanner(microBatches, { ...small, ranks: 10, minMicroBatches: 1_000_000 }))).toMatchObject({
      code: 'limit_exceeded',
      path,
      got: '10000000',
    });
    expect(
      refusal(() => runPlanner(microBatches, { ...small, lengths: [], ranks: 65_536, minMicroBatches: 16 })),
    ).toMatchObject({
      code: 'limit_exceeded',
      path,
    });
  });

  test('most of many being empty costs no more than making them', limit, () => {
    // Each sequence once looked at every one of them: 2,000 million steps.
    const plan = runPlanner(microBatches, { ...small, lengths: of(10_000, 5), ranks: 1, minMicroBatches: 200_000 });
    expect(plan).toMatchObject({ count: 200_000, metrics: { maxTokens: 5, empty: 190_000 } });
  });
});

describe('flex-ulysses', () => {
  test.each(['search', 'ulysses'] as const)(
    '%s: a few sequences on very many devices each are refused',
    limit,
    (strategy) => {
      const devices = 65_536;
      const error = refusal(() =>
        runPlanner(flexUlysses, { lengths: of(300, 1_000_000), devices, maxDegree: devices, strategy }),
      );
      expect(error).toMatchObject({ code: 'limit_exceeded', path: 'maxDegree' });
      expect(Number(error.got)).toBeGreaterThan(1_000_000);
    },
  );

  test('many sequences on few devices each are not', () => {
    const plan = runPlanner(flexUlysses, { lengths: of(16, 1_000_000), devices: 128, strategy: 'ulysses' });
    expect(plan.assignments.every((one) => one.degree === 8)).toBe(true);
  });
});

describe('adaptive-tp', () => {
  /** A token takes a millionth of a byte: any length fits somewhere. */
  const rows = [1, 4, 16].flatMap((batchSize) =>
    [1, 16].map((sequenceLength): TpProfile['rows'][number] => {
      const context = batchSize * sequenceLength;
      const [decodeStepSeconds, prefillSeconds] = [0.04 + 1e-4 * context, 1e-3 * context];
      return { tp: 1, batchSize, sequenceLength, decodeStepSeconds, prefillSeconds, bytes: 40 + 1e-6 * context };
    }),
  );
  const select = (responseTokens: number, longestTokens: number, gpuMemoryBytes: number) =>
    selectTp(
      { rows, gpuMemoryBytes, memoryUtilization: 1 },
      { gpus: 1, responses: 100, promptTokens: 2, responseTokens, longestTokens },
    );

  test('a workload whose steps cannot be counted is refused', limit, () => {
    // The search for the steps that fit did not end: numbers beyond 2³¹ were halved as 32 bits.
    expect(refusal(() => select(1e11, 1e12, 1.1e6))).toMatchObject({
      code: 'invalid_input',
      path: 'workload.responseTokens',
    });
  });

  test('the longest that is taken is predicted', limit, () => {
    expect(select(1e8, 1e9, 1100).predictedSeconds).toBeGreaterThan(0);
  });
});
