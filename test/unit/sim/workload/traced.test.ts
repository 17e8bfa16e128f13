/** Workloads from traces: what was recorded comes first, and what was not keeps the distribution of the trace. */
import { describe, expect, it, test } from 'vitest';
import type { TracePrompt } from '../../../../src/sim/trace/format.ts';
import { inEpochs } from '../../../../src/sim/workload/epochs.ts';
import { longTailQuantile, marginalWorkload } from '../../../../src/sim/workload/marginal.ts';
import { normal } from '../../../../src/sim/workload/random.ts';
import { estimateCorrelation, score } from '../../../../src/sim/workload/scores.ts';
import { type Resampling, resamplingMethods, tracedWorkload } from '../../../../src/sim/workload/traced.ts';
import type { Sample, Workload } from '../../../../src/sim/workload/workload.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const capTokens = 20_000;
const longTail = { medianTokens: 600, sigma: 0.7, tailWeight: 0.1, tailStartTokens: 2000, tailExponent: 1.2 };

/** A trace of which the within-prompt correlation is known. */
function traceWith(correlation: number, prompts: number, responses: (prompt: number) => number, cap = capTokens) {
  const truth = marginalWorkload({
    name: 'truth',
    responseTokens: longTailQuantile(longTail),
    promptTokens: () => 50,
    correlation,
    capTokens: cap,
    seed: 77,
  });
  return Array.from({ length: prompts }, (_, index): TracePrompt => {
    const prompt = truth.prompt(index);
    const list = Array.from({ length: responses(index) }, (_unused, k) => ({ tokens: prompt.sample(k).tokens }));
    return { prompt: `p${index}`, promptTokens: prompt.promptTokens, responses: list };
  });
}

const workloadOf = (prompts: readonly TracePrompt[], resampling?: Resampling, seed = 1, cap = capTokens): Workload =>
  tracedWorkload({ name: 'mine', prompts, capTokens: cap, seed, ...(resampling === undefined ? {} : { resampling }) });

const own = (prompt: string, ...tokens: number[]): TracePrompt => ({
  prompt,
  responses: tokens.map((one) => ({ tokens: one })),
});

/** The largest distance between the distribution functions of two samples (Kolmogorov and Smirnov). */
function distance(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [[...one].sort((x, y) => x - y), [...other].sort((x, y) => x - y)];
  const upTo = (list: readonly number[], value: number): number => {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low / list.length;
  };
  return Math.max(...[...a, ...b].map((value) => Math.abs(upTo(a, value) - upTo(b, value))));
}

const lengthsOf = (prompts: readonly TracePrompt[]): number[] =>
  prompts.flatMap(({ responses }) => responses.map(({ tokens }) => tokens));

describe('estimateCorrelation', () => {
  // Its standard error is below 0.01 here, so that 0.03 is three of them.
  it.each([0, 0.15, 0.3, 0.5, 0.8])('recovers %s within 0.03', (correlation) => {
    expect(Math.abs(estimateCorrelation(traceWith(correlation, 2500, () => 8)) - correlation)).toBeLessThan(0.03);
  });

  it('recovers it from groups of different sizes, with single responses among them', () => {
    const trace = traceWith(0.4, 5000, (prompt) => 1 + (prompt % 7));
    expect(Math.abs(estimateCorrelation(trace) - 0.4)).toBeLessThan(0.03);
  });

  it('is hardly moved by a cap that one response in twenty runs into', () => {
    const trace = traceWith(0.4, 2500, () => 8, 4000);
    const atCap = lengthsOf(trace).filter((tokens) => tokens === 4000).length / lengthsOf(trace).length;
    expect(atCap).toBeGreaterThan(0.03);
    expect(Math.abs(estimateCorrelation(trace) - 0.4)).toBeLessThan(0.05);
  });

  it('does not depend on the order of prompts, nor on the unit of lengths', () => {
    const trace = traceWith(0.4, 300, () => 4);
    const rho = estimateCorrelation(trace);
    expect(estimateCorrelation([...trace].reverse())).toBeCloseTo(rho, 12);
    const scaled = trace.map((one) => ({
      ...one,
      responses: one.responses.map(({ tokens }) => ({ tokens: tokens ** 2 })),
    }));
    expect(estimateCorrelation(scaled)).toBeCloseTo(rho, 12);
  });

  it('is 0 where the trace says nothing of it', () => {
    expect(estimateCorrelation([])).toBe(0);
    expect(estimateCorrelation([own('a', 5), own('b', 9)])).toBe(0);
    // All responses alike: no spread to share out.
    expect(estimateCorrelation([own('a', 7, 7), own('b', 7, 7)])).toBe(0);
  });

  it('stays within 0 and 1 at the ends', () => {
    expect(estimateCorrelation([own('a', 1, 9), own('b', 1, 9)])).toBe(0);
    const perfect = estimateCorrelation([own('a', 3, 3), own('b', 5, 5), own('c', 8, 8)]);
    expect(perfect).toBeGreaterThan(0.99);
    expect(perfect).toBeLessThan(1);
  });
});

