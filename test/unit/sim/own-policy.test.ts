/** Policies of the user in the simulator: what it needs of them, and what they ask for and do not get. */
import { describe, expect, test } from 'vitest';
import { likely } from '../../../examples/16-own-policy/likely.ts';
import { longestFirst } from '../../../examples/16-own-policy/longest-first.ts';
import {
  create,
  defineDecision,
  defineEvent,
  definePolicy,
  handlersOf,
  type Live,
  PolicyError,
  z,
} from '../../../src/index.ts';
import { registry } from '../../../src/registry.ts';
import * as messages from '../../../src/schemas/index.ts';
import type { Of } from '../../../src/schemas/vocabulary.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { policyScheduler } from '../../../src/sim/colocated/policy-scheduler.ts';
import { type Scheduler, tailBatchingScheduler } from '../../../src/sim/colocated/scheduler.ts';
import { compare } from '../../../src/sim/comparison/compare.ts';
import { type predicts, withPredictions } from '../../../src/sim/workload/predicted.ts';
import type { Workload } from '../../../src/sim/workload/workload.ts';
import { checkLaws, simulatorFit } from '../../../src/testing/index.ts';
import { plainJob, plainWorkload } from '../../support/simulator/host.ts';

const shape = { promptsPerRound: 4, responsesPerPrompt: 2 };
const job = plainJob({ engines: 2, ...shape });
const workload = plainWorkload((prompt, k) => 10 + ((prompt * 37 + k * 11) % 90));
const run = { prompts: 8, seed: 1, timeline: false };

/** Takes prompts, and starts them one by one: it keeps the laws, and is no policy of rollouts. */
const submitted = defineEvent('acme/prompt.submitted', 'Submitted.', { promptId: z.string() });
const start = defineDecision('acme/prompt.start', 'command', 'Start.', { promptId: z.string() }, { first: {} });
const empty = z.strictObject({});
const gate = definePolicy({
  id: 'acme/gate',
  version: 1,
  summary: 'Starts what is submitted.',
  source: 'acme',
  config: empty,
  state: empty,
  begin: () => ({}),
  handlers: [
    handlersOf<Live<object, object>, Of<typeof start>>()(submitted, (_state, { promptId }, { at, emit }) =>
      emit({ type: 'acme/prompt.start', at, promptId, reason: { code: 'first' } }),
    ),
  ],
  decisions: [start],
  ledgers: [
    {
      name: 'prompts',
      entered: (event) => [event.promptId],
      left: (decision) => [decision.promptId],
      held: () => [],
    },
  ],
});

