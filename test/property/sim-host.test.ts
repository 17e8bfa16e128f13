import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { recordEvents, replayEvents } from '../../src/logs/format/event-log.ts';
import { tailBatching } from '../../src/recipes/tail-batching/index.ts';
import { clairvoyantLowerBound } from '../../src/sim/bounds/lower-bound.ts';
import { simulate } from '../../src/sim/colocated/driver.ts';
import { synchronousBaseline, tailBatchingScheduler } from '../../src/sim/colocated/scheduler.ts';
import type { RunResult } from '../../src/sim/comparison/result.ts';
import { longTailQuantile, marginalWorkload } from '../../src/sim/workload/marginal.ts';
import { times } from '../support/basics/runs.ts';
import { overheard, plainJob, trainedPrompts } from '../support/simulator/host.ts';

const runs = times(60);
const tokens = longTailQuantile({
  medianTokens: 30,
  sigma: 0.7,
  tailWeight: 0.1,
  tailStartTokens: 100,
  tailExponent: 0.7,
});
const capTokens = 400;

const settings = fc.record({
  engines: fc.integer({ min: 1, max: 4 }),
  promptsPerRound: fc.integer({ min: 1, max: 8 }),
  responsesPerPrompt: fc.integer({ min: 1, max: 5 }),
  promptSpeculation: fc.constantFrom(1, 1.125, 1.25, 1.5, 2),
  responseSpeculation: fc.constantFrom(1, 1.125, 1.25, 1.5, 2),
  maxDeferrals: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  correlation: fc.constantFrom(0, 0.3, 0.8),
  kvCapacityTokens: fc.constantFrom(500, 2000, 1_000_000),
  secondsPerContextToken: fc.constantFrom(0, 1e-5),
  prompts: fc.integer({ min: 1, max: 40 }),
  seed: fc.nat(1000),
});
type Settings = typeof settings extends fc.Arbitrary<infer T> ? T : never;

function build(given: Settings) {
  const { engines, promptsPerRound, responsesPerPrompt, kvCapacityTokens, secondsPerContextToken } = given;
  const cost = {
    kvCapacityTokens,
    secondsPerContextToken,
    prefillSecondsPerToken: 1e-4,
    secondsPerSequence: 1e-4,
    fixedRolloutSeconds: 0.5,
    rewardTailSeconds: 0.3,
    trainBaseSeconds: 1,
    trainSecondsPerResponse: 1e-2,
    trainSecondsPerToken: 1e-3,
    referenceSecondsPerToken: 4e-4,
    logProbSecondsPerToken: 3e-4,
    referenceSwapSeconds: 0.1,
    weightSyncSeconds: 0.2,
  };
  const job = plainJob({ engines, promptsPerRound, responsesPerPrompt }, cost);
  const workload = marginalWorkload({
    name: 'm',
    responseTokens: tokens,
    promptTokens: () => 20,
    correlation: given.correlation,
    capTokens,
    seed: given.seed,
  });
  const { promptSpeculation, responseSpeculation, maxDeferrals } = given;
  const tail = tailBatchingScheduler(job, { promptSpeculation, responseSpeculation, maxDeferrals });
  return { job, workload, tail };
}

function checkBooks(run: RunResult, given: Settings): void {
  expect(run.trainedPrompts).toBe(given.prompts);
  expect(run.trainedResponses).toBe(given.prompts * given.responsesPerPrompt);
  let at = 0;
  for (const step of run.steps) {
    expect(step.startSeconds).toBeCloseTo(at, 6);
    const stages =
      step.rolloutSeconds + step.rewardSeconds + step.referenceSeconds + step.trainSeconds + step.syncSeconds;
    expect(step.endSeconds).toBeCloseTo(at + stages, 6);
    expect(step.generatedTokens).toBeGreaterThanOrEqual(step.keptTokens);
    expect(step.bubbleRatio).toBeGreaterThanOrEqual(0);
    expect(step.bubbleRatio).toBeLessThanOrEqual(1);
    expect(step.queueDepth).toBeGreaterThanOrEqual(0);
    at = step.endSeconds;
  }
  expect(run.totalSeconds).toBeCloseTo(at, 6);
  expect(run.steps[run.steps.length - 1]!.queueDepth).toBe(0);
}

function checkTimelines(run: RunResult): void {
  for (const engine of run.engines) {
    let at = 0;
    let busy = 0;
    for (const segment of engine.timeline) {
      expect(segment.startSeconds).toBeCloseTo(at, 6);
      expect(segment.endSeconds).toBeGreaterThan(segment.startSeconds);
      if (segment.running > 0) busy += segment.endSeconds - segment.startSeconds;
      at = segment.endSeconds;
    }
    expect(at).toBeCloseTo(run.totalSeconds, 6);
    expect(busy).toBeCloseTo(engine.busySeconds, 6);
  }
}

describe('the simulated host', () => {
  it('trains every prompt once, with any settings, and its books balance', () => {
    fc.assert(
      fc.property(settings, (given) => {
        const { job, workload, tail } = build(given);
        for (const scheduler of [synchronousBaseline(job), tail]) {
          const spied = overheard(scheduler);
          const run = simulate(job, spied.scheduler, workload, { prompts: given.prompts, seed: 1, validate: true });
          checkBooks(run, given);
          checkTimelines(run);
          const trained = trainedPrompts(spied.heard);
          expect(new Set(trained).size).toBe(given.prompts);
          expect(trained).toHaveLength(given.prompts);
        }
      }),
      { numRuns: runs },
    );
  });

  it('never lets the baseline beat the clairvoyant lower bound', () => {
    fc.assert(
      fc.property(settings, (given) => {
        const { job, workload } = build(given);
        const run = simulate(job, synchronousBaseline(job), workload, { prompts: given.prompts, seed: 1 });
        const fixed = Array.from({ length: given.prompts }, (_, index) => {
          const prompt = workload.prompt(index);
          const responseTokens = Array.from({ length: job.responsesPerPrompt }, (_k, k) => prompt.sample(k).tokens);
          return { promptTokens: prompt.promptTokens, responseTokens };
        });
        const bound = clairvoyantLowerBound(fixed, job.promptsPerRound, job.engines, job.cost);
        expect(bound.totalSeconds).toBeLessThanOrEqual(run.totalSeconds * (1 + 1e-9));
      }),
      { numRuns: runs },
    );
  });

  it('writes event logs that replay exactly', () => {
    fc.assert(
      fc.property(settings, (given) => {
        const { job, workload, tail } = build(given);
        const lines: string[] = [];
        const recorded = {
          ...tail,
          create: (options: object) => {
            const policy = tail.create(options);
            recordEvents(policy as never, (line) => void lines.push(line));
            return policy;
          },
        };
        simulate(job, recorded, workload, { prompts: given.prompts, seed: 1 });
        const replay = replayEvents(lines, (snapshot) => create(tailBatching, { snapshot }));
        expect(replay.difference).toBeUndefined();
        expect(replay.events).toBe(lines.length - 1);
      }),
      { numRuns: Math.ceil(runs / 3) },
    );
  });
});