describe('the first epoch', () => {
  const trace = traceWith(0.3, 50, (prompt) => 2 + (prompt % 3));
  const byId = new Map(trace.map((one) => [one.prompt, one]));

  it.each(resamplingMethods)('deals every prompt once, with its recorded responses in their order (%s)', (method) => {
    const workload = workloadOf(trace, method);
    const dealt = Array.from({ length: 50 }, (_, index) => workload.prompt(index));
    expect(new Set(dealt.map((one) => one.promptId))).toEqual(new Set(byId.keys()));
    for (const { promptId, promptTokens, sample } of dealt) {
      const recorded = byId.get(promptId)!;
      expect(promptTokens).toBe(50);
      expect(recorded.responses.map((_, k) => sample(k).tokens)).toEqual(recorded.responses.map((one) => one.tokens));
    }
  });

  it('is shuffled, in another order for another seed', () => {
    const order = (seed: number) =>
      Array.from({ length: 50 }, (_, at) => workloadOf(trace, 'copula', seed).prompt(at).promptId);
    expect(order(1)).not.toEqual(trace.map((one) => one.prompt));
    expect(order(2)).not.toEqual(order(1));
    expect(order(1)).toEqual(order(1));
  });

  it('says what the workload is', () => {
    expect(workloadOf(trace, 'copula')).toMatchObject({
      name: 'mine',
      source: 'trace',
      resampling: 'recorded, then copula',
      capTokens,
      distinctPrompts: 50,
    });
    expect(workloadOf(trace).resampling).toBe('recorded, then within-prompt');
  });

  it('fills in what a trace may leave out', () => {
    const [bare, full] = [own('bare', 5), { ...own('full', 5), promptTokens: 0, task: 'math' }];
    expect(workloadOf([bare]).prompt(0)).toMatchObject({ promptTokens: 1 });
    expect(workloadOf([bare]).prompt(0)).not.toHaveProperty('task');
    expect(workloadOf([full]).prompt(0)).toMatchObject({ promptTokens: 1, task: 'math' });
  });
});

describe('every sample', () => {
  const trace = traceWith(0.4, 40, () => 3);
  const places = Array.from({ length: 120 }, (_, index) => [index, (index * 7) % 23] as const);

  it.each(resamplingMethods)('depends on seed, prompt and k alone, whatever was asked before (%s)', (method) => {
    const ask = (order: typeof places) => {
      const workload = workloadOf(trace, method);
      return new Map(order.map(([index, k]) => [`${index}/${k}`, workload.prompt(index).sample(k)]));
    };
    expect(ask([...places].reverse())).toEqual(ask(places));
  });

  it.each(resamplingMethods)('does not depend on the order in which the trace lists its prompts (%s)', (method) => {
    const deal = (prompts: readonly TracePrompt[]) => {
      const workload = workloadOf(prompts, method);
      return places.map(([index, k]) => ({ id: workload.prompt(index).promptId, ...workload.prompt(index).sample(k) }));
    };
    const mixed = [...trace].sort((a, b) => a.responses[0]!.tokens - b.responses[0]!.tokens);
    expect(deal(mixed)).toEqual(deal(trace));
    expect(deal([...trace].reverse())).toEqual(deal(trace));
  });

  it.each(resamplingMethods)('is a whole number of tokens from 1 to the cap (%s)', (method) => {
    for (const cap of [1, 300, capTokens]) {
      const workload = workloadOf(trace, method, 3, cap);
      for (const [index, k] of places) {
        const { tokens, capped } = workload.prompt(index).sample(k);
        expect(Number.isInteger(tokens)).toBe(true);
        expect(tokens).toBeGreaterThanOrEqual(1);
        expect(tokens).toBeLessThanOrEqual(cap);
        expect(capped).toBe(tokens === cap);
      }
    }
  });

  it.each(resamplingMethods)('is another one for another k, epoch or seed (%s)', (method) => {
    const list = (seed: number, epoch: number) =>
      Array.from(
        { length: 40 },
        (_, k) =>
          workloadOf([own('a', 100, 200, 300, 400, 500, 600)], method, seed)
            .prompt(epoch)
            .sample(6 + k).tokens,
      );
    expect(new Set(list(1, 0)).size).toBeGreaterThan(3);
    expect(list(1, 1)).not.toEqual(list(1, 0));
    expect(list(2, 0)).not.toEqual(list(1, 0));
  });
});

