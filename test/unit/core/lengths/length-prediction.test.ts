import { describe, expect, test } from 'vitest';
import { type EpochPrompt, play, rankCorrelation, type Score } from '../../../../bench/length-prediction/epochs.ts';
import { baselines, predicted } from '../../../../bench/length-prediction/forecasters.ts';
import { readTraceFile } from '../../../../src/cli/files/traces.ts';
import { LengthPredictor, lengthPredictor } from '../../../../src/core/lengths/length-prediction.ts';
import { logLengthOf, tokensAt } from '../../../../src/core/lengths/scale.ts';
import { packageRoot } from '../../../../src/logs/index/package.ts';
import { uniform } from '../../../../src/sim/workload/random.ts';

const levels = [0.1, 0.5, 0.9];

/** Learns rounds of 10 prompts × 4 responses, whose lengths a function gives. */
function learn(
  predictor: LengthPredictor,
  epochs: number,
  lengthOf: (prompt: number, epoch: number, response: number) => number,
  prompts = 200,
): LengthPredictor {
  for (let epoch = 0; epoch < epochs; epoch += 1)
    for (let prompt = 0; prompt < prompts; prompt += 1)
      for (let response = 0; response < 4; response += 1) {
        const tokens = lengthOf(prompt, epoch, response);
        predictor.observe({ promptId: `p${prompt}`, tokens, round: Math.floor((epoch * prompts + prompt) / 10) });
      }
  return predictor;
}

const varied = (...keys: number[]): number => 0.7 + 0.6 * uniform(7, ...keys);

describe('the scale of lengths', () => {
  test('its places ascend, and turn back into the length, or nearly', () => {
    for (let tokens = 0; tokens < 1023; tokens += 1) {
      expect(logLengthOf(tokens + 1)).toBeGreaterThan(logLengthOf(tokens));
      expect(tokensAt(logLengthOf(tokens))).toBe(tokens);
    }
    for (const tokens of [1023, 5000, 32_768, 1_000_000, 2 ** 30 - 2])
      expect(Math.abs(tokensAt(logLengthOf(tokens)) / tokens - 1)).toBeLessThan(0.001);
    expect(logLengthOf(Number.MAX_SAFE_INTEGER)).toBe(logLengthOf(2 ** 30 - 2));
  });
});

