/** Time against kept tokens, where prompts come back. */

import { describe, expect, test } from 'vitest';
import { registry } from '../../../../../src/index.ts';
import {
  jobPreset,
  marginalWorkload,
  type SweepAdvice,
  type SweepBatch,
  type SweepFrontier,
  type SweepLimits,
  type SynchronousProblem,
  sweep,
  sweepEvaluator,
  type TracePrompt,
  tracedWorkload,
  type Workload,
} from '../../../../../src/sim/node.ts';
import { measuringFrontier } from '../../../../../src/sim/sweep/recommendation/frontier.ts';
import { defineSynchronousSettings } from '../../../../../src/sim/sweep/settings/settings.ts';
import { refusal } from '../../../../support/basics/refusal.ts';

const { job: preset, capTokens } = jobPreset('qwen2.5-14b-16k');
const job = { ...preset, promptsPerRound: 4, responsesPerPrompt: 2, engines: 1 };
/** The seventh part of the prompts is long, always. */
const foreseeable = (responses: number): TracePrompt[] =>
  Array.from({ length: 80 }, (_, index) => ({
    prompt: `q${index}`,
    responses: Array.from({ length: responses }, (_, k) => ({
      tokens: 300 + ((index * 37 + k * 11) % 90) + (index % 7 === 0 ? 9000 : 0),
    })),
  }));
const frontierOf = (workload: (seed: number) => Workload, limits: SweepLimits = {}): SweepFrontier => {
  const problem: SynchronousProblem = { kind: 'synchronous', job, workload, steps: 2 };
  const published = { settings: defineSynchronousSettings() };
  // What the frontier reads of a search.
  const search = { runs: 0, confirmationSeeds: [1, 2, 3] };
  const advice = { recommended: published, published, search, objective: { limits } };
  const measuring = measuringFrontier(problem, advice as unknown as SweepAdvice, 3);
  const { tasks } = measuring.next().value as SweepBatch;
  return measuring.next(tasks.map(sweepEvaluator(problem))).value as SweepFrontier;
};
const traced = (prompts: TracePrompt[]) => (seed: number) =>
  tracedWorkload({ name: 'own', prompts, resampling: 'within-prompt', capTokens, seed });

const known = frontierOf(traced(foreseeable(4)));

describe('the lossless tail', () => {
  test('is recommended where long prompts are long again, keeps every response, and is for registry.create', () => {
    const { rows, lossless, losslessGain, correlationIs, meaning, dataSetPrompts } = known;
    expect([correlationIs, dataSetPrompts]).toEqual(['measured', 54]);
    expect(losslessGain!.low).toBeGreaterThan(0.02);
    expect(registry.create(lossless!.policy, lossless!.config as never).id).toBe('rollpacker');
    expect(lossless!.config).toMatchObject({ tailBatching: false, composition: true });
    const found = rows.filter(({ settings }) => settings !== 'baseline' && settings.windowRounds !== undefined);
    for (const { keptTokenRatio, longestTrainedRatio } of found) {
      expect(keptTokenRatio).toBeCloseTo(1, 9);
      expect(longestTrainedRatio).toBeCloseTo(1, 9);
    }
    expect(found[0]!.isOnFrontier).toBe(true);
    expect(meaning.join(' ')).toMatch(
      /as fast as without speculation .* keeps every response.* recommended where prompts come back/,
    );
    expect(meaning.join(' ')).toContain('flatters every prediction');
  });

  test('with a lag allowed, partial rollout stands beside it, with its stale tokens; without, nothing is stale', () => {
    expect(known.rows.every(({ maxLag, staleShare }) => maxLag + staleShare === 0)).toBe(true);
    const { rows, lossless, meaning } = frontierOf(traced(foreseeable(4)), { maxLag: 2 });
    const partial = rows.filter(({ settings }) => settings !== 'baseline' && settings.maxStaleness !== undefined);
    expect(partial.map(({ maxLag }) => maxLag)).toEqual(partial.map(() => 2));
    expect(partial.map(({ keptTokenRatio }) => Number(keptTokenRatio.toFixed(9)))).toEqual(partial.map(() => 1));
    expect(lossless!.config).toMatchObject({ composition: true, partialRollout: true, maxStaleness: 2 });
    expect(meaning.join(' ')).toMatch(/partial rollout 1\.\d+\) is .* of its tokens are stale, by up to 2 versions/);
  });

  test('is neither shown nor recommended where prompts have one response, which is drawn again', () => {
    const { rows, lossless, losslessGain, correlationIs, meaning } = frontierOf(traced(foreseeable(1)));
    expect([correlationIs, lossless, losslessGain]).toEqual(['unknown', null, null]);
    expect(rows.every(({ label }) => !label.includes('lossless'))).toBe(true);
    expect(meaning).toEqual([expect.stringMatching(/cannot be told .* not recommended/)]);
  });

  test('is not recommended by an assumed correlation', () => {
    const quantile = (p: number): number => 300 + 9000 * p ** 6;
    const shared = { name: 'marginals', responseTokens: quantile, promptTokens: () => 100, capTokens };
    const { lossless, correlationIs, meaning } = frontierOf((seed) =>
      marginalWorkload({ ...shared, correlation: 0.9, seed }),
    );
    expect([correlationIs, lossless]).toEqual(['assumed', null]);
    expect(meaning[1]).toMatch(/assumed to correlate by 0\.90 .* not recommended/);
  });
});

test('a row is on the frontier if and only if none beats it', () => {
  const { rows } = known;
  const kept = (one: (typeof rows)[number]): number => Math.min(1, Number(one.keptTokenRatio.toFixed(9)));
  for (const one of rows) {
    const isBeaten = rows.some(
      (other) =>
        other.secondsPerPrompt <= one.secondsPerPrompt &&
        kept(other) >= kept(one) &&
        (other.secondsPerPrompt < one.secondsPerPrompt || kept(other) > kept(one)),
    );
    expect(one.isOnFrontier, one.label).toBe(!isBeaten);
  }
  expect(rows.map(kept)).toEqual(rows.map(kept).sort((a, b) => b - a));
});

test.each([0, 1.5, 1001])('refuses %s epochs', (epochs) => {
  const problem: SynchronousProblem = { kind: 'synchronous', job, workload: traced(foreseeable(2)), steps: 2 };
  expect(refusal(() => sweep(problem, { epochs }))).toMatchObject({ path: 'epochs', code: 'invalid_input' });
});
