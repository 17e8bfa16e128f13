/** Speculative decoding in the simulated engine, by hand. */
import { describe, expect, test } from 'vitest';
import { DecodeEngine } from '../../../src/sim/engine/decode-engine.ts';
import { Drafting } from '../../../src/sim/engine/drafting.ts';
import {
  type CostModel,
  clairvoyantLowerBound,
  costModelSchema,
  defineAgenticJob,
  eagleDrafts,
  jobPreset,
  rollpackerScheduler,
  rollpackerWorkload,
  simulate,
} from '../../../src/sim/index.ts';
import { expectedTokens } from '../../../src/sim/models/draft-settings.ts';
import { refusal } from '../../support/basics/refusal.ts';

const plain = {
  memoryBoundSeconds: 1,
  computeSecondsPerSequence: 0.1,
  overheadSeconds: 0.5,
  secondsPerSequence: 0.01,
  secondsPerContextToken: 0.001,
  prefillSecondsPerToken: 0,
  kvCapacityTokens: 10_000,
};
const costWith = (drafts: NonNullable<Parameters<typeof costModelSchema.parse>[0]>): CostModel =>
  costModelSchema.parse({ ...plain, drafts });

/** Runs requests that start together to their end; returns the seconds at which each is done. */
function ends(cost: CostModel, lengths: readonly number[]): number[] {
  const engine = new DecodeEngine('e', cost);
  for (const [index, responseTokens] of lengths.entries()) {
    engine.add({ requestId: `${index}`, promptTokens: 0, responseTokens }, 0);
  }
  const at: number[] = [];
  for (let next = engine.nextEventAt(); next < Infinity; next = engine.nextEventAt()) {
    for (const one of engine.advanceTo(next)) at[Number(one.requestId)] = one.at;
  }
  return at;
}

test('a step gives 1 + a + a² + … tokens', () => {
  expect(expectedTokens(0.5, 3)).toBe(1.875);
  expect(expectedTokens(0, 5)).toBe(1);
  expect(expectedTokens(1, 5)).toBe(6);
});

test('a step verifies k + 1 tokens of every sequence, after k passes of the drafter', () => {
  const cost = costWith({ tokens: 3, acceptance: 0.5, passSeconds: 0.2, stepSeconds: 0.3, secondsPerToken: 0.001 });
  const drafting = new Drafting(cost, cost.drafts!);
  // 8 tokens, memory-bound; 40 tokens, compute-bound. What each sequence costs is for sequences, not for tokens.
  expect(drafting.secondsOf(2, 3)).toBeCloseTo(1 + 0.5 + 0.02 + 0.3 + 0.6 + 0.006, 12);
  expect(drafting.secondsOf(10, 3)).toBeCloseTo(4 + 0.5 + 0.1 + 0.3 + 0.6 + 0.03, 12);
  expect(drafting.secondsOf(10, 0)).toBeCloseTo(1 + 0.5 + 0.1, 12);
});

test('the context grows by what is accepted, and the last step may give more than is left', () => {
  const cost = costWith({ tokens: 1, acceptance: 0.5, passSeconds: 0, stepSeconds: 0 });
  // Four steps of 1.5 tokens for 5: each 1.51 s, and 0.001 s for each token of the context (0, 1.5, 3, 4.5).
  expect(ends(cost, [5])[0]).toBeCloseTo(4 * 1.51 + 0.001 * 9, 9);
});

test('planned: drafts in the tail, and none while the batch is compute-bound', () => {
  const drafts = { tokens: 'planned' as const, maxTokens: 4, acceptance: 0.8, passSeconds: 0.05 };
  const cost = costWith(drafts);
  const drafting = new Drafting(cost, cost.drafts!);
  expect(drafting.tokensFor(1, 0)).toBeGreaterThan(1);
  expect(drafting.tokensFor(200, 0)).toBe(0);
  const lengths = Array.from({ length: 40 }, (_, index) => (index === 0 ? 2000 : 20));
  const without = Math.max(...ends(costModelSchema.parse(plain), lengths));
  const planned = Math.max(...ends(cost, lengths));
  const fixed = Math.max(...ends(costWith({ ...drafts, tokens: 4 }), lengths));
  expect(planned).toBeLessThan(0.5 * without);
  expect(planned).toBeLessThan(fixed);
});

test('planned: a belief that is wrong costs little, one of nothing costs nothing', () => {
  const lengths = [4000];
  const without = ends(costModelSchema.parse(plain), lengths)[0]!;
  const seconds = (acceptance: number, believed: number) => {
    const drafts = { acceptance, believed: { acceptance: believed, tokens: 20 }, passSeconds: 0.17, stepSeconds: 0.05 };
    return ends(costWith(drafts), lengths)[0]!;
  };
  expect(seconds(0, 0)).toBe(without);
  expect(seconds(0, 0.95)).toBeLessThan(1.01 * without);
  expect(seconds(0, 0.95)).toBeGreaterThan(without);
  expect(seconds(0.9, 0.5)).toBeLessThan(0.6 * without);
});

describe('who cannot have drafts says so', () => {
  const drafts = { acceptance: 0.5, passSeconds: 0.1 };
  test('the bound for any schedule', () => {
    const prompts = [{ promptTokens: 1, responseTokens: [5] }];
    expect(refusal(() => clairvoyantLowerBound(prompts, 1, 1, costWith(drafts)))).toMatchObject({
      code: 'infeasible',
      path: 'cost.drafts',
    });
  });
  test('a job whose engines have other costs, without drafts, when TP is chosen', () => {
    const { job } = jobPreset('qwen2.5-7b-8k');
    const own = { ...job, cost: { ...job.cost, drafts: eagleDrafts(job.cost, { acceptance: 0.5 }) } };
    const run = () =>
      simulate(own, rollpackerScheduler(own, 'all', {}), rollpackerWorkload(8192, 1), { prompts: 1, seed: 1 });
    expect(refusal(run)).toMatchObject({ code: 'infeasible', path: 'hardware.costs' });
  });
  test('agentic rollouts', () => {
    const job = { name: 'a', cost: { ...plain, drafts } } as Parameters<typeof defineAgenticJob>[0];
    expect(refusal(() => defineAgenticJob(job))).toMatchObject({ code: 'invalid_config' });
  });
  test('a schedule that does not begin at one', () => {
    const wrong = { ...drafts, tokens: [{ sequences: 2, tokens: 1 }] };
    expect(() => costWith(wrong)).toThrow(/expected 1/);
    expect(refusal(() => eagleDrafts({ memoryBoundSeconds: 1, overheadSeconds: 0 }, { acceptance: 2 }))).toMatchObject({
      code: 'invalid_input',
      path: 'acceptance',
    });
  });
});
