/** The simulated host of agentic rollouts: times by hand, what is conserved, and what it refuses. */
import { describe, expect, test } from 'vitest';
import type { AnyDecision, AnyEvent } from '../../../../src/core/machine/definition.ts';
import { type AgenticRunOptions, simulateAgentic } from '../../../../src/sim/agentic/driver.ts';
import { agenticPreset, presetWorkload } from '../../../../src/sim/agentic/presets.ts';
import { agenticRules } from '../../../../src/sim/agentic/rules/index.ts';
import { leastInFlight } from '../../../../src/sim/agentic/rules/static.ts';
import { type AgenticScheduler, programScheduler } from '../../../../src/sim/agentic/scheduler.ts';
import { type AgenticJobInput, defineAgenticJob } from '../../../../src/sim/agentic/settings.ts';
import type { AgenticProgram, AgenticWorkload } from '../../../../src/sim/agentic/workload.ts';
import { refusal } from '../../../support/basics/refusal.ts';
import { freeCost } from '../../../support/simulator/free-cost.ts';

/** A step takes 1 s, and a context token 0.125 s. */
const jobOf = (more: Partial<AgenticJobInput> = {}) =>
  defineAgenticJob({
    name: 'plain',
    cost: { memoryBoundSeconds: 1, ...freeCost, prefillSecondsPerToken: 0.125, kvCapacityTokens: 1000 },
    reportSeconds: 0,
    ...more,
  });
const workloadOf = (...programs: AgenticProgram[]): AgenticWorkload => ({ name: 'plain', source: 'test', programs });
const two: AgenticProgram = {
  promptId: 'p',
  contextTokens: 8,
  turns: [{ generatedTokens: 3, tool: 'bash', toolSeconds: 10, toolTokens: 16 }, { generatedTokens: 2 }],
};

/** A scheduler that routes everything to one engine at once, and adds decisions of its own; it keeps what it was sent. */
function scripted(answer: (event: AnyEvent) => object[] = () => []) {
  const events: AnyEvent[] = [];
  const scheduler: AgenticScheduler = {
    id: 'scripted',
    label: 'scripted',
    create: () => ({
      id: 'scripted',
      takes: (type) => !type.startsWith('slot'),
      send: (event) => {
        events.push(event);
        const { type, at, requestId } = event as AnyEvent & { readonly requestId: string };
        const own = answer(event) as AnyDecision[];
        if (type !== 'turn.requested') return own;
        return [...own, { type: 'turn.route', at, requestId, engineId: 'engine-0' } as unknown as AnyDecision];
      },
    }),
  };
  return { scheduler, events };
}

