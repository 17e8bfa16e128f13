import { describe, expect, it } from 'vitest';
import { isPolicyError } from '../../../../src/errors.ts';
import { simulate } from '../../../../src/sim/colocated/driver.ts';
import { tailBatchingScheduler } from '../../../../src/sim/colocated/scheduler.ts';
import { traceFromLog, workloadFromLog } from '../../../../src/sim/workload/from-log.ts';
import { lengthsFromLog } from '../../../../src/sim/workload/log-lengths.ts';
import { longTailQuantile, marginalWorkload } from '../../../../src/sim/workload/marginal.ts';
import { uniform } from '../../../../src/sim/workload/random.ts';
import { estimateCorrelation } from '../../../../src/sim/workload/scores.ts';
import { resamplingMethods } from '../../../../src/sim/workload/traced.ts';
import { plainJob, recording } from '../../../support/simulator/host.ts';

const capTokens = 2000;
const shape = { medianTokens: 80, sigma: 0.6, tailWeight: 0.1, tailStartTokens: 200, tailExponent: 0.8 };
const truth = marginalWorkload({
  name: 'truth',
  responseTokens: longTailQuantile(shape),
  promptTokens: () => 30,
  correlation: 0.3,
  capTokens,
  seed: 5,
});

function record(prompts: number, maxRunningSequences = 256, workload = truth): string[] {
  const job = plainJob({ engines: 4, promptsPerRound: 32, responsesPerPrompt: 8 }, { maxRunningSequences });
  const tail = tailBatchingScheduler(job);
  const lines: string[] = [];
  simulate(job, recording(tail, lines), workload, { prompts, seed: 5 });
  return lines;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}

