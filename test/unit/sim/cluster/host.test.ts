import { describe, expect, it } from 'vitest';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { synchronousBaseline, tailBatchingScheduler } from '../../../../src/sim/colocated/scheduler.ts';
import { overheard, plainJob, plainWorkload, trainedPrompts } from '../../../support/simulator/host.ts';

const around = {
  fixedRolloutSeconds: 1,
  rewardTailSeconds: 2,
  trainBaseSeconds: 3,
  trainSecondsPerToken: 0.5,
  trainSecondsPerResponse: 0.25,
  referenceSecondsPerToken: 0.2,
  logProbSecondsPerToken: 0.1,
  referenceSwapSeconds: 1.5,
  weightSyncSeconds: 4,
};

describe('the synchronous baseline', () => {
  const job = plainJob({ promptsPerRound: 2, responsesPerPrompt: 2 }, around);
  const lengths = [
    [3, 5],
    [2, 4],
    [7, 1],
    [1, 1],
  ];
  const workload = plainWorkload((prompt, k) => lengths[prompt]![k]!, 7);
  const run = simulate(job, synchronousBaseline(job), workload, { prompts: 4, seed: 9, validate: true });

  it('waits for every response, and then for reward, training and weights', () => {
    expect(run.steps).toHaveLength(2);
    const [first, second] = run.steps;
    expect(first).toMatchObject({
      step: 0,
      roundId: 'r0',
      kind: 'long',
      startSeconds: 0,
      prompts: 2,
      responses: 4,
      keptTokens: 14,
      generatedTokens: 14,
      abortedTokens: 0,
      meanResponseTokens: 3.5,
      maxResponseTokens: 5,
      cappedResponses: 0,
      deferredPrompts: 0,
      queueDepth: 0,
      queueAges: [],
      bubbleRatio: 0,
    });
    expect(first!.rolloutSeconds).toBeCloseTo(1 + 5 * 0.01, 9);
    expect(first!.rewardSeconds).toBeCloseTo(2, 9);
    expect(first!.referenceSeconds).toBeCloseTo(2 * 1.5 + 0.3 * 14, 9);
    expect(first!.trainSeconds).toBeCloseTo(3 + 0.25 * 4 + 0.5 * 14, 9);
    expect(first!.syncSeconds).toBeCloseTo(4, 9);
    expect(second!.startSeconds).toBeCloseTo(first!.endSeconds, 9);
    expect(second!.cappedResponses).toBe(1);
    expect(run.totalSeconds).toBeCloseTo(2 * (10 + 3 + 1) + 0.05 + 0.07 + 0.8 * 24, 9);
  });

  it('sums the run up', () => {
    expect(run).toMatchObject({
      scheduler: 'synchronous',
      seed: 9,
      trainedPrompts: 4,
      trainedResponses: 8,
      keptTokens: 24,
      generatedTokens: 24,
      meanResponseTokens: 3,
      cappedShare: 1 / 8,
      preemptions: 0,
      meanQueueAge: 0,
      maxQueueAge: 0,
    });
    expect(run.lengthQuantiles).toHaveLength(101);
    expect(run.lengthQuantiles[0]).toBe(1);
    expect(run.lengthQuantiles[100]).toBe(7);
    expect(run.engines[0]!.busySeconds).toBeCloseTo(0.12, 9);
  });
});

describe('bubbles', () => {
  it('are the time in which an engine has nothing to run', () => {
    const job = plainJob({ engines: 2, promptsPerRound: 2, responsesPerPrompt: 1 }, { fixedRolloutSeconds: 1 });
    const workload = plainWorkload((prompt) => (prompt === 0 ? 100 : 25));
    const run = simulate(job, synchronousBaseline(job), workload, { prompts: 2, seed: 1 });
    expect(run.steps[0]!.bubbleRatio).toBeCloseTo(0.375, 6);
    expect(run.engines.map((engine) => engine.bubbleRatio).sort()).toEqual([
      expect.closeTo(0, 6),
      expect.closeTo(0.75, 6),
    ]);
    expect(run.engines[1]!.timeline).toEqual([
      { startSeconds: 0, endSeconds: 1, activity: 'overhead', running: 0 },
      { startSeconds: 1, endSeconds: expect.closeTo(1.25, 6), activity: 'rollout', running: 1 },
      { startSeconds: expect.closeTo(1.25, 6), endSeconds: expect.closeTo(2, 6), activity: 'rollout', running: 0 },
    ]);
  });
});

