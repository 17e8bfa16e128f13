/** A small policy that tries prompts again, and keeps laws 19 and 20, and some that break them. */
import type { Context } from '../../../src/core/machine/definition.ts';
import * as d from '../../../src/schemas/decisions/index.ts';
import * as e from '../../../src/schemas/events/index.ts';
import { type VocabularyEvent, z } from '../../../src/schemas/index.ts';
import type { WithEvents } from '../../../src/testing/index.ts';
import { handMade } from './hand-made.ts';

interface Tried {
  readonly id: string;
  /** Failures that were its own. */
  own: number;
  /** First tries of others that have ended since its last failure, and how many of them have succeeded; nothing before one. */
  since: { ended: number; succeeded: number } | null;
  failures: number;
  /** When it may be tried again, in seconds. */
  at: number;
}
interface State {
  readonly slots: number;
  round: { id: string; asked: boolean } | null;
  roundId: string;
  done: string[];
  waiting: Tried[];
  running: { requestId: string; prompt: Tried; number: number }[];
  /** Prompts that have failed one after the other. */
  failing: string[];
  /** Number of the launch after which they failed. */
  since: number;
  suspended: { pause: number; at: number; number: number } | null;
  /** Prompts in a row whose data were at fault. */
  dataFaults: number;
  exhausted: boolean;
  minted: number;
  last: string;
}
// biome-ignore lint/suspicious/noExplicitAny: wrong policies answer with what no type allows
type Ctx = Context<any>;

const longestPause = 60;
/** Prompts in a row that fail until only single tries are made. */
const toSuspend = 8;
/** First tries of others that tell whether a failure was shared. */
const toCompare = 4;

function launch(state: State, prompt: Tried, ctx: Ctx): void {
  const number = state.minted++;
  const requestId = `${prompt.id}/0#${number}`;
  state.running.push({ requestId, prompt, number });
  const request = { requestId, promptId: prompt.id, roundId: state.round!.id, index: 0, weightVersion: 0 };
  const reason = { code: 'planned', inFlight: state.running.length };
  ctx.emit({ type: 'request.launch', at: ctx.at, ...request, reason });
}

function setTimer(state: State, fireAtSeconds: number, ctx: Ctx): void {
  if (state.round === null) return;
  const reason = { code: 'retry_pause', longestPauseSeconds: longestPause };
  ctx.emit({ type: 'timer.set', at: ctx.at, timerId: 'acme/pause', fireAtSeconds, reason });
}

/** What a wrong policy does otherwise. */
const right = {
  mostOwn: 2,
  isShared: true,
  suspends: true,
  pause: (failures: number): number => (failures <= 1 ? 0 : Math.min(2 ** (failures - 2), longestPause)),
  tell: (scope: string, ctx: Ctx): void =>
    ctx.emit({ type: 'tries.suspended', at: ctx.at, scope, reason: { code: 'failing', items: 1, failures: 1 } }),
  wait: setTimer,
  keep: (state: State, prompt: Tried): void => void state.waiting.push(prompt),
  trained: (state: State): string[] => state.done,
  stopsAt: toSuspend,
};
type Behaviour = typeof right;