describe('further epochs', () => {
  it('have ids of their own, which no prompt of the trace has', () => {
    const workload = workloadOf([own('p', 1), own('p@1', 2), own('p@@1', 3), own('q@', 4), own('q', 5)]);
    const ids = Array.from({ length: 25 }, (_, index) => workload.prompt(index).promptId);
    expect(new Set(ids).size).toBe(25);
    expect(new Set(ids.slice(0, 5))).toEqual(new Set(['p', 'p@1', 'p@@1', 'q@', 'q']));
  });

  it('are shuffled anew, and none of their responses counts as recorded', () => {
    const trace = Array.from({ length: 30 }, (_, index) => own(`p${index}`, 10 + index, 1000 + index));
    const workload = workloadOf(trace);
    const epoch = (number: number) => Array.from({ length: 30 }, (_, at) => workload.prompt(30 * number + at));
    const plain = (number: number) => epoch(number).map(({ promptId }) => promptId.replace(/@.*/, ''));
    expect(new Set(plain(1))).toEqual(new Set(plain(0)));
    expect(plain(1)).not.toEqual(plain(0));
    const inOrder = epoch(1).filter(({ sample }) => sample(0).tokens < 1000 && sample(1).tokens >= 1000).length;
    expect(inOrder).toBeLessThan(20);
  });
});

describe('within-prompt', () => {
  it("draws from the prompt's own responses, each about as often", () => {
    const workload = workloadOf([own('a', 10, 20, 30, 40), own('b', 5000, 6000)]);
    for (const [index, lengths] of [0, 1].map(
      (at) => [at, workload.prompt(at).promptId === 'a' ? [10, 20, 30, 40] : [5000, 6000]] as const,
    )) {
      const drawn = Array.from({ length: 2000 }, (_, k) => workload.prompt(index).sample(4 + k).tokens);
      for (const tokens of lengths) {
        const share = drawn.filter((one) => one === tokens).length / 2000;
        expect(Math.abs(share - 1 / lengths.length)).toBeLessThan(0.04);
      }
      expect(new Set(drawn)).toEqual(new Set(lengths));
    }
  });
});

