import { describe, expect, it } from 'vitest';
import { recordEvents } from '../../../src/core/event-log.ts';
import { isPolicyError } from '../../../src/errors.ts';
import { lengthsFromLog, traceFromLog, workloadFromLog } from '../../../src/sim/from-log.ts';
import { simulate } from '../../../src/sim/host/driver.ts';
import { tailBatchingScheduler } from '../../../src/sim/host/scheduler.ts';
import { survivalQuantile } from '../../../src/sim/survival.ts';
import { longTailQuantile, marginalWorkload } from '../../../src/sim/workload/marginal.ts';
import { plainJob } from '../../support/sim-host.ts';

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

function record(prompts: number): string[] {
  const job = plainJob({ engines: 4, promptsPerRound: 32, responsesPerPrompt: 8 });
  const tail = tailBatchingScheduler(job);
  const lines: string[] = [];
  const recorded = {
    ...tail,
    createPolicy: (options: object) => {
      const policy = tail.createPolicy(options);
      recordEvents(policy as never, (line) => void lines.push(line));
      return policy;
    },
  };
  simulate(job, recorded, truth, { prompts, seed: 5 });
  return lines;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}

describe('lengths from an event log', () => {
  const lines = record(640);
  const log = lengthsFromLog(lines);

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

  it('gives a workload', () => {
    const workload = workloadFromLog(lines, { name: 'mine', capTokens, seed: 1 });
    expect(workload.distinctPrompts).toBe(640);
    expect(workload.source).toMatch(/aborted and drawn/);
    expect(workload.prompt(0).sample(0).tokens).toBe(workload.prompt(0).sample(0).tokens);
    const again = workloadFromLog(lines, { name: 'mine', capTokens, seed: 1 });
    expect(again.prompt(7).sample(20)).toEqual(workload.prompt(7).sample(20));
  });

  it.each([
    ['line 2', [lines[0]!, '{']],
    ['line 2', [lines[0]!, '{"event":1}']],
    ['log', [lines[0]!]],
  ])('refuses a broken log at %s', (path, broken) => {
    try {
      lengthsFromLog(broken);
      expect.unreachable();
    } catch (error) {
      expect(isPolicyError(error) && [error.code, error.path]).toEqual(['invalid_input', path]);
    }
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

describe('survivalQuantile', () => {
  it('is the Kaplan–Meier estimate', () => {
    const seen = [
      { tokens: 3, censored: false },
      { tokens: 5, censored: true },
      { tokens: 5, censored: false },
      { tokens: 8, censored: false },
      { tokens: 9, censored: true },
    ];
    const survival = survivalQuantile(seen, 100);
    expect(survival.beyond(2)).toBe(1);
    expect(survival.beyond(3)).toBeCloseTo(0.8, 12);
    expect(survival.beyond(5)).toBeCloseTo(0.6, 12);
    expect(survival.beyond(8)).toBeCloseTo(0.3, 12);
    expect(survival.quantile(0.1)).toBe(3);
    expect(survival.quantile(0.65)).toBe(8);
    expect(survival.quantile(0.9)).toBe(100);
  });
});