describe('lengths from an event log', () => {
  const lines = record(640);
  const log = lengthsFromLog(lines);
  const short = record(64);

  it('takes completed responses as they are and aborted ones as lower bounds', () => {
    expect(log.prompts).toHaveLength(640);
    expect(log.completed).toBeGreaterThan(640 * 8);
    expect(log.censored).toBeGreaterThan(1000);
    expect(log.unknown).toBe(0);
    expect(log.prompts[0]).toMatchObject({ promptId: expect.any(String), promptTokens: 30 });
  });

  it('draws the rest of aborted responses, close to what they would have been', () => {
    const trace = traceFromLog(log, { capTokens, seed: 1 });
    for (const [row, prompt] of log.prompts.entries()) {
      for (const [k, { tokens, censored }] of prompt.responses.entries()) {
        const drawn = trace[row]!.responses[k]!.tokens;
        if (censored) expect(drawn).toBeGreaterThan(Math.min(tokens, capTokens - 1));
        else expect(drawn).toBe(Math.max(1, tokens));
        expect(drawn).toBeLessThanOrEqual(capTokens);
      }
    }
    // Deferred prompts were launched twice: each prompt counts once, by its mean.
    const wanted = Array.from({ length: 640 }, (_, index) =>
      mean(Array.from({ length: 10 }, (_k, k) => truth.prompt(index).sample(k).tokens)),
    );
    const drawn = mean(trace.map((prompt) => mean(prompt.responses.map((one) => one.tokens))));
    const completed = mean(
      log.prompts.map((prompt) => mean(prompt.responses.filter((one) => !one.censored).map((one) => one.tokens))),
    );
    expect(Math.abs(drawn / mean(wanted) - 1)).toBeLessThan(0.15);
    expect(completed).toBeLessThan(mean(wanted) * 0.9);
  });

  // A response that was aborted in the queue of its engine says nothing; one at the cap is not infinitely long.
  it.each([
    [0, 500, 0.04, 0.05],
    [0.3, 500, 0.04, 0.05],
    // The more a prompt's responses have in common, the less are aborts independent of the rest of a response.
    [0.6, 2000, 0.06, 0.09],
  ])(
    'finds lengths and correlation again where most aborts were never begun: ρ %s, cap %s',
    (correlation, cap, ofMean, ofCorrelation) => {
      const responseTokens = longTailQuantile(shape);
      const options = { name: 'truth', responseTokens, promptTokens: () => 30, correlation, capTokens: cap, seed: 5 };
      const workload = marginalWorkload(options);
      const busy = lengthsFromLog(record(960, 6, workload));
      const neverBegun = busy.prompts.flatMap(({ responses }) => responses.filter((one) => one.tokens === 0));
      expect(neverBegun.length).toBeGreaterThan(1000);
      const trace = traceFromLog(busy, { capTokens: cap, seed: 1 });
      const wanted = mean(
        Array.from({ length: 960 }, (_, index) =>
          mean(Array.from({ length: 10 }, (_k, k) => workload.prompt(index).sample(k).tokens)),
        ),
      );
      const drawn = mean(trace.map((prompt) => mean(prompt.responses.map((one) => one.tokens))));
      expect(Math.abs(drawn / wanted - 1)).toBeLessThan(ofMean);
      expect(Math.abs(estimateCorrelation(trace) - correlation)).toBeLessThan(ofCorrelation);
    },
  );

  it('draws siblings of responses at the cap as long as they would have been, no longer', () => {
    // One response in four runs into the cap, and every second one is aborted at a random moment.
    const cap = 130;
    const responseTokens = longTailQuantile(shape);
    const options = { name: 'q', responseTokens, promptTokens: () => 30, correlation: 0.3, capTokens: cap, seed: 8 };
    const workload = marginalWorkload(options);
    const prompts = Array.from({ length: 2200 }, (_, index) => {
      const lengths = Array.from({ length: 6 }, (_k, k) => workload.prompt(index).sample(k).tokens);
      const responses = lengths.map((tokens, k) => {
        const cut = Math.floor(400 * uniform(9, index, k));
        return cut < tokens ? { tokens: cut, censored: true } : { tokens, censored: false };
      });
      return { promptId: `q${index}`, lengths, responses };
    });
    const found = traceFromLog({ prompts, completed: 1, censored: 1, unknown: 0 }, { capTokens: cap, seed: 1 });
    const of = (isWanted: (prompt: (typeof prompts)[number]) => boolean) => {
      const [drawn, wanted]: [number[], number[]] = [[], []];
      for (const [row, prompt] of prompts.entries()) {
        if (!isWanted(prompt)) continue;
        for (const [k, { censored }] of prompt.responses.entries()) {
          if (censored) drawn.push(found[row]!.responses[k]!.tokens);
          if (censored) wanted.push(prompt.lengths[k]!);
        }
      }
      expect(wanted.length).toBeGreaterThan(500);
      return mean(drawn) / mean(wanted);
    };
    const atCap = ({ responses }: (typeof prompts)[number]) =>
      responses.filter(({ tokens, censored }) => !censored && tokens === cap).length;
    for (const count of [0, 1, 2]) expect(Math.abs(of((prompt) => atCap(prompt) === count) - 1)).toBeLessThan(0.05);
  });

  it('takes the resampling that is asked for, copula if none is', () => {
    const name = (resampling?: (typeof resamplingMethods)[number]) =>
      workloadFromLog(short, { name: 'mine', capTokens, seed: 1, resampling }).resampling;
    expect(name()).toBe('recorded, then copula');
    for (const method of resamplingMethods) expect(name(method)).toBe(`recorded, then ${method}`);
  });

  it('gives a workload', () => {
    const workload = workloadFromLog(short, { name: 'mine', capTokens, seed: 1 });
    expect(workload.distinctPrompts).toBe(64);
    expect(workload.source).toMatch(/aborted and drawn/);
    expect(workload.prompt(0).sample(0).tokens).toBe(workload.prompt(0).sample(0).tokens);
    const again = workloadFromLog(short, { name: 'mine', capTokens, seed: 1 });
    expect(again.prompt(7).sample(20)).toEqual(workload.prompt(7).sample(20));
  });

  it.each([
    ['line 2', [lines[0]!, '{']],
    ['line 2', [lines[0]!, '{"event":1}']],
    ['log', [lines[0]!]],
    ['line 1', ['[]']],
    ['line 2', [lines[0]!, lines[0]!]],
    ['line 3', [lines[0]!, '', '{"event":null,"decisions":[]}']],
    ['line 1', ['{"event":{"type":"x"},"decisions":[null]}']],
    ['line 1', ['{"event":{"type":"round.opened"},"decisions":[]}']],
    ['line 1', ['{"event":{"type":"prompts.supplied","prompts":[1]},"decisions":[]}']],
    ['line 1', ['{"event":{"type":"response.completed","requestId":"a"},"decisions":[]}']],
    ['line 1', ['{"event":{"type":"response.completed","requestId":"a","tokens":"7"},"decisions":[]}']],
    ['line 1', ['{"event":{"type":"request.aborted","requestId":"a","tokens":-1},"decisions":[]}']],
  ])('refuses a broken log at %s', (path, broken) => {
    try {
      lengthsFromLog(broken);
      expect.unreachable();
    } catch (error) {
      expect(isPolicyError(error) && [error.code, error.path]).toEqual(['invalid_input', path]);
    }
  });

  it('may begin with blank lines, and takes what was completed after its abort as complete', () => {
    const launch = { type: 'request.launch', requestId: 'a', promptId: 'p' };
    const entries = [
      { event: { type: 'x' }, decisions: [launch] },
      { event: { type: 'request.aborted', requestId: 'a', tokens: 3 }, decisions: [] },
      { event: { type: 'response.completed', requestId: 'a', tokens: 5 }, decisions: [] },
      { event: { type: 'request.aborted', requestId: 'a', tokens: 5 }, decisions: [] },
      { event: { type: 'response.completed', requestId: 'unknown', tokens: 5 }, decisions: [] },
    ];
    const found = lengthsFromLog(['', '{"snapshot":{}}', ...entries.map((one) => JSON.stringify(one))]);
    expect(found.prompts).toEqual([{ promptId: 'p', responses: [{ tokens: 5, censored: false }] }]);
  });

  it('a cap below what was seen cuts what is drawn', () => {
    const drawn = traceFromLog(
      {
        prompts: [
          {
            promptId: 'p',
            responses: [
              { tokens: 90, censored: false },
              { tokens: 80, censored: true },
            ],
          },
        ],
        completed: 1,
        censored: 1,
        unknown: 0,
      },
      { capTokens: 50, seed: 1 },
    );
    expect(drawn[0]!.responses).toEqual([{ tokens: 90 }, { tokens: 50 }]);
  });

  it('joins a resumed response with its earlier part, and counts what it cannot know', () => {
    const launch = (requestId: string, resumeFrom?: string) => ({
      type: 'request.launch',
      requestId,
      promptId: 'p',
      ...(resumeFrom === undefined ? {} : { resumeFrom: { requestId: resumeFrom } }),
    });
    const entry = (event: object, decisions: object[] = []) => JSON.stringify({ event, decisions });
    const found = lengthsFromLog([
      '{"snapshot":{}}',
      entry({ type: 'round.opened', prompts: [{ promptId: 'p', domain: 'math' }] }, [
        launch('a'),
        launch('b'),
        launch('c'),
      ]),
      entry({ type: 'response.completed', requestId: 'a', tokens: 7 }),
      entry({ type: 'request.aborted', requestId: 'b', tokens: 4 }, [launch('d', 'b')]),
      entry({ type: 'response.completed', requestId: 'd', tokens: 9 }),
      entry({ type: 'request.aborted', requestId: 'c' }),
    ]);
    expect(found).toEqual({
      completed: 2,
      censored: 0,
      unknown: 1,
      prompts: [
        {
          promptId: 'p',
          domain: 'math',
          responses: [
            { tokens: 7, censored: false },
            { tokens: 9, censored: false },
          ],
        },
      ],
    });
  });
});
