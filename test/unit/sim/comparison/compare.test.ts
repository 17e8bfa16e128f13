import { describe, expect, it } from 'vitest';
import { isPolicyError } from '../../../../src/errors.ts';
import { tailBatchingScheduler } from '../../../../src/sim/colocated/scheduler.ts';
import { compare, comparing } from '../../../../src/sim/comparison/compare.ts';
import { notesOn } from '../../../../src/sim/comparison/compare-notes.ts';
import type { CompareOptions } from '../../../../src/sim/comparison/compare-options.ts';
import { jobPreset, rollpackerWorkload } from '../../../../src/sim/models/presets.ts';
import { plainJob, plainWorkload } from '../../../support/simulator/host.ts';

const { job: whole, capTokens } = jobPreset('qwen2.5-7b-8k');
const job = { ...whole, engines: 4, promptsPerRound: 16 };
const options: CompareOptions = {
  job,
  workload: (seed) => rollpackerWorkload(capTokens, seed),
  steps: 10,
  seeds: [1, 2, 3],
};

describe('compare', () => {
  const result = compare({ ...options, validate: true });
  const [baseline, tail] = result.schedulers;

  it('puts tail batching beside the synchronous baseline', () => {
    expect(result.schedulers.map((one) => one.scheduler)).toEqual(['baseline', 'tail-batching']);
    expect(baseline!.speedup).toEqual({ value: 1, low: 1, high: 1, confidence: 0.95 });
    expect(baseline!.keptTokenRatio).toBe(1);
    expect(tail!.speedup.value).toBeGreaterThan(1);
    expect(tail!.rolloutSpeedup.value).toBeGreaterThan(tail!.speedup.value);
    expect(tail!.meanQueueAge).toBeGreaterThan(0);
  });

  it('trains the same prompts with both, and divides total times', () => {
    for (const { runs } of result.schedulers) {
      expect(runs.map((run) => run.seed)).toEqual([1, 2, 3]);
      for (const run of runs) expect(run.trainedPrompts).toBe(160);
    }
    const total = (index: number) => result.schedulers[index]!.runs.reduce((sum, run) => sum + run.totalSeconds, 0);
    expect(tail!.speedup.value).toBeCloseTo(total(0) / total(1), 9);
  });

  it('gives intervals that hold their value', () => {
    for (const { low, value, high } of [tail!.speedup, tail!.rolloutSpeedup, tail!.stepSeconds, tail!.rolloutSeconds]) {
      expect(low).toBeLessThanOrEqual(value);
      expect(high).toBeGreaterThanOrEqual(value);
      expect(high).toBeGreaterThan(low);
    }
  });

  it('shows what tail batching gives up, and says so', () => {
    expect(tail!.keptTokenRatio).toBeLessThan(0.95);
    expect(tail!.keptTokenRatio).toBeGreaterThan(0.4);
    expect(tail!.cappedShare).toBeLessThan(baseline!.cappedShare);
    expect(result.notes.join('\n')).toMatch(/every prompt is kept, but not every response/);
  });

  it('divides seconds for a kept token, and is 1 for the baseline against itself', () => {
    expect(baseline!.equalTokenSpeedup).toEqual({ value: 1, low: 1, high: 1, confidence: 0.95 });
    const perToken = ({ runs }: (typeof result.schedulers)[number]) =>
      runs.reduce((sum, run) => sum + run.totalSeconds, 0) / runs.reduce((sum, run) => sum + run.keptTokens, 0);
    const { low, value, high } = tail!.equalTokenSpeedup;
    expect(value).toBeCloseTo(perToken(baseline!) / perToken(tail!), 9);
    expect(low).toBeLessThan(value);
    expect(high).toBeGreaterThan(value);
    // As many responses are trained on: it is the speedup times the share of the tokens.
    expect(value).toBeCloseTo(tail!.speedup.value * tail!.keptTokenRatio, 9);
  });

  it('says what becomes of the longest responses, and of prompts that are drawn again', () => {
    expect(baseline).toMatchObject({ longestKeptShare: 1, longestTrainedRatio: 1, redrawnShare: 0, redrawnLoss: 0 });
    expect(tail!.longestKeptShare).toBeLessThan(0.2);
    expect(tail!.longestTrainedRatio).toBeGreaterThan(tail!.longestKeptShare);
    expect(tail!.longestTrainedRatio).toBeLessThan(0.9);
    // eta_P of 1.25 defers a fifth of all prompts.
    expect(tail!.redrawnShare).toBeCloseTo(0.2, 1);
    for (const { longestKeptShare, redrawnShare, evenGroupShare, staleShare, maxLag } of result.schedulers) {
      for (const share of [longestKeptShare, redrawnShare, evenGroupShare]) {
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
      }
      expect([staleShare, maxLag]).toEqual([0, 0]);
    }
  });

  it('loses tokens to drawing again alone where every response of a round is awaited', () => {
    const only = tailBatchingScheduler(job, { responseSpeculation: 1 });
    const [base, drawnAgain] = compare({ ...options, schedulers: [only], oracle: false, timeline: false }).schedulers;
    expect(drawnAgain!.redrawnLoss).toBeGreaterThan(0.03);
    expect(1 - drawnAgain!.redrawnLoss).toBeCloseTo(drawnAgain!.keptTokenRatio, 9);
    expect(base!.redrawnLoss).toBe(0);
  });

  it('has an oracle with every response of the baseline, which nothing with as many beats', () => {
    const oracle = result.oracle!;
    expect(oracle).toMatchObject({ keptTokenRatio: 1, ofOracle: 1, longestKeptShare: 1, redrawnShare: 0 });
    expect(oracle.runs.map((run) => run.keptTokens)).toEqual(baseline!.runs.map((run) => run.keptTokens));
    expect(oracle.evenGroupShare).toBe(baseline!.evenGroupShare);
    expect(baseline!.ofOracle).toBeLessThan(1);
    expect(baseline!.ofOracle).toBeCloseTo(1 / oracle.equalTokenSpeedup.value, 9);
    expect(compare({ ...options, oracle: false, seeds: [1] }).oracle).toBeUndefined();
  });

  it('keeps the segments of the first seed only', () => {
    expect(tail!.runs[0]!.engines[0]!.timeline.length).toBeGreaterThan(0);
    expect(tail!.runs[1]!.engines[0]!.timeline).toEqual([]);
    const none = compare({ ...options, seeds: [1], timeline: false });
    expect(none.schedulers[0]!.runs[0]!.engines[0]!.timeline).toEqual([]);
  });

  it('describes workload and settings', () => {
    expect(result.workload).toMatchObject({ name: 'rollpacker', prompts: 160, correlation: 0.23, capTokens: 8192 });
    const { p50, p75, p90, p99, max } = result.workload.quantiles;
    expect([p50, p75, p90, p99, max]).toEqual([p50, p75, p90, p99, max].sort((a, b) => a - b));
    expect(result.settings).toMatchObject({ promptsPerRound: 16, responsesPerPrompt: 8, trainedPrompts: 160, gpus: 4 });
  });

  it('is JSON, and the same again', () => {
    expect(JSON.stringify(compare({ ...options, validate: true }))).toBe(JSON.stringify(result));
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });
});