describe('tail batching', () => {
  const job = plainJob({ engines: 2, promptsPerRound: 4, responsesPerPrompt: 2 }, around);
  // Every fifth prompt is long, whatever is sampled.
  const workload = plainWorkload((prompt, k) => (prompt % 5 === 4 ? 900 : 10) + (k % 7));
  const spied = overheard(tailBatchingScheduler(job));
  const run = simulate(job, spied.scheduler, workload, { prompts: 20, seed: 1, validate: true });

  it('defers long prompts and batches them in a long round', () => {
    expect(run.steps.map((step) => step.kind)).toEqual(['short', 'short', 'short', 'short', 'long']);
    expect(run.steps.map((step) => step.queueDepth)).toEqual([1, 2, 3, 4, 0]);
    expect(run.steps.map((step) => step.deferredPrompts)).toEqual([1, 1, 1, 1, 0]);
    expect(run.steps[4]!.queueAges).toEqual([4, 3, 2, 1]);
    expect(run.meanQueueAge).toBe(2.5);
    expect(run.maxQueueAge).toBe(4);
    expect(run.steps[0]!.rolloutSeconds).toBeLessThan(1.3);
    expect(run.steps[4]!.rolloutSeconds).toBeGreaterThan(10);
  });

  it('trains every prompt exactly once', () => {
    const trained = trainedPrompts(spied.heard);
    expect(trained).toHaveLength(20);
    expect(new Set(trained).size).toBe(20);
  });

  it('confirms every abort once, and counts its tokens', () => {
    const aborts = spied.heard.decisions.filter((one) => one.type === 'request.abort').length;
    const confirmed = spied.heard.events.filter((one) => one.type === 'request.aborted').length;
    const surplus = spied.heard.decisions.filter((one) => one.type === 'response.surplus').length;
    expect(aborts).toBeGreaterThan(0);
    expect(confirmed + surplus).toBe(aborts);
    expect(run.steps[0]!.abortedTokens).toBeGreaterThan(0);
    expect(run.generatedTokens).toBeGreaterThanOrEqual(
      run.keptTokens + run.steps.reduce((sum, step) => sum + step.abortedTokens, 0),
    );
  });

  it('puts what is queued into the round in which the source is exhausted', () => {
    const ends = simulate(job, tailBatchingScheduler(job), workload, { prompts: 7, seed: 1, validate: true });
    expect(ends.trainedPrompts).toBe(7);
    expect(ends.steps.map((step) => [step.kind, step.prompts])).toEqual([
      ['short', 4],
      ['short', 3],
    ]);
  });

  it('gives the baseline and tail batching the same samples', () => {
    const base = overheard(synchronousBaseline(job));
    simulate(job, base.scheduler, workload, { prompts: 20, seed: 1 });
    const lengths = (events: readonly { type: string }[]): Map<string, number> =>
      new Map(
        (events as { type: string; requestId: string; tokens: number }[])
          .filter((event) => event.type === 'response.completed')
          .map((event) => [event.requestId.split('#')[0]!, event.tokens]),
      );
    const ours = lengths(spied.heard.events);
    let shared = 0;
    for (const [request, tokens] of lengths(base.heard.events)) {
      // Long prompts are sampled anew in the round to which they were deferred.
      if (Number(request.slice(1).split('/')[0]) % 5 === 4 || !ours.has(request)) continue;
      expect(ours.get(request)).toBe(tokens);
      shared += 1;
    }
    expect(shared).toBe(32);
  });

  it('gives the same result again, with or without validation', () => {
    const again = simulate(job, tailBatchingScheduler(job), workload, { prompts: 20, seed: 1 });
    expect(JSON.stringify(again)).toBe(JSON.stringify(run));
  });

  it('reports every step', () => {
    const seen: number[] = [];
    simulate(job, tailBatchingScheduler(job), workload, {
      prompts: 20,
      seed: 1,
      onStep: (_step, trained) => void seen.push(trained),
    });
    expect(seen).toEqual([4, 8, 12, 16, 20]);
  });
});
