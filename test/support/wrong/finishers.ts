/** A small policy of rounds that keeps laws 11 and 12, and some that break them. */

import type { Context } from '../../../src/core/machine/definition.ts';
import { PolicyError } from '../../../src/errors.ts';
import * as d from '../../../src/schemas/decisions/index.ts';
import * as e from '../../../src/schemas/events/index.ts';
import { defineDecision, type VocabularyEvent, z } from '../../../src/schemas/index.ts';
import type { WithEvents } from '../../../src/testing/index.ts';
import { handMade } from './hand-made.ts';

const done = defineDecision(
  'acme/prompt.done',
  'notice',
  'A prompt has its response.',
  { promptId: z.string(), weightVersions: z.array(z.number()).optional() },
  { done: {} },
);

interface State {
  readonly slots: number;
  round: { id: string; asked: number } | null;
  waiting: string[];
  running: { promptId: string; requestId: string }[];
  taken: number;
  exhausted: boolean;
  minted: number;
  prefix: string;
}
type Saved = Omit<State, 'slots'>;
// biome-ignore lint/suspicious/noExplicitAny: wrong policies answer with what no type allows
type Ctx = Context<any>;

function ask(state: State, ctx: Ctx): void {
  const { id: roundId, asked: count } = state.round!;
  const reason = { code: 'round_opened', target: count, known: 0 };
  if (count > 0) ctx.emit({ type: 'prompts.request', at: ctx.at, roundId, count, reason });
}

function launch(state: State, promptId: string, ctx: Ctx): void {
  const requestId = `${state.prefix}${promptId}#${state.minted++}`;
  state.running.push({ promptId, requestId });
  const request = { requestId, promptId, roundId: state.round!.id, index: 0, weightVersion: 0 };
  const reason = { code: 'planned', inFlight: state.taken };
  ctx.emit({ type: 'request.launch', at: ctx.at, ...request, reason });
}

/** What follows from the state: launches into free slots, and the end of the round. */
function settle(state: State, ctx: Ctx): void {
  const { round } = state;
  if (round === null) return;
  while (state.waiting.length > 0 && state.taken < state.slots) {
    state.taken += 1;
    launch(state, state.waiting.shift()!, ctx);
  }
  if (round.asked + state.waiting.length + state.running.length > 0) return;
  state.round = null;
  const counts = { counted: 0, needed: 0 };
  const rest = { kind: 'short', weightVersion: 0, prompts: [], openedSeconds: 0, deferred: 0 };
  const reason = { code: 'quota_reached', ...counts };
  ctx.emit({ type: 'round.completed', at: ctx.at, roundId: round.id, ...rest, reason });
}

/** What a wrong policy does otherwise. */
const right = {
  /** Whether a round that is asked for has nothing to do. */
  isDrained: (state: State): boolean => state.exhausted && state.waiting.length === 0,
  restart: (state: State, ctx: Ctx): void => {
    for (const { promptId } of state.running.splice(0)) launch(state, promptId, ctx);
    if (state.round !== null) ask(state, ctx);
  },
  complete: (_state: State): void => undefined,
};
type Behaviour = typeof right;

function apply(wrong: Partial<Behaviour>) {
  const { isDrained, restart, complete } = { ...right, ...wrong };
  return (state: State, event: VocabularyEvent, ctx: Ctx): void => {
    switch (event.type) {
      case 'round.requested': {
        const reason = { code: 'source_exhausted' };
        if (isDrained(state)) return ctx.emit({ type: 'source.drained', at: ctx.at, roundId: event.roundId, reason });
        state.round = { id: event.roundId, asked: state.exhausted ? 0 : 3 };
        ask(state, ctx);
        break;
      }
      case 'prompts.supplied':
        state.waiting.push(...event.prompts.map((one) => one.promptId));
        if (state.round !== null) state.round.asked = Math.max(0, state.round.asked - event.prompts.length);
        break;
      case 'response.completed': {
        const index = state.running.findIndex((one) => one.requestId === event.requestId);
        if (index < 0) return;
        const { promptId } = state.running.splice(index, 1)[0]!;
        const { weightVersions } = event;
        state.taken -= 1;
        complete(state);
        ctx.emit({ type: done.type, at: ctx.at, promptId, weightVersions, reason: { code: 'done' } });
        break;
      }
      case 'source.exhausted':
        state.exhausted = true;
        if (state.round !== null) state.round.asked = 0;
        break;
      case 'source.reopened':
        state.exhausted = false;
        break;
      case 'host.restarted':
        state.prefix = event.idPrefix;
        restart(state, ctx);
    }
    settle(state, ctx);
  };
}

const events = [
  e.roundRequested,
  e.promptsSupplied,
  e.responseCompleted,
  e.sourceExhausted,
  e.sourceReopened,
  e.hostRestarted,
] as const;

function arbitrary(state: State, choices: { below(n: number): number }): VocabularyEvent {
  const [at, name] = [choices.below(50), `${choices.below(40)}`];
  const request = state.running[choices.below(Math.max(1, state.running.length))];
  const roundId = state.round?.id ?? `r${name}`;
  switch (choices.below(6)) {
    case 0:
      return { type: choices.below(3) === 0 ? 'source.exhausted' : 'source.reopened', at };
    case 1:
      if (request !== undefined) return { type: 'response.completed', at, requestId: request.requestId, tokens: 1 };
      return { type: 'round.requested', at, roundId: `r${name}`, weightVersion: 0 };
    case 2:
    case 3:
      return { type: 'prompts.supplied', at, roundId, prompts: [{ promptId: `p${name}` }] };
    default:
      return { type: 'round.requested', at, roundId: `r${name}`, weightVersion: 0 };
  }
}

