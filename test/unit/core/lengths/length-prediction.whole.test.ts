/** Length prediction on whole traces, and after a million responses of any kind. */
import { describe, expect, test } from 'vitest';
import { play, type Score, type Scores } from '../../../../bench/length-prediction/epochs.ts';
import { baselines, predicted } from '../../../../bench/length-prediction/forecasters.ts';
import { readTraceFile } from '../../../../src/cli/files/traces.ts';
import { LengthPredictor, lengthPredictor } from '../../../../src/core/lengths/length-prediction.ts';
import { packageRoot } from '../../../../src/logs/index/package.ts';
import { uniform } from '../../../../src/sim/workload/random.ts';

const losses = (score: Score): number[] => [...score.tokens, ...score.doublings].map((one) => one / score.responses);

describe.each(['castillo-qwen2.5-7b-instruct-1m', 'castillo-qwen2.5-32b-instruct'])('%s', (name) => {
  const { trace } = readTraceFile(`${packageRoot()}/examples/traces/${name}.jsonl`);
  const prompts = trace.kind === 'prompts' ? trace.prompts : [];
  const shape = { epochs: 3, responsesPerPrompt: 3, promptsPerRound: 32 };
  const scores: Scores = new Map();
  for (const seed of [1, 2, 3])
    play(prompts, { ...shape, seed }, [...baselines(), predicted(new LengthPredictor(10_000))], scores);

  test.each(['first epoch', 'new prompts', 'second epoch begins', 'second epoch', 'later epochs', 'in flight, later'])(
    '%s: as good as the best of the simple ways, at each level, but for noise',
    (what) => {
      const rows = scores.get(what)!;
      for (const [at, loss] of losses(rows.get('predicted')!).entries()) {
        const simple = ['all responses', 'domain', 'last', 'mean'].map((one) => losses(rows.get(one)!)[at]!);
        // The 0.99-quantile rests on few responses.
        expect(loss / Math.min(...simple)).toBeLessThan(at % 3 === 2 ? 1.1 : 1.05);
      }
    },
  );

  test('rounds composed by it wait less than those composed by anything simple', () => {
    const composed = scores.get('composed')!;
    const cost = (who: string): number => composed.get(who)!.composed;
    for (const one of ['order of the data', 'domain', 'last', 'mean', 'longest'])
      expect(cost('predicted')).toBeLessThan(cost(one));
  });
});

test('after a million responses of any kind, memory is bounded, and all is finite', () => {
  const predictor = new LengthPredictor(2000);
  for (let at = 0; at < 1_000_000; at += 1) {
    const [kind, draw] = [uniform(at, 1), uniform(at, 2)];
    const promptId = kind < 0.5 ? `p${Math.floor(draw * 3000)}` : kind < 0.55 ? 'same' : `once-${at}`;
    const tokens = kind < 0.01 ? Number.MAX_SAFE_INTEGER : Math.floor(2 ** (16 * uniform(at, 3))) - 1;
    // Rounds of any length, some of which go back.
    const round = kind > 0.999 ? 0 : Math.floor(at / 50_000) * 7;
    predictor.observe({ promptId, domain: `d${Math.floor(draw * 500)}`, tokens, censored: kind > 0.9, round });
  }
  const saved = lengthPredictor.encode(predictor);
  expect(saved.prompts.ids).toHaveLength(2000);
  expect(saved.open.length).toBeLessThan(2 ** 16 + 2);
  expect(saved.population.domains.length).toBe(64);
  const text = JSON.stringify({ ...saved, open: [] });
  expect(text.length).toBeLessThan(2_000_000);
  // What is not a number is `null` in JSON.
  expect(text).not.toContain('null');
  expect(lengthPredictor.safeParse(saved).success).toBe(true);
  for (let prompt = 0; prompt < 3000; prompt += 7) {
    const { quantiles, trust } = predictor.predict({ promptId: `p${prompt}`, generatedTokens: 3 }, [0.5, 0.99]);
    expect([...quantiles, trust].every(Number.isFinite)).toBe(true);
  }
});