describe('comparing', () => {
  it('yields after every run', () => {
    const seen = [...comparing({ ...options, seeds: [4, 5], timeline: false })];
    expect(seen.map(({ doneRuns, seed, scheduler }) => [doneRuns, seed, scheduler])).toEqual([
      [1, 4, 'baseline'],
      [2, 4, 'tail-batching'],
      [3, 4, 'oracle'],
      [4, 5, 'baseline'],
      [5, 5, 'tail-batching'],
      [6, 5, 'oracle'],
    ]);
    expect(seen[0]!.totalRuns).toBe(6);
    const without = [...comparing({ ...options, seeds: [4, 5], timeline: false, oracle: false })];
    expect(without.at(-1)).toMatchObject({ doneRuns: 4, totalRuns: 4 });
  });

  it('notes one seed, repeated prompts, and a smaller last step', () => {
    const small = plainJob({ promptsPerRound: 4, responsesPerPrompt: 2 });
    const workload = { ...plainWorkload((_prompt, k) => (k === 0 ? 900 : 10)), distinctPrompts: 4 };
    const asked = { job: small, workload: () => workload, steps: 2, seeds: [1] };
    const { notes, schedulers } = compare(asked);
    expect(notes.join('\n')).toMatch(/One seed only/);
    expect(notes.join('\n')).toMatch(/used again/);
    expect(notes.join('\n')).not.toMatch(/fewer than 4 prompts/);
    // A scheduler that keeps back what it deferred leaves it for a last step.
    const last = schedulers.map((one) => ({
      ...one,
      runs: one.runs.map((run) => ({ ...run, steps: run.steps.map((step) => ({ ...step, prompts: 3 })) })),
    }));
    expect(notesOn(asked, last).join('\n')).toMatch(/fewer than 4 prompts/);
  });

  it.each([
    ['steps', { steps: 0 }],
    ['steps', { steps: 2.5 }],
    ['seeds', { seeds: [] }],
    ['seeds', { seeds: [1, 1] }],
    ['seeds', { seeds: [0.5] }],
    ['confidence', { confidence: 0 }],
    ['confidence', { confidence: 1 }],
    ['confidence', { confidence: 95 }],
    ['confidence', { confidence: Number.NaN }],
    ['schedulers', { schedulers: [tailBatchingScheduler(job, {}, 'synchronous')] }],
    ['schedulers', { schedulers: [tailBatchingScheduler(job, {}, 'oracle')] }],
  ])('refuses bad %s', (path, bad) => {
    try {
      compare({ ...options, ...bad });
      expect.unreachable();
    } catch (error) {
      expect(isPolicyError(error) && [error.code, error.path]).toEqual(['invalid_input', path]);
    }
  });
});
