import { expect, test } from 'vitest';
import { create, stalenessPacing } from '../../../src/index.ts';
import type { StalenessPacingInput } from '../../../src/policies/staleness-pacing/index.ts';
import { discarding } from '../../../src/sim/asynchronous/discarding.ts';
import { type AsynchronousJob, simulateAsynchronous } from '../../../src/sim/asynchronous/driver.ts';
import type { DrivenPolicy } from '../../../src/sim/cluster/event-loop.ts';
import { jobPreset } from '../../../src/sim/models/presets.ts';
import { marginalWorkload } from '../../../src/sim/workload/marginal.ts';

const { cost } = jobPreset('qwen2.5-7b-8k').job;
const job: AsynchronousJob = { engines: 1, cost, groupsPerBatch: 8, responsesPerPrompt: 4 };
/** One response in ten is ten times as long as the others. */
const lengths = (longTokens: number) =>
  marginalWorkload({
    ...{ name: 'two lengths', source: 'made up', correlation: 0, capTokens: 8192, seed: 1 },
    responseTokens: (share) => (share < 0.9 ? 400 : longTokens),
    promptTokens: () => 100,
  });
const paced = (more: Partial<StalenessPacingInput>): DrivenPolicy =>
  create(stalenessPacing, { groupsPerBatch: 8, ...more }) as DrivenPolicy;
const options = { warmUp: 3, batches: 12 };

test('with pacing nothing is discarded, no group is too old, and a run can be repeated', () => {
  for (const maxStaleness of [0, 1, 3]) {
    const run = () => simulateAsynchronous(job, paced({ maxStaleness }), lengths(4000), options);
    const first = run();
    expect(first).toEqual(run());
    expect(first).toMatchObject({ groups: 96, wastedTokens: 0, largestLag: maxStaleness });
  }
});

test('the trainer and the engines take the time that they cost', () => {
  // Every group is of one length, and the engines are done before the trainer is.
  const run = simulateAsynchronous(job, paced({ maxStaleness: 2 }), lengths(400), options);
  expect(run.trainerWaits).toBeCloseTo(0, 6);
  const passes = cost.referenceSecondsPerToken + cost.logProbSecondsPerToken + cost.trainSecondsPerToken;
  const batch = [cost.trainBaseSeconds, cost.weightSyncSeconds, 2 * cost.referenceSwapSeconds].reduce((a, b) => a + b);
  expect(run.seconds).toBeCloseTo(12 * (batch + 32 * (cost.trainSecondsPerResponse + 400 * passes)), 3);
  expect(run.tokens).toBe(12 * 32 * 400);
});

test('discarding gives up long groups, whose tokens are wasted; a window lets short ones pass them', () => {
  const slow = lengths(8000);
  const dropped = simulateAsynchronous(
    job,
    discarding({ groupsPerBatch: 8, maxStaleness: 1, concurrency: 8 }),
    slow,
    options,
  );
  expect(dropped.wastedTokens).toBeGreaterThan(0);
  expect(dropped.largestLag).toBeLessThanOrEqual(1);
  const inOrder = simulateAsynchronous(job, paced({ maxStaleness: 4, maxGroups: 12, windowGroups: 8 }), slow, options);
  const inWindow = simulateAsynchronous(job, paced({ maxStaleness: 4, maxGroups: 12 }), slow, options);
  expect(inOrder.tokens / inOrder.groups).toBeGreaterThan((1.1 * dropped.tokens) / dropped.groups);
  expect(inWindow.seconds).toBeLessThan(0.9 * inOrder.seconds);
  expect(inWindow.wastedTokens + inOrder.wastedTokens).toBe(0);
});
