/** Profiles as large as they may be: what they cost, and that they say what a few of their points say. */
import { expect, test } from 'vitest';
import { adaptiveTp, create } from '../../../src/index.ts';
import { selectTp } from '../../../src/policies/adaptive-tp/index.ts';
import type { ProfileRow } from '../../../src/schemas/index.ts';

const most = 10_000;
const numbers = Array.from({ length: most }, (_, at) => at + 1);

/** Seconds and bytes that grow with batch × length, and so are exact between any points of a profile. */
const row = (tp: number, batchSize: number, sequenceLength: number): ProfileRow => ({
  tp,
  batchSize,
  sequenceLength,
  decodeStepSeconds: 0.02 / tp + 1e-4 * batchSize + 2e-9 * batchSize * sequenceLength,
  prefillSeconds: (1e-6 * batchSize * sequenceLength) / tp,
  bytes: (10 + 1e-4 * batchSize * sequenceLength) / tp,
});

/** Batch sizes of one length each, beside one batch size of as many lengths. */
const large = [...numbers.map((batch) => row(1, batch, 1)), ...numbers.slice(1).map((length) => row(1, 1, length))];
const few = [1, most].flatMap((batch) => [1, most].map((length) => row(1, batch, length)));
const workload = { responses: 512, promptTokens: 200, responseTokens: 2000, longestTokens: 9000 };

test('10,000 batch sizes of one length beside 10,000 lengths predict what the four corners do, within seconds', () => {
  const predicted = (rows: ProfileRow[]) =>
    selectTp({ rows, gpuMemoryBytes: 200 }, { ...workload, gpus: 1 }).candidates[0]!.predictedSeconds!;
  const expected = predicted(few);
  const begun = performance.now();
  expect(predicted(large)).toBeCloseTo(expected, 6);
  // With every point of 10,000 × 10,000 in the memory it would take minutes, if it ended.
  expect(performance.now() - begun).toBeLessThan(30_000);
});

test('the policy takes it, and takes rows that are measured beside it', () => {
  const servers = [{ serverId: 'a', gpuIds: ['a0', 'a1'] }];
  const config = { servers, kvHeads: 2, modelBytes: 10, gpuMemoryBytes: 200, profile: large };
  const begun = performance.now();
  const policy = create(adaptiveTp, { ...config, expectedWorkload: { short: workload } });
  for (let at = 0; at < 3; at += 1) policy.send({ type: 'profile.measured', at, rows: [row(2, 1, 1 + at)] });
  const reason = { code: 'queue_below_threshold' as const, queued: 0, promptsPerRound: 1 };
  const plan = { roundId: 'r', kind: 'short' as const, weightVersion: 0, queued: [], reason };
  const set = policy.send({ type: 'round.planned', at: 3, ...plan }).find((one) => one.type === 'kind-tp.set');
  // Two replicas of one GPU against one of two, which has measured a single batch size.
  expect(set).toMatchObject({ tp: 2, reason: { code: 'start_profile' } });
  expect(performance.now() - begun).toBeLessThan(60_000);
});