describe('copula', () => {
  const rho = 0.5;
  const trace = traceWith(rho, 1500, () => 4);
  const workload = workloadOf(trace, 'copula');
  const row = new Map(trace.map((one) => [one.prompt, one]));
  const drawn = Array.from({ length: 1500 }, (_, index): TracePrompt => {
    const { promptId, sample } = workload.prompt(index);
    return {
      prompt: promptId,
      responses: Array.from({ length: 4 }, (_unused, k) => ({ tokens: sample(4 + k).tokens })),
    };
  });

  it('keeps the marginal of the trace', () => {
    expect(distance(lengthsOf(drawn), lengthsOf(trace))).toBeLessThan(0.025);
    const again = Array.from(
      { length: 6000 },
      (_, at) => workload.prompt(1500 + (at % 1500)).sample(Math.floor(at / 1500)).tokens,
    );
    expect(distance(again, lengthsOf(trace))).toBeLessThan(0.025);
  });

  it('keeps the correlation, among drawn responses and between them and the recorded ones', () => {
    expect(Math.abs(estimateCorrelation(drawn) - rho)).toBeLessThan(0.04);
    const across = drawn.flatMap(({ prompt, responses }) =>
      [0, 1, 2, 3].map(
        (k): TracePrompt => ({
          prompt: `${prompt}/${k}`,
          responses: [responses[k]!, row.get(prompt)!.responses[k]!],
        }),
      ),
    );
    expect(Math.abs(estimateCorrelation(across) - rho)).toBeLessThan(0.04);
  });

  it('invents no length, and can exceed the longest of the prompt', () => {
    const known = new Set(lengthsOf(trace));
    for (const tokens of lengthsOf(drawn)) expect(known.has(tokens)).toBe(true);
    const beyond = drawn.filter(({ prompt, responses }) =>
      responses.some(({ tokens }) => tokens > Math.max(...row.get(prompt)!.responses.map((one) => one.tokens))),
    ).length;
    expect(beyond / drawn.length).toBeGreaterThan(0.3);
    expect(beyond / drawn.length).toBeLessThan(0.7);
  });
});

describe('parametric', () => {
  it("centres on the prompt's own responses and spreads like them", () => {
    const logs = Array.from({ length: 40 }, (_, index) => Math.log(500) + 0.3 * Math.cos(index * 2.4) * Math.SQRT2);
    const workload = workloadOf([own('a', ...logs.map((one) => Math.round(Math.exp(one))))], 'parametric');
    const drawn = Array.from({ length: 4000 }, (_, k) => Math.log(workload.prompt(0).sample(40 + k).tokens));
    const mean = drawn.reduce((sum, one) => sum + one, 0) / drawn.length;
    const spread = Math.sqrt(drawn.reduce((sum, one) => sum + (one - mean) ** 2, 0) / drawn.length);
    expect(Math.abs(mean - Math.log(500))).toBeLessThan(0.03);
    expect(Math.abs(spread - 0.3)).toBeLessThan(0.03);
  });

  it('takes the spread from the trace where a prompt has a single response', () => {
    const trace = Array.from({ length: 200 }, (_, index) => own(`p${index}`, Math.round(400 * 1.01 ** index)));
    const workload = workloadOf(trace, 'parametric');
    const drawn = Array.from({ length: 2000 }, (_, k) => Math.log(workload.prompt(0).sample(1 + k).tokens));
    const mean = drawn.reduce((sum, one) => sum + one, 0) / drawn.length;
    const spread = Math.sqrt(drawn.reduce((sum, one) => sum + (one - mean) ** 2, 0) / drawn.length);
    expect(Math.abs(mean - Math.log(workload.prompt(0).sample(0).tokens))).toBeLessThan(0.05);
    expect(Math.abs(spread - (200 * Math.log(1.01)) / Math.sqrt(12))).toBeLessThan(0.05);
  });
});

describe('responses that ran into a limit', () => {
  const cut: TracePrompt = { prompt: 'a', responses: [{ tokens: 300, capped: true }, { tokens: 200 }] };
  const flagged = (one: Sample) => one.tokens === 300;

  it('are capped although the cap of the job is higher', () => {
    const { sample } = workloadOf([cut]).prompt(0);
    expect([sample(0), sample(1)]).toEqual([
      { tokens: 300, capped: true },
      { tokens: 200, capped: false },
    ]);
  });

  it.each(['within-prompt', 'copula'] as const)('stay capped when they are drawn again (%s)', (method) => {
    const workload = workloadOf([cut, own('b', 100, 150)], method);
    const drawn = Array.from({ length: 400 }, (_, at) => workload.prompt(2 + (at % 2)).sample(at));
    expect(drawn.some(flagged)).toBe(true);
    for (const one of drawn) expect(one.capped).toBe(flagged(one));
  });

  it('are cut at the cap of the job where that is lower', () => {
    const { sample } = workloadOf([cut], 'within-prompt', 1, 250).prompt(0);
    expect(sample(0)).toEqual({ tokens: 250, capped: true });
    expect(sample(1)).toEqual({ tokens: 200, capped: false });
  });
});

