/** Partial rollouts, and prompts that run on into the next round, in the simulator. */
import { describe, expect, test } from 'vitest';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import {
  losslessTailScheduler,
  type Scheduler,
  synchronousBaseline,
  tailBatchingScheduler,
} from '../../../src/sim/colocated/scheduler.ts';
import type { RunResult } from '../../../src/sim/comparison/result.ts';
import { plainJob, plainWorkload } from '../../support/simulator/host.ts';

const job = plainJob({ promptsPerRound: 4, responsesPerPrompt: 2 });
/** Every fifth prompt has one long response. */
const lengths = plainWorkload((prompt, k) => (prompt % 5 === 0 && k === 0 ? 900 : 100) + ((prompt * 7 + k * 3) % 20));
const run = (scheduler: Scheduler): RunResult =>
  simulate(job, scheduler, lengths, { prompts: 80, seed: 1, timeline: false, validate: true, longTokens: 900 });
const baseline = run(synchronousBaseline(job));

const partial = (maxStaleness: number): Scheduler =>
  losslessTailScheduler(job, { windowRounds: 1, maxStaleness, promptSpeculation: 1.5 });
const batching = { promptSpeculation: 1.5, responseSpeculation: 1 };

describe('partial rollout', () => {
  test.each([1, 2, 3])('with a lag of %i every token is generated once and trained, and none is older', (bound) => {
    const mine = run(partial(bound));
    expect([mine.keptTokens, mine.generatedTokens]).toEqual([baseline.keptTokens, baseline.keptTokens]);
    expect([mine.trainedPrompts, mine.kept.longKept, mine.kept.redrawnResponses]).toEqual([80, mine.kept.longFixed, 0]);
    expect(mine.maxLag).toBe(bound);
    expect(mine.staleTokens).toBeGreaterThan(0);
    expect(mine.meanLag * mine.keptTokens).toBeGreaterThanOrEqual(mine.staleTokens);
    expect(mine.totalSeconds).toBeLessThan(baseline.totalSeconds);
  });

  test('an older bound is faster, and its lag is that of the responses that span most rounds', () => {
    const [one, four, none] = [1, 4, 1000].map((bound) => run(partial(bound)));
    expect(four!.totalSeconds).toBeLessThan(one!.totalSeconds);
    expect(none!.maxLag).toBeLessThan(10);
  });

  test('in tail batching, too: prompts that would be too old go into the next round, of either kind', () => {
    const mine = run(tailBatchingScheduler(job, { ...batching, partialRollout: true, maxStaleness: 1 }));
    expect([mine.keptTokens, mine.generatedTokens]).toEqual([baseline.keptTokens, baseline.keptTokens]);
    expect(mine.maxLag).toBe(1);
    expect(mine.steps.some(({ kind, staleTokens }) => kind === 'short' && staleTokens > 0)).toBe(true);
  });

  test('tokens that are dropped are drawn again', () => {
    // With three times the prompts of a round, more become too old than a round can train.
    const settings = { windowRounds: 1, maxStaleness: 1, promptSpeculation: 3 };
    const mine = run(losslessTailScheduler(job, settings));
    expect([mine.trainedPrompts, mine.maxLag]).toEqual([80, 1]);
    expect(mine.generatedTokens).toBeGreaterThan(mine.keptTokens);
    expect(mine.kept.redrawnResponses).toBeGreaterThan(0);
  });
});

test('prompts run on into the next round with new weights, while engines wait for training', () => {
  const mine = run(tailBatchingScheduler(job, { ...batching, maxStaleness: 2 }));
  expect([mine.keptTokens, mine.generatedTokens]).toEqual([baseline.keptTokens, baseline.keptTokens]);
  expect([mine.trainedPrompts, mine.maxLag, mine.kept.redrawnResponses]).toEqual([80, 2, 0]);
  expect(mine.staleTokens).toBeGreaterThan(0);
});
