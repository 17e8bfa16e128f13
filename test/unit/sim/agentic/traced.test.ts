/** Programs from traces: every token of the trace is in them, and what is assumed is named. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { simulateAgentic } from '../../../../src/sim/agentic/driver.ts';
import { tauAirlineJob, tauAirlineSeconds } from '../../../../src/sim/agentic/presets.ts';
import { leastInFlight } from '../../../../src/sim/agentic/rules/static.ts';
import { type TracedAgenticOptions, tracedAgenticWorkload } from '../../../../src/sim/agentic/traced.ts';
import { addedIn } from '../../../../src/sim/trace/format.ts';
import { readTrace } from '../../../../src/sim/trace/read.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const shipped = new URL('../../../../examples/traces/tau-airline-gpt4o.jsonl', import.meta.url);
const trace = readTrace(readFileSync(shipped, 'utf8'), 'tau-airline-gpt4o.jsonl');
if (trace.kind !== 'prompts') throw new Error('expected prompts');
const { prompts } = trace;
const workload = (options: Partial<TracedAgenticOptions> = {}) =>
  tracedAgenticWorkload({ name: 'tau', prompts, toolSeconds: tauAirlineSeconds, seed: 1, ...options });

describe('the trace that is shipped', () => {
  it('has 28 tasks with 4 trials each, and every token of them is in the programs', () => {
    const { programs, source } = workload();
    expect([prompts.length, programs.length]).toEqual([28, 112]);
    expect(source).toBe('trace; assumed: user 3 s, database 0.1 s');
    const responses = prompts.flatMap((one) => one.responses);
    expect(responses.length).toBe(112);
    for (const [index, { contextTokens, sharedTokens, turns }] of programs.entries()) {
      const { tokens, turns: given = [] } = responses[index]!;
      const generated = turns.reduce((sum, one) => sum + one.generatedTokens, 0);
      const added = turns.reduce((sum, one) => sum + (one.toolTokens ?? 0), 0);
      expect([generated, contextTokens + added, turns.length]).toEqual([tokens, 1303 + addedIn(given), given.length]);
      expect(sharedTokens).toBe(1303);
    }
  });

  it('runs, with the prefix of all prompts in the cache', () => {
    const few = prompts.slice(0, 6);
    const run = simulateAgentic(tauAirlineJob, leastInFlight, workload({ prompts: few }));
    expect(run.generatedTokens).toBe(few.flatMap((one) => one.responses).reduce((sum, one) => sum + one.tokens, 0));
    expect(run.prefixHitRate).toBeGreaterThan(0.3);
    expect(run.engines[0]).not.toHaveProperty('timeline');
    const options = { timelineSeconds: 0.7 };
    const { engines } = simulateAgentic(tauAirlineJob, leastInFlight, workload({ prompts: few }), options);
    for (const { timeline = [], busySeconds, prefillSeconds } of engines) {
      const sum = (of: (one: (typeof timeline)[number]) => number): number =>
        timeline.reduce((all, one) => all + of(one), 0);
      expect(sum((one) => one.readingSeconds)).toBeCloseTo(prefillSeconds);
      expect(sum((one) => one.decodingSeconds)).toBeCloseTo(busySeconds - prefillSeconds);
      expect(timeline.every((one) => one.readingSeconds + one.decodingSeconds < 0.7 + 1e-9 && one.running <= 256)).toBe(
        true,
      );
    }
    expect(refusal(() => simulateAgentic(tauAirlineJob, leastInFlight, workload(), { timelineSeconds: 0 })).path).toBe(
      'timelineSeconds',
    );
  });
});

describe('programs of a trace', () => {
  const turn = { tokens: 5, tool: 'bash' };
  const prompt = (turns: object[], more: object = {}) =>
    [{ prompt: 'p', promptTokens: 7, responses: [{ tokens: 10, turns }], ...more }] as unknown as typeof prompts;

  it('keep measured seconds, draw those that are missing by the seed, and nothing for a tool that nobody named', () => {
    const given = prompt([{ ...turn, toolSeconds: 9 }, turn, { tokens: 5, tool: 'web' }, { tokens: 1 }]);
    const seconds = (seed: number) =>
      workload({ prompts: given, toolSeconds: { bash: { median: 2, sigma: 1 } }, seed }).programs[0]!.turns.map(
        (one) => one.toolSeconds,
      );
    const [measured, drawn, web, last] = seconds(1);
    expect([measured, web, last]).toEqual([9, 0, undefined]);
    expect(drawn).toBeGreaterThan(0);
    expect(seconds(1)).toEqual([measured, drawn, web, last]);
    expect(seconds(2)[1]).not.toBe(drawn);
  });

  it('share their prompt only if all begin alike', () => {
    const responses = [3, 4].map((addedTokens) => ({ tokens: 1, turns: [{ tokens: 1, addedTokens }] }));
    const ids = (list: unknown) =>
      workload({ prompts: prompt([], { responses: list }) }).programs.map(({ promptId, contextTokens }) => [
        promptId,
        contextTokens,
      ]);
    expect(ids(responses)).toEqual([
      ['p/0', 10],
      ['p/1', 11],
    ]);
    expect(ids([responses[0], responses[0]])).toEqual([
      ['p', 10],
      ['p', 10],
    ]);
  });

  it('need turns, and a whole seed', () => {
    const single = prompt([], { responses: [{ tokens: 3 }] });
    expect(refusal(() => workload({ prompts: single }))).toMatchObject({ code: 'invalid_input', path: 'tau.p' });
    expect(refusal(() => workload({ prompts: [] })).path).toBe('tau');
    expect(refusal(() => workload({ seed: 0.5 })).path).toBe('seed');
  });
});