describe('a prediction', () => {
  test('without any history it says nothing, and never less than was generated', () => {
    const predictor = new LengthPredictor(10);
    expect(predictor.predict({ promptId: 'a' }, levels)).toEqual({ quantiles: [0, 0, 0], trust: 0 });
    expect(predictor.predict({ promptId: 'a', generatedTokens: 70 }, levels).quantiles).toEqual([70, 70, 70]);
  });

  test('a prompt that returns is predicted by its earlier rounds', () => {
    const predictor = learn(
      new LengthPredictor(1000),
      3,
      (prompt, ...keys) => (100 + 10 * prompt) * varied(prompt, ...keys),
    );
    for (const prompt of [10, 100, 190]) {
      const { quantiles, trust } = predictor.predict({ promptId: `p${prompt}` }, levels);
      expect(trust).toBeGreaterThan(0.8);
      expect(Math.abs(quantiles[1]! / (100 + 10 * prompt) - 1)).toBeLessThan(0.15);
      expect(quantiles[2]! / quantiles[0]!).toBeLessThan(2.2);
    }
    // A prompt never seen is as long as any.
    const unknown = predictor.predict({ promptId: 'new' }, levels);
    expect(unknown.trust).toBe(0);
    expect(unknown.quantiles[2]! / unknown.quantiles[0]!).toBeGreaterThan(3);
  });

  test('of two prompts with one mean, that with the longer tail ranks as longer', () => {
    const predictor = learn(new LengthPredictor(1000), 4, (prompt, epoch, response) => {
      const base = 100 * 2 ** (prompt % 5) * varied(prompt, epoch, response);
      if (prompt % 50 === 7) return base * (response === 0 ? 16 : 0.4);
      return base;
    });
    expect(predictor.longest({ promptId: 'p7' }, 40)).toBeGreaterThan(1.5 * predictor.longest({ promptId: 'p2' }, 40));
  });

  test('where prompts have nothing in common, all are the same, to the last bit', () => {
    const predictor = learn(new LengthPredictor(1000), 3, (...keys) => 50 + 5000 * uniform(3, ...keys));
    const all = predictor.predict({ promptId: 'new' }, levels);
    for (let prompt = 0; prompt < 200; prompt += 1)
      expect(predictor.predict({ promptId: `p${prompt}` }, levels)).toEqual(all);
  });

  test('a round is learnt from when the next one begins, before anything of it has ended', () => {
    const predictor = new LengthPredictor(10);
    predictor.observe({ promptId: 'a', tokens: 100, round: 3 });
    predictor.begin(3);
    expect(predictor.size).toBe(0);
    predictor.begin(4);
    expect(predictor.size).toBe(1);
    // An earlier round does not begin again.
    predictor.begin(2);
    predictor.observe({ promptId: 'b', tokens: 100, round: 2 });
    predictor.begin(4);
    expect(predictor.size).toBe(1);
  });

  test('one response to a prompt counts by half, until prompts that return show how much it says', () => {
    const trusted = (lengthOf: (prompt: number, epoch: number) => number, epochs: number): number[] => {
      const predictor = new LengthPredictor(1000);
      for (let epoch = 0; epoch < epochs; epoch += 1) {
        for (let prompt = 0; prompt < 32; prompt += 1)
          predictor.observe({ promptId: `p${prompt}`, tokens: lengthOf(prompt, epoch), round: epoch });
      }
      predictor.begin(epochs);
      return [0, 1, 2].map((prompt) => predictor.predict({ promptId: `p${prompt}` }, []).trust);
    };
    const own = (prompt: number): number => 100 * 2 ** (prompt % 5);
    const chance = (prompt: number, epoch: number): number => Math.floor(100 * 2 ** (6 * uniform(prompt, epoch)));
    for (const lengthOf of [own, chance]) expect(trusted(lengthOf, 1)[0]).toBeCloseTo(0.25, 5);
    expect(Math.min(...trusted(own, 2))).toBeGreaterThan(0.4);
    expect(Math.min(...trusted(own, 4))).toBeGreaterThan(0.9);
    expect(Math.max(...trusted(chance, 2))).toBeLessThan(0.2);
    expect(trusted(chance, 4)).toEqual([0, 0, 0]);
  });

  test('siblings that have ended count, before a prompt has ever returned', () => {
    const predictor = learn(
      new LengthPredictor(1000),
      1,
      (prompt, ...keys) => 2 ** (7 + (prompt % 7)) * varied(prompt, ...keys),
    );
    const asked = { promptId: 'x', round: 1000 };
    const before = predictor.predict(asked, levels);
    for (const tokens of [4000, 4400]) predictor.observe({ ...asked, tokens });
    const after = predictor.predict(asked, levels);
    expect(before.trust).toBe(0);
    expect(after.trust).toBeGreaterThan(0.7);
    expect(Math.abs(after.quantiles[1]! / 4200 - 1)).toBeLessThan(0.2);
    // In another round they are no siblings.
    expect(predictor.predict({ promptId: 'x', round: 1001 }, levels).trust).toBe(0);
  });

  test('the tokens that a response has exclude shorter lengths', () => {
    const predictor = learn(new LengthPredictor(1000), 1, (...keys) => 100 + 900 * uniform(5, ...keys));
    const { quantiles } = predictor.predict({ promptId: 'new', generatedTokens: 820 }, levels);
    expect(quantiles.every((one) => one >= 820 && one < 1000)).toBe(true);
    expect(Math.abs(quantiles[1]! - 910)).toBeLessThan(20);
  });

  test('a domain counts where domains differ', () => {
    const predictor = new LengthPredictor(1000);
    for (let prompt = 0; prompt < 300; prompt += 1) {
      const domain = prompt % 2 === 0 ? 'math' : 'chat';
      for (let response = 0; response < 4; response += 1) {
        const tokens = (domain === 'math' ? 4000 : 200) * varied(prompt, response);
        predictor.observe({ promptId: `p${prompt}`, domain, tokens, round: Math.floor(prompt / 10) });
      }
    }
    const [math, chat] = ['math', 'chat'].map((domain) => predictor.predict({ promptId: 'new', domain }, levels));
    expect(math!.quantiles[0]!).toBeGreaterThan(2 * chat!.quantiles[2]!);
    expect(math!.trust).toBeGreaterThan(0.8);
    expect(predictor.predict({ promptId: 'new', domain: 'law' }, levels).trust).toBe(0);
  });

  test('lengths that grow from epoch to epoch are followed', () => {
    const predictor = learn(
      new LengthPredictor(1000),
      5,
      (prompt, epoch, response) => (100 + 10 * prompt) * 1.4 ** epoch * varied(prompt, epoch, response),
    );
    const next = predictor.predict({ promptId: 'p100' }, [0.5]).quantiles[0]!;
    expect(Math.abs(next / (1100 * 1.4 ** 5) - 1)).toBeLessThan(0.2);
  });

  test('where the longer half of each group is aborted, it does not become too short', () => {
    const lengthOf = (prompt: number, ...keys: number[]): number => (100 + 10 * prompt) * varied(prompt, ...keys);
    const medians = ['complete', 'cut', 'cut as if complete'].map((kind) => {
      const predictor = new LengthPredictor(1000);
      for (let epoch = 0; epoch < 4; epoch += 1)
        for (let prompt = 0; prompt < 200; prompt += 1) {
          const lengths = [0, 1, 2, 3].map((one) => Math.floor(lengthOf(prompt, epoch, one))).sort((a, b) => a - b);
          for (const [at, length] of lengths.entries()) {
            const censored = kind !== 'complete' && at > 1;
            const tokens = censored ? lengths[1]! : length;
            const event = { promptId: `p${prompt}`, tokens, round: epoch * 20 + Math.floor(prompt / 10) };
            predictor.observe({ ...event, censored: censored && kind === 'cut' });
          }
        }
      return predictor.predict({ promptId: 'p100' }, [0.5]).quantiles[0]!;
    });
    expect(medians[1]! / medians[0]!).toBeGreaterThan(1);
    expect(medians[1]! / medians[0]!).toBeLessThan(1.35);
    expect(medians[2]! / medians[0]!).toBeLessThan(0.95);
  });

  test('the prompt not seen for longest is forgotten first', () => {
    const predictor = learn(
      new LengthPredictor(150),
      3,
      (prompt, ...keys) => (100 + 10 * prompt) * varied(prompt, ...keys),
      150,
    );
    expect(predictor.predict({ promptId: 'p0' }, levels).trust).toBeGreaterThan(0.5);
    for (const promptId of ['x', 'y']) predictor.observe({ promptId, tokens: 100, round: 1000 });
    // In a later round, at most two groups are learned from with each response.
    for (let at = 0; at < 6; at += 1) predictor.observe({ promptId: 'z', tokens: 100, round: 1001 });
    expect(predictor.size).toBe(150);
    expect(['p0', 'p1', 'p2', 'p140'].map((promptId) => predictor.predict({ promptId }, levels).trust > 0)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

test('a damaged snapshot is refused', () => {
  const saved = lengthPredictor.encode(learn(new LengthPredictor(50), 1, () => 100, 20));
  expect(lengthPredictor.safeParse(saved).success).toBe(true);
  const { prompts } = saved;
  for (const damaged of [
    { ...saved, prompts: { ...prompts, means: prompts.means.slice(1) } },
    { ...saved, prompts: { ...prompts, counts: prompts.counts.map(() => 0) } },
    { ...saved, maxPrompts: 0 },
    { ...saved, longest: -1 },
    { ...saved, open: [['p', null, 0, [-1], []]] },
  ])
    expect(lengthPredictor.safeParse(damaged).success).toBe(false);
});

describe('on responses that it has not seen', () => {
  const file = 'castillo-qwen2.5-7b-instruct-1m.jsonl';
  const { trace } = readTraceFile(`${packageRoot()}/examples/traces/${file}`);
  const prompts: readonly EpochPrompt[] = trace.kind === 'prompts' ? trace.prompts.slice(0, 1200) : [];
  const shape = { epochs: 3, responsesPerPrompt: 3, promptsPerRound: 16, seed: 1 };
  const scores = play(prompts, shape, [...baselines(), predicted(new LengthPredictor(10_000))]);
  const simple = ['all responses', 'domain', 'last', 'mean'];
  const losses = (score: Score): number[] => [...score.tokens, ...score.doublings].map((one) => one / score.responses);

  test.each(['first epoch', 'new prompts', 'second epoch', 'later epochs', 'in flight, later'])(
    '%s: about as good as the best of the simple ways, at each level',
    (what) => {
      const rows = scores.get(what)!;
      const own = losses(rows.get('predicted')!);
      for (const [at, loss] of own.entries()) {
        const best = Math.min(...simple.map((one) => losses(rows.get(one)!)[at]!));
        expect(loss / best).toBeLessThan(at % 3 === 2 ? 1.2 : 1.1);
      }
    },
  );

  test('half of the responses are longer than the median, and 1 % longer than the 0.99-quantile', () => {
    const { covered, responses } = scores.get('later epochs')!.get('predicted')!;
    const shares = covered.map((one) => one / responses);
    for (const [at, level] of [0.5, 0.9, 0.99].entries()) expect(Math.abs(shares[at]! - level)).toBeLessThan(0.03);
  });

  test('prompts are ranked as their longest responses are, and composed rounds are shorter', () => {
    const { ranks, longest } = scores.get('later epochs')!.get('predicted')!;
    expect(rankCorrelation(ranks, longest)).toBeGreaterThan(0.93);
    const composed = scores.get('composed')!;
    const cost = (who: string): number => composed.get(who)!.composed;
    for (const one of simple) expect(cost('predicted')).toBeLessThan(cost(one));
  });
});