describe('a trace without any spread', () => {
  it.each(resamplingMethods)('gives its one length (%s)', (method) => {
    const workload = workloadOf([own('a', 7, 7), own('b', 7, 7)], method);
    expect(workload.correlation).toBe(0);
    for (let k = 0; k < 20; k += 1) expect(workload.prompt(k % 4).sample(k)).toEqual({ tokens: 7, capped: false });
  });
});

test('a trace that nothing can be dealt from is refused', () => {
  const refused = (prompts: readonly TracePrompt[]) => refusal(() => workloadOf(prompts));
  expect(refused([])).toMatchObject({ code: 'invalid_input', path: 'mine' });
  expect(refused([own('a', 1), own('b')])).toMatchObject({ code: 'invalid_input', path: 'mine', got: '"b"' });
  expect(refused([own('a', 1), own('b', 2), own('a', 3)])).toMatchObject({
    code: 'invalid_input',
    path: 'mine',
    got: '"a"',
  });
});

describe('prompts that come in several steps', () => {
  /** Responses of a prompt correlate by 0.8 in a step, and by 0.4 between its two steps. */
  const twice = (rows: number, responses: number): TracePrompt[] =>
    Array.from({ length: 2 * rows }, (_, index) => {
      const [step, row] = [Math.floor(index / rows), index % rows];
      const effect = Math.sqrt(0.4) * (normal(5, row) + normal(6, row, step));
      const tokens = (k: number): number => Math.round(Math.exp(6 + effect + Math.sqrt(0.2) * normal(7, row, step, k)));
      return own(`r${row}@${step}`, ...Array.from({ length: responses }, (_unused, k) => tokens(k)));
    });

  test('the correlation between their steps is measured, beside that of one step', () => {
    const { correlation, betweenSteps } = score(twice(1500, 4));
    expect(correlation).toBeCloseTo(0.8, 1);
    expect(Math.abs(betweenSteps! - 0.4)).toBeLessThan(0.05);
    // One response to a prompt: what is known of a later step is all that is known.
    const single = score(twice(1500, 1));
    expect(Math.abs(single.betweenSteps! - 0.4)).toBeLessThan(0.07);
    expect(single.correlation).toBe(single.betweenSteps);
  });

  test('fewer than ten say nothing', () => {
    expect(score(twice(9, 4)).betweenSteps).toBe(null);
    expect(score(twice(10, 4)).betweenSteps).not.toBe(null);
    expect(score(traceWith(0.5, 50, () => 4)).betweenSteps).toBe(null);
  });

  test('later epochs that are drawn correlate as much with the first, and with each other', () => {
    const trace = twice(1500, 4);
    const { correlation, correlationOfEpochs } = workloadOf(trace, 'copula');
    expect(correlationOfEpochs).toBeCloseTo(score(trace).betweenSteps!, 9);
    const epochs = inEpochs(workloadOf(trace, 'copula'), trace.length, 3);
    const again = Array.from({ length: 3 * trace.length }, (_, index): TracePrompt => {
      const prompt = epochs.prompt(index);
      const tokens = Array.from({ length: 4 }, (_unused, k) => prompt.sample(k).tokens);
      return own(`${prompt.comesBack ?? prompt.promptId}x@${Math.floor(index / trace.length)}`, ...tokens);
    });
    for (const of of [
      [0, 1],
      [1, 2],
    ]) {
      const some = again.filter((_, index) => of.includes(Math.floor(index / trace.length)));
      const found = score(some);
      expect(Math.abs(found.correlation - correlation)).toBeLessThan(0.05);
      expect(Math.abs(found.betweenSteps! - correlationOfEpochs!)).toBeLessThan(0.06);
    }
  });

  test('they count as one prompt where prompts are split by their ids', () => {
    const workload = workloadOf([{ ...own('a@1', 5), row: 'text' }, { ...own('b@2', 6), row: 'text' }, own('c@1', 7)]);
    const ids = [0, 1, 2].map((index) => workload.prompt(index)).map(({ promptId, firstId }) => [promptId, firstId]);
    expect(new Map(ids as [string, string][])).toEqual(
      new Map([
        ['a@1', 'text'],
        ['b@2', 'text'],
        ['c@1', 'c'],
      ]),
    );
  });
});