/** The least that the simulator runs: no engines, no aborts, no end of the source. It says every prompt aloud. */
const leastState = z.strictObject({
  round: messages.roundOpened.schema.nullable(),
  prompts: z.array(z.strictObject({ promptId: z.string(), held: z.array(messages.responseCompleted.schema) })),
});
const leastConfig = z.strictObject({
  promptsPerRound: z.int().describe('P0.'),
  responsesPerPrompt: z.int().describe('R0.'),
});
const leastDecisions = [
  messages.promptsRequest,
  messages.requestLaunch,
  messages.roundCompleted,
  messages.roundDrained,
  start,
] as const;
type Least = Live<z.output<typeof leastState>, z.output<typeof leastConfig>>;
const on = handlersOf<Least, Of<(typeof leastDecisions)[number]>>();
const least = definePolicy({
  id: 'acme/least',
  version: 1,
  summary: 'First come, first served.',
  source: 'acme',
  config: leastConfig,
  state: leastState,
  begin: () => ({ round: null, prompts: [] }),
  decisions: leastDecisions,
  handlers: [
    on(messages.roundOpened, (state, event, { at, emit }) => {
      state.round = event;
      const { roundId } = event;
      const count = state.config.promptsPerRound;
      emit({ type: 'prompts.request', at, roundId, count, reason: { code: 'round_opened', target: count, known: 0 } });
    }),
    on(messages.promptsSupplied, (state, { roundId, prompts }, { at, emit }) => {
      const { weightVersion } = state.round!;
      for (const { promptId } of prompts) {
        state.prompts.push({ promptId, held: [] });
        emit({ type: 'acme/prompt.start', at, promptId, reason: { code: 'first' } });
        for (let index = 0; index < state.config.responsesPerPrompt; index += 1) {
          const requestId = `${promptId}#${index}`;
          const reason = { code: 'planned', inFlight: 0 } as const;
          emit({ type: 'request.launch', at, requestId, promptId, roundId, index, weightVersion, reason });
        }
      }
    }),
    on(messages.responseCompleted, (state, event, { at, emit }) => {
      const { roundId, kind, weightVersion, at: openedSeconds } = state.round!;
      const { prompts, config } = state;
      prompts.find(({ promptId }) => event.requestId.startsWith(`${promptId}#`))!.held.push(event);
      if (prompts.some(({ held }) => held.length < config.responsesPerPrompt)) return;
      const final = prompts.splice(0).map(({ promptId, held }) => ({
        promptId,
        responses: held.map(({ requestId, tokens }, index) => ({
          requestId,
          index,
          tokens,
          weightVersions: [weightVersion],
        })),
      }));
      const reason = { code: 'quota_reached', counted: final.length, needed: final.length } as const;
      const what = { roundId, kind, weightVersion, prompts: final, openedSeconds, deferred: 0 };
      emit({ type: 'round.completed', at, ...what, reason });
      emit({ type: 'round.drained', at, roundId, reason: { code: 'all_ended', afterSeconds: 0 } });
    }),
  ],
  ledgers: [],
});