function apply(wrong: Partial<Behaviour>) {
  const { mostOwn, isShared, suspends, pause, tell, wait, keep, trained, stopsAt } = { ...right, ...wrong };

  const giveUp = (state: State, { id, own }: Tried, code: string, ctx: Ctx): void => {
    const reason = { code, failures: own, budget: mostOwn };
    ctx.emit({ type: 'prompt.failed', at: ctx.at, promptId: id, roundId: state.roundId, dropped: [], reason });
  };

  /** Launches what may be launched, asks for more, and ends the round. */
  const settle = (state: State, ctx: Ctx): void => {
    const { round, waiting, running, suspended } = state;
    if (round === null) return;
    const due = waiting.filter(
      ({ at, since }) =>
        at <= ctx.at && (since === null || since.ended >= toCompare || (state.exhausted && running.length === 0)),
    );
    if (suspended === null) {
      for (const prompt of due) {
        if (running.length >= state.slots) break;
        waiting.splice(waiting.indexOf(prompt), 1);
        launch(state, prompt, ctx);
      }
    } else if (running.length === 0 && suspended.at <= ctx.at && waiting.length > 0)
      launch(state, waiting.shift()!, ctx);
    const isFull = state.done.length >= state.slots || (state.exhausted && waiting.length + running.length === 0);
    if (isFull) {
      const prompts = trained(state).map((promptId) => ({ promptId, responses: [] }));
      const rest = { kind: 'short', weightVersion: 0, prompts, openedSeconds: 0, deferred: 0 };
      ctx.emit({
        type: 'round.completed',
        at: ctx.at,
        roundId: round.id,
        ...rest,
        reason: { code: 'quota_reached', counted: 0, needed: 0 },
      });
      state.last = state.done.at(-1) ?? '';
      state.done = [];
      state.round = null;
      return;
    }
    const isStopped = state.dataFaults >= stopsAt || (suspended !== null && waiting.length > 1);
    const free = suspended === null ? state.slots - running.length : 1;
    if (!round.asked && !state.exhausted && !isStopped && free > 0) {
      round.asked = true;
      const reason = { code: 'round_opened', target: free, known: 0 };
      ctx.emit({ type: 'prompts.request', at: ctx.at, roundId: round.id, count: free, reason });
    }
    const next = suspended === null ? Math.min(...waiting.map(({ at }) => at)) : suspended.at;
    if (running.length === 0 && next > ctx.at && Number.isFinite(next)) wait(state, next, ctx);
    else if (suspended === null && next > ctx.at && Number.isFinite(next)) setTimer(state, next, ctx);
  };

  const failed = (state: State, { prompt, number }: State['running'][number], ctx: Ctx): void => {
    prompt.failures += 1;
    if (prompt.since !== null && prompt.since.ended >= toCompare) {
      prompt.own = 2 * prompt.since.succeeded >= prompt.since.ended ? prompt.own + 1 : 0;
    }
    prompt.since = { ended: 0, succeeded: 0 };
    prompt.at = ctx.at + pause(prompt.failures);
    if (!isShared) {
      prompt.own += 1;
      prompt.since = null;
    }
    if (prompt.own > mostOwn) {
      giveUp(state, prompt, 'infrastructure', ctx);
      return;
    }
    keep(state, prompt);
    if (!isShared) return;
    const { suspended, failing } = state;
    if (suspended !== null) {
      if (number >= suspended.number)
        state.suspended = {
          ...suspended,
          pause: Math.min(2 * suspended.pause, longestPause),
          at: ctx.at + suspended.pause,
        };
      return;
    }
    if (!suspends) return;
    if (failing.length === 0) state.since = state.minted;
    if (!failing.includes(prompt.id)) failing.push(prompt.id);
    if (failing.length < toSuspend && state.running.length > 0) return;
    if (failing.length < 2 && state.waiting.length > 1) return;
    state.suspended = { pause: 2, at: ctx.at + 1, number: state.minted };
    tell('engine', ctx);
    tell('environment', ctx);
  };

  const ended = (state: State, one: State['running'][number], isSuccess: boolean): void => {
    if (one.prompt.failures > (isSuccess ? 0 : 1)) return;
    for (const { since } of state.waiting) {
      if (since === null) continue;
      since.ended += 1;
      if (isSuccess) since.succeeded += 1;
    }
  };

  return (state: State, event: VocabularyEvent, ctx: Ctx): void => {
    switch (event.type) {
      case 'round.requested':
        if (state.exhausted && state.waiting.length + state.running.length + state.done.length === 0) {
          ctx.emit({
            type: 'source.drained',
            at: ctx.at,
            roundId: event.roundId,
            reason: { code: 'source_exhausted' },
          });
          return;
        }
        state.roundId = event.roundId;
        state.round = { id: event.roundId, asked: false };
        state.dataFaults = 0;
        break;
      case 'prompts.supplied':
        if (state.round !== null) state.round.asked = false;
        for (const { promptId: id } of event.prompts)
          state.waiting.unshift({ id, own: 0, since: null, failures: 0, at: 0 });
        break;
      case 'response.completed':
      case 'response.failed': {
        const index = state.running.findIndex((one) => one.requestId === event.requestId);
        if (index < 0) return;
        const [one] = state.running.splice(index, 1) as [State['running'][number]];
        if (event.type === 'response.failed' && event.kind === 'data') {
          state.dataFaults += 1;
          if (state.dataFaults === stopsAt) tell('prompt', ctx);
          giveUp(state, one.prompt, 'data', ctx);
          break;
        }
        if (event.type === 'response.failed') failed(state, one, ctx);
        ended(state, one, event.type === 'response.completed');
        if (event.type === 'response.failed') break;
        state.done.push(one.prompt.id);
        state.dataFaults = 0;
        if (one.number >= (state.suspended?.number ?? state.since)) {
          state.failing = [];
          state.suspended = null;
        }
        break;
      }
      case 'source.exhausted':
        state.exhausted = true;
        break;
      case 'source.reopened':
        state.exhausted = false;
        break;
    }
    settle(state, ctx);
  };
}