describe('a program of two turns with a tool between', () => {
  test('takes what its steps, its uncached context and its tool take', () => {
    const { scheduler, events } = scripted();
    const run = simulateAgentic(jobOf(), scheduler, workloadOf(two));
    // 8 tokens are read, 3 generated; 10 s; 16 new tokens are read, 2 generated.
    expect(run.makespanSeconds).toBe(1 + 3 + 10 + 2 + 2);
    expect(run).toMatchObject({
      programs: 1,
      failedPrograms: 0,
      turns: 2,
      generatedTokens: 5,
      preemptions: 0,
      pauses: 0,
    });
    expect(run).toMatchObject({ contextTokens: 8 + 27, cachedTokens: 11, prefilledTokens: 24 });
    expect(run.turnSeconds).toEqual({ mean: 4, p50: 4, p99: 4 });
    expect(run.idleShare).toBeCloseTo(10 / 18, 12);
    expect(events.filter(({ type }) => !type.startsWith('engine'))).toEqual([
      { type: 'program.opened', at: 0, requestId: 'p/0#0', promptId: 'p', promptTokens: 8 },
      { type: 'turn.requested', at: 0, requestId: 'p/0#0', contextTokens: 8 },
      { type: 'turn.finished', at: 4, requestId: 'p/0#0', tokens: 3, cachedTokens: 0 },
      { type: 'tool.started', at: 4, requestId: 'p/0#0', tool: 'bash' },
      { type: 'tool.finished', at: 14, requestId: 'p/0#0', outcome: 'success' },
      { type: 'turn.requested', at: 14, requestId: 'p/0#0', contextTokens: 27 },
      { type: 'turn.finished', at: 18, requestId: 'p/0#0', tokens: 5, cachedTokens: 11 },
      { type: 'program.closed', at: 18, requestId: 'p/0#0' },
    ]);
  });

  test('reads all of its context again without a prefix cache', () => {
    const run = simulateAgentic(jobOf({ prefixCache: false }), scripted().scheduler, workloadOf(two));
    expect(run).toMatchObject({ cachedTokens: 0, makespanSeconds: 1 + 3 + 10 + 27 / 8 + 2 });
  });

  test('shares its prompt with the programs of its group, and the first tokens with those of its environment', () => {
    const one = (promptId: string): AgenticProgram => {
      return { promptId, contextTokens: 8, sharedTokens: 6, turns: [{ generatedTokens: 1 }] };
    };
    const run = simulateAgentic(jobOf(), scripted().scheduler, workloadOf(one('a'), one('a'), one('b')));
    // The last token of a context is always read.
    expect(run).toMatchObject({ contextTokens: 24, cachedTokens: 7 + 6, prefilledTokens: 8 + 1 + 2 });
  });

  test('is as long in the tool when its engine crashes, and begins its turn again elsewhere', () => {
    const crash = (atSeconds: number): AgenticRunOptions => ({ losses: [{ engine: 0, atSeconds, downSeconds: 5 }] });
    const job = jobOf({ engines: 2 });
    const inTool = simulateAgentic(job, leastInFlight, workloadOf(two), crash(8));
    expect(inTool).toMatchObject({ cachedTokens: 0, makespanSeconds: 14 + 27 / 8 + 2 });
    const inTurn = simulateAgentic(job, leastInFlight, workloadOf(two), crash(2));
    expect(inTurn.makespanSeconds).toBe(2 + 18);
    expect(inTurn.generatedTokens).toBe(5);
  });

  test('counts the time for which it is paused', () => {
    const { scheduler } = scripted((event) => {
      const { type, at, requestId } = event as AnyEvent & { readonly requestId: string };
      if (type === 'tool.started') return [{ type: 'program.pause', at, requestId }];
      return type === 'tool.finished' ? [{ type: 'program.resume', at, requestId }] : [];
    });
    const run = simulateAgentic(jobOf(), scheduler, workloadOf(two));
    expect(run).toMatchObject({ pauses: 1, pausedSeconds: 10, longestPauseSeconds: 10 });
  });
});

describe('environments', () => {
  test('are started and given by environment-slots, and a program waits for its own', () => {
    const slots = { default: { slots: 1, startSeconds: 5 } };
    const run = simulateAgentic(jobOf({ slots }), scripted().scheduler, workloadOf(two, two));
    // The second waits for the first, and for a start; all of its prompt is cached by then.
    expect(run.makespanSeconds).toBe(5 + 18 + 5 + (18 - 7 / 8));
    expect(run.slots).toMatchObject({ starts: 2, failures: 0 });
    expect(run.slots!.use).toBeCloseTo((18 + 18 - 7 / 8) / run.makespanSeconds, 12);
  });

  test('that do not start cost programs, and none waits for ever', () => {
    const job = (failureShare: number) =>
      jobOf({ engines: 2, slots: { default: { slots: 3, startSeconds: 2, spread: 1, failureShare } } });
    const programs = Array.from({ length: 12 }, (_, index) => ({ ...two, promptId: `p${index}` }));
    const some = simulateAgentic(job(0.2), programScheduler(), workloadOf(...programs), { seed: 3 });
    expect(some.programs + some.failedPrograms).toBe(12);
    expect(some.programs).toBeGreaterThan(6);
    expect(some.slots!.failures).toBeGreaterThan(0);
    const none = simulateAgentic(job(1), programScheduler(), workloadOf(...programs));
    expect(none).toMatchObject({ programs: 0, failedPrograms: 12, turns: 0 });
  });
});

