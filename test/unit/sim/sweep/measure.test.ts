/** From the rounds of a run to rates of a job without end. */
import { describe, expect, test } from 'vitest';
import { deferredPerRound, type MeasuredRound, ratesOf, roundsNeeded } from '../../../../src/sim/sweep/measure.ts';

const round = (kind: 'short' | 'long', seconds: number, prompts: number, tokens = 100): MeasuredRound => ({
  kind,
  seconds,
  prompts,
  responses: 2 * prompts,
  tokens: 2 * prompts * tokens,
  capped: kind === 'long' ? prompts : 0,
  staleTokens: 0,
  lag: 0,
});

describe('rates', () => {
  test('kinds are weighted as a job without end has them, whatever the run has seen', () => {
    // A quarter of a long round comes with each short one: (10 + 30 / 4) s for 8 · 1.25 prompts.
    const expected = { secondsPerPrompt: 17.5 / 10, tokensPerResponse: (100 + 400 / 4) / 1.25, cappedShare: 0.1 };
    for (const shorts of [1, 3, 7]) {
      const rounds = [...Array.from({ length: shorts }, () => round('short', 10, 8)), round('long', 30, 8, 400)];
      const rates = ratesOf(rounds, 8, 2);
      expect(rates.secondsPerPrompt).toBeCloseTo(expected.secondsPerPrompt, 12);
      expect(rates.tokensPerResponse).toBeCloseTo(expected.tokensPerResponse, 12);
      expect(rates.cappedShare).toBeCloseTo(expected.cappedShare, 12);
    }
  });

  test('the last, smaller round that flushes the queue does not count', () => {
    const rounds = [round('short', 10, 8), round('long', 30, 8)];
    expect(ratesOf([...rounds, round('long', 25, 3)], 8, 2)).toEqual(ratesOf(rounds, 8, 2));
  });

  test('without speculation every round counts alike; a run with smaller rounds alone has what it has', () => {
    expect(ratesOf([round('short', 10, 8), round('short', 30, 8)], 8, 0).secondsPerPrompt).toBe(40 / 16);
    expect(ratesOf([round('long', 10, 4)], 8, 2).secondsPerPrompt).toBe(10 / 4);
  });

  test('a run is as long as a full long round needs', () => {
    expect(deferredPerRound(128, 1.25)).toBe(32);
    expect(roundsNeeded(10, 128, 1)).toBe(10);
    expect(roundsNeeded(10, 128, 1.25)).toBe(10);
    expect(roundsNeeded(3, 128, 1.25)).toBe(5);
    // 16 short rounds of 136 prompts.
    expect(roundsNeeded(10, 128, 1.0625)).toBe(17);
  });
});