const events = [
  e.roundRequested,
  e.promptsSupplied,
  e.responseCompleted,
  e.responseFailed,
  e.sourceExhausted,
  e.sourceReopened,
  e.timerFired,
] as const;
const loose = z.any();

const make = (wrong: Partial<Behaviour>): WithEvents => ({
  definition: handMade({
    id: 'acme/retries',
    version: 1,
    summary: 'Tries the prompts of a round again.',
    source: 'a test',
    config: z.strictObject({ slots: z.int().positive().describe('Requests at once.') }),
    events,
    decisions: [
      ...[d.promptsRequest, d.requestLaunch, d.roundCompleted, d.sourceDrained, d.promptFailed, d.timerSet],
      d.triesSuspended,
    ],
    state: z.strictObject({ state: loose }),
    init: ({ slots }: { slots: number }): State => ({
      ...{
        slots,
        round: null,
        roundId: '',
        done: [],
        waiting: [],
        running: [],
        failing: [],
        since: 0,
        suspended: null,
      },
      ...{ dataFaults: 0, exhausted: false, minted: 0, last: '' },
    }),
    check: () => undefined,
    apply: apply(wrong),
    save: (state: State) => ({ state: structuredClone(state) }),
    load: ({ state }: { state: State }): State => structuredClone(state),
    ledgers: [
      {
        name: 'prompts',
        entered: (event: VocabularyEvent) =>
          event.type === 'prompts.supplied' ? event.prompts.map((one) => one.promptId) : [],
        left: (one: { type: string; promptId?: string; prompts?: { promptId: string }[] }) => {
          if (one.type === 'round.completed') return one.prompts!.map(({ promptId }) => promptId);
          return one.type === 'prompt.failed' ? [one.promptId!] : [];
        },
        held: ({ state: { waiting, running, done } }: { state: State }) => [
          ...waiting.map(({ id }) => id),
          ...running.map(({ prompt }) => prompt.id),
          ...done,
        ],
      },
    ],
  }),
  // Laws 19 and 20 make their own runs.
  arbitrary: (_state, choices) => ({ type: 'source.reopened', at: choices.below(1000) }) as VocabularyEvent,
});

/** Keeps laws 19 and 20. */
export const rightRetrier = make({});

const atOnce = () => 0;
const never = Number.POSITIVE_INFINITY;

/** Each breaks the law with its number, and is told so in these words. */
export const wrongRetriers: { law: number; title: string; says: RegExp; tested: WithEvents }[] = [
  {
    law: 19,
    title: 'charges every failure to its prompt',
    says: /which does not fail by itself, is given up: prompt\.failed/,
    tested: make({ isShared: false, mostOwn: 5, pause: atOnce }),
  },
  {
    law: 19,
    title: 'never gives up',
    says: /fail by themselves/,
    tested: make({ mostOwn: never }),
  },
  {
    law: 19,
    title: 'never launches again',
    says: /nothing is left to do at/,
    tested: make({ wait: () => undefined }),
  },
  {
    law: 19,
    title: 'tries again without pauses',
    says: /tries in .* s of the outage|it still asks for more after/,
    tested: make({ suspends: false, pause: atOnce }),
  },
  {
    law: 19,
    title: 'loses a prompt that fails in an outage',
    says: /have neither left nor been given up|are still there|nothing is left to do/,
    tested: make({ keep: (state, prompt) => void (state.suspended === null && state.waiting.push(prompt)) }),
  },
  {
    law: 19,
    title: 'trains a prompt twice',
    says: /leaves a second time/,
    tested: make({ trained: ({ done, last }) => (last === '' ? done : [last, ...done]) }),
  },
  {
    law: 20,
    title: 'tries again without pauses',
    says: /decisions in .* s without a success/,
    tested: make({ isShared: false, mostOwn: never, pause: atOnce }),
  },
  {
    law: 20,
    title: 'asks itself every 100 ms whether it may go on',
    says: /decisions in .* s without a success/,
    tested: make({ wait: (state, at, ctx) => setTimer(state, Math.min(at, ctx.at + 0.1), ctx) }),
  },
  {
    law: 20,
    title: 'asks for one prompt after the other while all have faults of their own',
    says: /decisions in .* s without a success/,
    tested: make({ stopsAt: never }),
  },
  {
    law: 20,
    title: 'stops, and says nothing',
    says: /no notice names what fails/,
    tested: make({ tell: () => undefined }),
  },
];