const refusalOf = (work: () => unknown): PolicyError => {
  try {
    work();
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('what the simulator needs', () => {
  test('is said by the laws, by a scheduler and by a run, in one error with everything', () => {
    const arbitrary = () => ({ type: 'acme/prompt.submitted', at: 0, promptId: 'p' });
    const { simulator } = checkLaws({ definition: gate, arbitrary }, { config: {}, runs: 2, events: 5, seed: 1 });
    expect(simulator.neverSent).toEqual(['acme/prompt.submitted']);
    expect(simulator.notCarriedOut).toEqual(['acme/prompt.start']);
    const error = refusalOf(() => policyScheduler(gate, {}));
    expect(error).toMatchObject({ code: 'infeasible', path: 'acme/gate' });
    for (const name of [
      'round.requested or round.opened',
      'prompts.supplied',
      'prompts.request',
      'request.launch or request.admit',
      'response.completed',
      'round.completed',
      'round.drained',
    ]) {
      expect(error.expected).toContain(name);
      expect(simulator.lacks.join()).toContain(name);
    }
    const byHand: Scheduler = {
      id: 'mine',
      label: 'mine',
      holdsDeferred: true,
      create: (options) => create(gate, {}, options),
      openRound: (round) => ({ type: 'acme/opened', ...round }),
    };
    expect(refusalOf(() => simulate(job, byHand, workload, run)).message).toBe(error.message);
  });

  test('a policy that keeps the laws and lacks nothing runs', () => {
    const options = { config: shape, runs: 5, events: 40, seed: 3 };
    const { simulator } = checkLaws({ definition: longestFirst, arbitrary: likely }, options);
    expect(simulator.lacks).toEqual([]);
    const result = simulate(job, policyScheduler(longestFirst, shape), workload, { ...run, validate: true });
    expect(result.trainedPrompts).toBe(run.prompts);
  });

  test('events that a policy does not take are left out', () => {
    expect(simulatorFit(least)).toMatchObject({ lacks: [], neverSent: [], notCarriedOut: ['acme/prompt.start'] });
    expect(simulatorFit(least).leftOut).toContain('source.exhausted');
    const result = simulate(job, policyScheduler(least, shape), workload, { ...run, validate: true });
    expect(result.trainedPrompts).toBe(run.prompts);
    expect(result.unmet).toEqual([{ what: 'command', name: 'acme/prompt.start', count: run.prompts }]);
  });

  test('the table is what the simulator sends to those that it ships', () => {
    const types = new Set<string>();
    const log = (line: string) => {
      const { event } = JSON.parse(line);
      if (event !== undefined) types.add(event.type);
    };
    simulate(job, tailBatchingScheduler(job), workload, { ...run, prompts: 40, log });
    const definition = registry.policies.find(({ id }) => id === 'tail-batching')!;
    const { lacks, neverSent } = simulatorFit(definition);
    expect(lacks).toEqual([]);
    for (const type of types) expect(neverSent).not.toContain(type);
    expect([...types]).toEqual(expect.arrayContaining(['engine.added', 'source.exhausted', 'request.aborted']));
  });
});

describe('predicted lengths', () => {
  const given = (predict: (typeof predicts)[number], sigma?: number): Workload =>
    withPredictions(workload, { predict, responsesPerPrompt: 2, seed: 7, ...(sigma === undefined ? {} : { sigma }) });
  const longest = (index: number): number =>
    Math.max(workload.prompt(index).sample(0).tokens, workload.prompt(index).sample(1).tokens);
  const indices = Array.from({ length: 400 }, (_, index) => index);

  test('are true, err as they say, or are none; the lengths stay', () => {
    expect(given('none')).toBe(workload);
    const [oracle, noisy, again] = [given('oracle'), given('noisy', 0.3), given('noisy', 0.3)];
    const errors = indices.map((index) => {
      expect(oracle.prompt(index).expectedTokens).toBe(longest(index));
      expect(noisy.prompt(index).sample(1)).toEqual(workload.prompt(index).sample(1));
      expect(again.prompt(index).expectedTokens).toBe(noisy.prompt(index).expectedTokens);
      return Math.log(noisy.prompt(index).expectedTokens! / longest(index));
    });
    const mean = errors.reduce((sum, one) => sum + one, 0) / errors.length;
    const spread = Math.sqrt(errors.reduce((sum, one) => sum + (one - mean) ** 2, 0) / errors.length);
    expect(Math.abs(mean)).toBeLessThan(0.05);
    expect(spread).toBeGreaterThan(0.26);
    expect(spread).toBeLessThan(0.34);
  });

  test('a wrong way is refused with the nearest right word', () => {
    const error = refusalOf(() => withPredictions(workload, { predict: 'orcale' as 'oracle', responsesPerPrompt: 2 }));
    expect(error.expected).toContain('did you mean "oracle"?');
    expect(refusalOf(() => given('noisy', -1)).path).toBe('sigma');
  });

  test('a policy that decides by them is told if there are none, and no other one is', () => {
    const asks = { what: 'prediction', name: 'expectedTokens' };
    const mine = policyScheduler(longestFirst, { ...shape, inFlight: 2 });
    expect(simulate(job, mine, workload, run).unmet).toContainEqual(asks);
    expect(simulate(job, mine, given('oracle'), run).unmet).toBeUndefined();
    expect(simulate(job, policyScheduler(least, shape), workload, run).unmet).not.toContainEqual(asks);
    expect(simulate(job, tailBatchingScheduler(job), workload, run).unmet).toBeUndefined();
  });

  test('a comparison says it in words', () => {
    const schedulers = [policyScheduler(longestFirst, { ...shape, inFlight: 2 }, { label: 'longest first' })];
    const options = { job, steps: 2, seeds: [1], schedulers, timeline: false };
    const blind = compare({ ...options, workload: () => workload });
    expect(blind.notes.join('\n')).toMatch(/^longest first: decides by expectedTokens/m);
    expect(blind.workload.predict).toBeUndefined();
    const seeing = compare({ ...options, workload: () => given('noisy') });
    expect(seeing.notes).toContain('Prompts come with predicted lengths: noisy (lognormal, sigma 0.5).');
    expect(seeing.workload.predict).toBe('noisy (lognormal, sigma 0.5)');
  });
});