describe('every scheduler', () => {
  const preset = agenticPreset('swe-scarce-kv');
  const { programs } = presetWorkload(preset, 1);
  const some = { name: 'some', source: 'test', programs: programs.slice(0, 24) };
  const job = { ...preset.job, engines: 2, cost: { ...preset.job.cost, kvCapacityTokens: 50_000 } };
  const turns = some.programs.flatMap((one) => one.turns);

  test.each([...agenticRules, programScheduler()].map((one) => [one.id, one] as const))(
    '%s runs every turn once, whatever crashes, and the same again for the same seed',
    (_id, scheduler) => {
      const losses = [
        { engine: 0, atSeconds: 50, downSeconds: 30 },
        { engine: 1, atSeconds: 100, downSeconds: 0 },
      ];
      const run = simulateAgentic(job, scheduler, some, { losses });
      expect(run).toMatchObject({ programs: 24, failedPrograms: 0, turns: turns.length });
      expect(run.generatedTokens).toBe(turns.reduce((sum, one) => sum + one.generatedTokens, 0));
      const contexts = some.programs.map(({ contextTokens, turns: own }) => {
        let [sum, context] = [0, contextTokens];
        for (const { generatedTokens, toolTokens = 0 } of own) {
          sum += context;
          context += generatedTokens + toolTokens;
        }
        return sum;
      });
      expect(run.contextTokens).toBe(contexts.reduce((sum, one) => sum + one, 0));
      expect(run.prefilledTokens).toBeGreaterThanOrEqual(run.contextTokens - run.cachedTokens);
      expect(simulateAgentic(job, scheduler, some, { losses })).toEqual(run);
    },
  );
});

describe('refused', () => {
  const run = (program: Partial<AgenticProgram>, more: Partial<AgenticJobInput> = {}) =>
    refusal(() => simulateAgentic(jobOf(more), leastInFlight, workloadOf({ ...two, ...program })));

  test.each([
    [{ contextTokens: 1.5 }, 'invalid_input', 'programs[0].contextTokens'],
    [{ sharedTokens: 9 }, 'invalid_input', 'programs[0].sharedTokens'],
    [{ turns: [] }, 'invalid_input', 'programs[0].turns'],
    [{ turns: [{ generatedTokens: 0 }] }, 'invalid_input', 'programs[0].turns[0].generatedTokens'],
    [{ turns: [{ generatedTokens: 1, toolSeconds: -1 }] }, 'invalid_input', 'programs[0].turns[0].toolSeconds'],
    [{ turns: [{ generatedTokens: 1, toolTokens: 0.5 }] }, 'invalid_input', 'programs[0].turns[0].toolTokens'],
    [{ turns: [{ generatedTokens: 993 }] }, 'infeasible', 'programs[0].turns[0]'],
  ])('%o', (program, code, path) => {
    expect(run(program)).toMatchObject({ code, path });
  });

  test('no programs, programs of a prompt that begin differently, an environment without slots, losses of no engine', () => {
    const simulate = (programs: AgenticProgram[], options: AgenticRunOptions = {}) =>
      refusal(() => simulateAgentic(jobOf(), leastInFlight, workloadOf(...programs), options));
    expect(simulate([])).toMatchObject({ code: 'invalid_input', path: 'programs' });
    expect(simulate([two, { ...two, contextTokens: 9 }])).toMatchObject({ path: 'programs[1].contextTokens' });
    expect(run({}, { slots: { python: { slots: 1 } } })).toMatchObject({ path: 'programs[0].environment' });
    expect(simulate([two], { seed: 0.5 })).toMatchObject({ path: 'seed' });
    const loss = { engine: 0, atSeconds: 1, downSeconds: 1 };
    expect(simulate([two], { losses: [{ ...loss, engine: 1 }] })).toMatchObject({ path: 'losses[0].engine' });
    expect(simulate([two], { losses: [{ ...loss, downSeconds: Number.NaN }] })).toMatchObject({
      path: 'losses[0].downSeconds',
    });
  });

  test('a scheduler that routes nothing, a turn that was routed, or to no engine', () => {
    const simulate = (answer: (event: AnyEvent) => object[]) => {
      const scheduler = { id: 'x', label: 'x', create: () => ({ id: 'x', send: answer as never }) };
      return refusal(() => simulateAgentic(jobOf(), scheduler, workloadOf(two)));
    };
    const route = (engineId: string) => ({ type: 'turn.route', at: 0, requestId: 'p/0#0', engineId });
    expect(simulate(() => [])).toMatchObject({ code: 'infeasible' });
    expect(
      simulate(({ type }) => (type === 'turn.requested' ? [route('engine-0'), route('engine-0')] : [])),
    ).toMatchObject({
      code: 'out_of_order',
    });
    expect(simulate(({ type }) => (type === 'turn.requested' ? [route('e')] : []))).toMatchObject({ path: 'engineId' });
  });
});