function check(state: State, event: VocabularyEvent): void {
  const expected = 'no round that is open';
  if (event.type !== 'round.requested' || state.round === null) return;
  throw new PolicyError('out_of_order', { expected, got: event.roundId, path: 'roundId' });
}

const make = (wrong: Partial<Behaviour>, change: object = {}): WithEvents => ({
  definition: handMade({
    id: 'acme/rounds',
    version: 1,
    summary: 'Runs the prompts of a round in so many slots.',
    source: 'a test',
    config: z.strictObject({ slots: z.int().positive().describe('Requests at once.') }),
    events,
    decisions: [d.promptsRequest, d.requestLaunch, d.roundCompleted, d.sourceDrained, done],
    state: z.strictObject({
      round: z.strictObject({ id: z.string(), asked: z.int() }).nullable(),
      waiting: z.array(z.string()),
      running: z.array(z.strictObject({ promptId: z.string(), requestId: z.string() })),
      taken: z.int(),
      exhausted: z.boolean(),
      minted: z.int(),
      prefix: z.string(),
    }),
    init: ({ slots }: { slots: number }): State => {
      return { slots, round: null, waiting: [], running: [], taken: 0, exhausted: false, minted: 0, prefix: '' };
    },
    check,
    apply: apply(wrong),
    save: ({ slots: _, ...saved }: State): Saved => structuredClone(saved),
    load: (saved: Saved, { slots }: { slots: number }): State => ({ slots, ...structuredClone(saved) }),
    ledgers: [
      {
        name: 'prompts',
        entered: (event: VocabularyEvent) =>
          event.type === 'prompts.supplied' ? event.prompts.map((one) => one.promptId) : [],
        left: (one: { type: string; promptId?: string }) => (one.type === done.type ? [one.promptId!] : []),
        held: ({ waiting, running }: Saved) => [...waiting, ...running.map((one) => one.promptId)],
      },
    ],
    ...change,
  }),
  arbitrary,
});

/** Keeps laws 11 and 12. */
export const rightFinisher = make({});

/** Waits that say since when prompts are awaited: as the policy knows it, or since the beginning. */
const dated = (since: number | undefined) => ({
  waits: {
    prompts: {
      ids: ({ waiting, running }: State) => [...waiting, ...running.map(({ promptId }) => promptId)],
      of: ({ waiting, running, round }: State, id: string) => {
        const found = running.find(({ promptId }) => promptId === id);
        if (found !== undefined) {
          return {
            stands: 'runs',
            for: [{ event: { type: 'response.completed', requestId: found.requestId }, since }],
          };
        }
        if (!waiting.includes(id)) return undefined;
        return round === null
          ? { stands: 'waits', for: [{ event: { type: 'round.requested' } }] }
          : { stands: 'waits', for: [{ what: 'rounds', id: round.id }] };
      },
    },
  },
});

/** Each breaks the law with its number, and is told so in these words. */
export const wrongFinishers: { law: number; title: string; says: RegExp; tested: WithEvents }[] = [
  {
    law: 11,
    title: 'is drained while prompts wait',
    says: /after source\.drained, at .*, its ledgers hold prompts/,
    tested: make({ isDrained: ({ exhausted }) => exhausted }),
  },
  {
    law: 11,
    title: 'never says that it is drained',
    says: /rounds without a source it is not drained/,
    tested: make({ isDrained: () => false }),
  },
  {
    law: 12,
    title: 'does not launch again what was in flight',
    says: /refuses what a host may begin: .*no round that is open/,
    tested: make({ restart: (state, ctx) => state.round !== null && ask(state, ctx) }),
  },
  {
    law: 12,
    title: 'does not ask again for prompts',
    says: /refuses what a host may begin: .*no round that is open/,
    tested: make({
      restart: (state, ctx) => {
        for (const { promptId } of state.running.splice(0)) launch(state, promptId, ctx);
      },
    }),
  },
  {
    law: 12,
    title: 'loses a slot at a restart',
    says: /new work gets \d request\.launch at once, from a new policy 2|refuses what a host may begin/,
    tested: make({
      restart: (state, ctx) => {
        state.waiting.unshift(...state.running.splice(0, 1).map((one) => one.promptId));
        right.restart(state, ctx);
      },
    }),
  },
  {
    law: 12,
    title: 'refuses the answer to what it asks again',
    says: /refuses the answer to what it has named: .*unknown_id|refuses the answer to what it has named: .*expected a known/,
    tested: make(
      {},
      {
        check: (state: State, event: VocabularyEvent) => {
          check(state, event);
          if (event.type !== 'response.completed' || !event.requestId.startsWith('again-')) return;
          throw new PolicyError('unknown_id', { expected: 'a known request', got: event.requestId, path: 'requestId' });
        },
      },
    ),
  },
  {
    law: 14,
    title: 'dates what it waits for to the beginning',
    says: /waits for .*response\.completed.* since 0, and request\.launch \(planned\) has asked for it at \d+/,
    tested: make({}, dated(0)),
  },
  {
    law: 12,
    title: 'asks for more without end',
    says: /it still asks for more after \d+ events/,
    tested: make({ complete: (state) => void (state.prefix !== '' && state.waiting.push('more')) }),
  },
];
