import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EndedResponse, LengthPredictor, lengthPredictor } from '../../src/core/lengths/length-prediction.ts';
import { saverOf } from '../../src/core/machine/state.ts';
import { uniform } from '../../src/sim/workload/random.ts';
import { runs } from '../support/basics/runs.ts';

const save = saverOf(lengthPredictor);
const snapshot = (predictor: LengthPredictor): string => JSON.stringify(save(predictor as never));
const restored = (predictor: LengthPredictor): LengthPredictor =>
  lengthPredictor.parse(JSON.parse(snapshot(predictor)));

/** Lengths that follow prompts, with other ones among them, and rounds that mostly ascend. */
const history = fc
  .record({
    seed: fc.nat(),
    prompts: fc.integer({ min: 1, max: 60 }),
    alike: fc.double({ min: 0, max: 1, noNaN: true }),
    responses: fc.integer({ min: 0, max: 1500 }),
    extreme: fc.array(
      fc.record({ at: fc.nat(1500), tokens: fc.oneof(fc.nat(3), fc.maxSafeNat()), round: fc.nat(10_000) }),
      { maxLength: 6 },
    ),
  })
  .map(({ seed, prompts, alike, responses, extreme }): EndedResponse[] => {
    const list = Array.from({ length: responses }, (_, at): EndedResponse => {
      const prompt = Math.floor(at / 4) % prompts;
      const doublings = 6 + 6 * (alike * uniform(seed, 1, prompt) + (1 - alike) * uniform(seed, 2, at));
      return {
        promptId: `p${prompt}`,
        domain: prompt % 3 === 0 ? undefined : `d${prompt % 7}`,
        tokens: Math.floor(2 ** doublings),
        censored: uniform(seed, 3, at) < 0.1,
        round: Math.floor(at / 24),
      };
    });
    for (const { at, ...one } of extreme) list.splice(at, 0, { promptId: `p${at % 70}`, ...one });
    return list;
  });

const questions = (prompts: number) =>
  Array.from({ length: prompts }, (_, at) => ({
    promptId: `p${at}`,
    domain: at % 2 === 0 ? `d${at % 7}` : undefined,
    generatedTokens: [0, 100, 3000, Number.MAX_SAFE_INTEGER][at % 4]!,
    round: at % 3 === 0 ? undefined : 60,
  }));
const levels = [0, 0.01, 0.5, 0.9, 0.99, 1];

describe('length prediction', () => {
  test('after any history, quantiles ascend from what was generated, trust is a share, and numbers are finite', () => {
    fc.assert(
      fc.property(history, (responses) => {
        const predictor = new LengthPredictor(40);
        for (const one of responses) predictor.observe(one);
        expect(predictor.size).toBeLessThanOrEqual(40);
        for (const asked of questions(70)) {
          const { quantiles, trust } = predictor.predict(asked, levels);
          let least = asked.generatedTokens;
          for (const one of quantiles) {
            expect(one).toBeGreaterThanOrEqual(least);
            expect(Number.isFinite(one)).toBe(true);
            least = one;
          }
          expect(trust >= 0 && trust <= 1).toBe(true);
          expect(predictor.longest(asked, 8)).toBeLessThanOrEqual(predictor.longest(asked, 16));
        }
      }),
      runs(300),
    );
  });

  test('restored anywhere, it goes on as if nothing had been', () => {
    fc.assert(
      fc.property(history, fc.nat(1500), (responses, cut) => {
        const predictor = new LengthPredictor(40);
        for (const one of responses.slice(0, cut)) predictor.observe(one);
        const other = restored(predictor);
        expect(snapshot(other)).toBe(snapshot(predictor));
        for (const one of responses.slice(cut)) {
          predictor.observe(one);
          other.observe(one);
        }
        expect(snapshot(other)).toBe(snapshot(predictor));
        for (const asked of questions(70))
          expect(other.predict(asked, levels)).toEqual(predictor.predict(asked, levels));
      }),
      runs(200),
    );
  });

  test('a snapshot shares nothing with the predictor, and asking changes nothing', () => {
    fc.assert(
      fc.property(history, (responses) => {
        const predictor = new LengthPredictor(40);
        const half = responses.length >> 1;
        for (const one of responses.slice(0, half)) predictor.observe(one);
        const saved = save(predictor as never);
        const text = JSON.stringify(saved);
        for (const asked of questions(20)) predictor.predict(asked, levels);
        expect(snapshot(predictor)).toBe(text);
        for (const one of responses.slice(half)) predictor.observe(one);
        expect(JSON.stringify(saved)).toBe(text);
      }),
      runs(100),
    );
  });

  test('prompts with the same lengths are predicted to be the same, whichever came first', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 5, max: 30 }), (seed, prompts) => {
        const predictor = new LengthPredictor(1000);
        for (let epoch = 0; epoch < 4; epoch += 1)
          for (let prompt = 0; prompt < 2 * prompts; prompt += 1)
            for (let response = 0; response < 3; response += 1) {
              // The two of a pair have the same lengths, at the two ends of a round.
              const pair = Math.min(prompt, 2 * prompts - 1 - prompt);
              const tokens = Math.floor(2 ** (6 + (pair % 6) + uniform(seed, pair, epoch, response)));
              predictor.observe({ promptId: `p${prompt}`, tokens, round: epoch });
            }
        for (let response = 0; response < 2 * prompts; response += 1)
          predictor.observe({ promptId: 'other', tokens: 100, round: 5 });
        for (let pair = 0; pair < prompts; pair += 1) {
          const [one, other] = [pair, 2 * prompts - 1 - pair].map((prompt) =>
            predictor.predict({ promptId: `p${prompt}` }, levels),
          );
          expect(one).toEqual(other);
        }
      }),
      runs(50),
    );
  });

  test('lengths that have nothing to do with prompts are not trusted', () => {
    let trusted = 0;
    const seeds = 40;
    for (let seed = 0; seed < seeds; seed += 1) {
      const predictor = new LengthPredictor(1000);
      for (let at = 0; at < 200 * 4 * 4; at += 1) {
        const prompt = Math.floor(at / 4) % 200;
        const tokens = Math.floor(2 ** (6 + 6 * uniform(seed, at)));
        predictor.observe({ promptId: `p${prompt}`, domain: `d${prompt % 4}`, tokens, round: Math.floor(at / 64) });
      }
      const trust = Array.from(
        { length: 200 },
        (_, prompt) => predictor.predict({ promptId: `p${prompt}`, domain: `d${prompt % 4}` }, []).trust,
      );
      expect(Math.max(...trust)).toBeLessThan(0.1);
      if (trust.some((one) => one > 0)) trusted += 1;
    }
    // Two standard errors, on one side, and again for domains.
    expect(trusted / seeds).toBeLessThan(0.15);
  });
});
