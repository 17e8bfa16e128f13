/** One small policy that keeps the laws, and one that breaks each of them. */

import type { Context } from '../../../src/core/machine/definition.ts';
import { PolicyError } from '../../../src/errors.ts';
import { timerSet } from '../../../src/schemas/decisions/session.ts';
import { timerFired } from '../../../src/schemas/events/session.ts';
import {
  defineDecision,
  defineEvent,
  promptCounted,
  requestLaunch,
  responseCompleted,
  rewardReady,
  rewardRequest,
  z,
} from '../../../src/schemas/index.ts';
import type { Arbitrary, WithEvents } from '../../../src/testing/index.ts';
import { handMade } from './hand-made.ts';

const id = z.string().min(1);
const added = defineEvent('acme/item.added', 'An item comes in.', { id });
const removed = defineEvent('acme/item.removed', 'An item is taken out.', { id });
const counted = defineEvent('acme/items.counted', 'So many items were counted.', { count: z.int().nonnegative() });
const kept = defineDecision(
  'acme/item.kept',
  'notice',
  'An item is held.',
  { id, items: z.array(id) },
  { held: { held: z.int() } },
);
const dropped = defineDecision(
  'acme/item.dropped',
  'notice',
  'An item leaves.',
  { id },
  { asked: {}, full: { limit: z.int() } },
);

interface State {
  limit: number;
  items: Map<string, number>;
  last: string[];
  seq: number;
}
type Event = { type: 'acme/item.added' | 'acme/item.removed'; at: number; id: string };
type Saved = { items: [string, number][]; last: string[]; seq: number };
// biome-ignore lint/suspicious/noExplicitAny: wrong policies answer with what no type allows
type Ctx = Context<any>;

function apply(state: State, event: Event, ctx: Ctx): void {
  const { id: item } = event;
  state.seq += 1;
  if (event.type === 'acme/item.removed') {
    state.items.delete(item);
    ctx.emit({ type: dropped.type, at: ctx.at, id: item, reason: { code: 'asked' } });
  } else if (state.items.size >= state.limit) {
    ctx.emit({ type: dropped.type, at: ctx.at, id: item, reason: { code: 'full', limit: state.limit } });
  } else {
    state.items.set(item, state.seq);
    state.last = [item];
    ctx.emit({
      type: kept.type,
      at: ctx.at,
      id: item,
      items: [item],
      reason: { code: 'held', held: state.items.size },
    });
  }
}

const spec = {
  id: 'acme/right',
  version: 1,
  summary: 'Holds up to a limit of items.',
  source: 'a test',
  config: z.strictObject({ limit: z.int().positive().describe('Most items held.') }),
  events: [added, removed],
  decisions: [kept, dropped],
  state: z.strictObject({
    items: z.array(z.tuple([z.string(), z.number()])),
    last: z.array(z.string()),
    seq: z.number(),
  }),
  init: ({ limit }: { limit: number }): State => ({ limit, items: new Map(), last: [], seq: 0 }),
  check: (state: State, event: Event): void => {
    const isIn = state.items.has(event.id);
    if (event.type === 'acme/item.added' && isIn) {
      throw new PolicyError('duplicate_id', { expected: 'a new id', got: event.id, path: 'id' });
    }
    if (event.type === 'acme/item.removed' && !isIn) {
      throw new PolicyError('unknown_id', { expected: 'an item that is held', got: event.id, path: 'id' });
    }
  },
  apply,
  save: (state: State): Saved => ({ items: [...state.items], last: [...state.last], seq: state.seq }),
  load: (saved: Saved, { limit }: { limit: number }): State => ({
    limit,
    items: new Map(saved.items),
    last: [...saved.last],
    seq: saved.seq,
  }),
  ledgers: [
    {
      name: 'items',
      entered: (event: Event) => (event.type === 'acme/item.added' ? [event.id] : []),
      left: (decision: { type: string; id?: string }) => (decision.type === dropped.type ? [decision.id!] : []),
      held: (saved: Saved) => saved.items.map(([item]) => item),
    },
  ],
};

const waitsFor = (event: { type: string }) => ({
  items: {
    ids: ({ items }: State) => items.keys(),
    of: ({ items }: State, item: string) =>
      items.has(item) ? { stands: 'is held', for: [{ event: { id: item, ...event } }] } : undefined,
  },
});

const arbitrary = (_state: State, choices: { below(n: number): number }): Event => ({
  type: choices.below(3) > 0 ? 'acme/item.added' : 'acme/item.removed',
  at: choices.below(50),
  id: `i${choices.below(6)}`,
});

const make = (change: object, events: Arbitrary = arbitrary): WithEvents => ({
  definition: handMade({ ...spec, ...change }),
  arbitrary: events,
});

/** Keeps every law. */
export const rightPolicy = make({ waits: waitsFor({ type: removed.type }) });

let moduleCounter = 0;
const then = (more: (state: State, event: Event, ctx: Ctx) => void) => ({
  apply: (state: State, event: Event, ctx: Ctx) => {
    apply(state, event, ctx);
    more(state, event, ctx);
  },
});
const emitMany = (ctx: Ctx, count: number): void => {
  for (let index = 0; index < count; index += 1) emitKept(ctx, { id: `k${index}` });
};
const emitKept = (ctx: Ctx, change: object) =>
  ctx.emit({ type: kept.type, at: ctx.at, id: 'x', items: [], reason: { code: 'held', held: 1 }, ...change });

/** A policy that drops its oldest item at a timer. */
const overdue = {
  check: (state: State, event: Event) => (event.id === undefined ? undefined : spec.check(state, event)),
  apply: (state: State, event: Event, ctx: Ctx) => {
    const [oldest] = state.items.keys();
    if (event.id !== undefined) {
      apply(state, event, ctx);
      const reason = { code: 'owed', owed: 1 };
      if (oldest === undefined)
        ctx.emit({ type: 'timer.set', at: ctx.at, timerId: 't', fireAtSeconds: ctx.at + 10, reason });
    } else if (oldest !== undefined) apply(state, { type: removed.type, at: ctx.at, id: oldest } as Event, ctx);
  },
};

/** Each breaks the law with its number. */
export const wrongPolicies: { law: number; title: string; tested: WithEvents }[] = [
  { law: 1, title: 'reads the clock', tested: make(then(() => void Date.now())) },
  { law: 1, title: 'makes a date', tested: make(then(() => void new Date())) },
  { law: 1, title: 'draws a random number', tested: make(then(() => void Math.random())) },
  { law: 1, title: 'sets a timer', tested: make(then(() => clearTimeout(setTimeout(() => undefined, 1e6)))) },
  {
    law: 1,
    title: 'keeps state in its module',
    tested: make(then((_state, _event, ctx) => emitKept(ctx, { id: `n${moduleCounter++}` }))),
  },
  {
    law: 1,
    title: 'takes the time from the event instead of the session',
    tested: make({
      apply: (state: State, event: Event, ctx: Ctx) => apply(state, event, { ...ctx, at: event.at, emit: ctx.emit }),
    }),
  },
  {
    law: 2,
    title: 'loses an item',
    tested: make(then((state) => void (state.items.size > 2 && state.items.delete([...state.items.keys()][0]!)))),
  },
  { law: 2, title: 'declares no ledger', tested: make({ ledgers: [] }) },
  {
    law: 3,
    title: 'fails in apply',
    tested: make(
      then((state) => {
        if (state.items.size === 2) throw new Error('half done');
      }),
    ),
  },
  {
    law: 3,
    title: 'changes the state in check',
    tested: make({
      check: (state: State, event: Event) => {
        state.seq += 1;
        spec.check(state, event);
      },
    }),
  },
  {
    law: 3,
    title: 'keeps what check has worked out in a part of the state that is not saved',
    tested: make({
      check: (state: State, event: Event) => {
        Object.assign(state, { checked: event });
        spec.check(state, event);
      },
    }),
  },
  {
    law: 3,
    title: 'accepts what its check refuses',
    tested: make({ accepts: () => true }),
  },
  {
    law: 3,
    title: 'refuses by an error of its own',
    tested: make({
      check: (state: State) => {
        if (state.items.size > 1) throw new TypeError('no');
      },
    }),
  },
  {
    law: 4,
    title: 'hands out its own array',
    tested: make(then((state, _event, ctx) => emitKept(ctx, { id: state.last[0] ?? 'none', items: state.last }))),
  },
  {
    law: 5,
    title: 'forgets a field in its snapshot',
    tested: make({
      ...then((state, _event, ctx) => emitKept(ctx, { id: `s${state.seq}` })),
      load: (saved: Saved, config: { limit: number }) => ({ ...spec.load(saved, config), seq: 0 }),
    }),
  },
  {
    law: 6,
    title: 'depends on the order of keys',
    tested: make(then((_state, event, ctx) => emitKept(ctx, { id: Object.keys(event).join('-') }))),
  },
  {
    law: 7,
    title: 'gives a reason outside its set',
    tested: make(then((_state, _event, ctx) => emitKept(ctx, { reason: { code: 'because' } }))),
  },
  {
    law: 7,
    title: 'adds a key that its schema lacks',
    tested: make(then((_state, _event, ctx) => emitKept(ctx, { extra: 1 }))),
  },
  {
    law: 7,
    title: 'answers with a message that it does not declare',
    tested: make(then((_state, _event, ctx) => emitKept(ctx, { type: 'acme/other' }))),
  },
  {
    law: 8,
    title: 'redefines a message of the vocabulary',
    tested: make({ events: [added, removed, defineEvent('response.completed', 'Something else.', { id })] }),
  },
  {
    law: 8,
    title: 'takes messages without a namespace',
    tested: make({ events: [added, removed, defineEvent('item.shaken', 'A shake.', {})] }),
  },
  {
    law: 8,
    title: 'takes unknown settings',
    tested: make({ config: z.looseObject({ limit: z.int().describe('Most items.') }) }),
  },
  { law: 8, title: 'does not describe a setting', tested: make({ config: z.strictObject({ limit: z.int() }) }) },
  {
    law: 10,
    title: 'scans what is in flight',
    tested: make(then((state) => void [...state.items.values()].filter((one) => one < 0))),
  },
  {
    law: 13,
    title: 'decides as often as a setting says',
    tested: make(then((state, _event, ctx) => emitMany(ctx, state.limit))),
  },
  {
    law: 13,
    title: 'decides as often as a number in an event says',
    tested: make(
      {
        events: [added, removed, counted],
        check: (state: State, event: Event) => (event.id === undefined ? undefined : spec.check(state, event)),
        apply: (state: State, event: Event & { count?: number }, ctx: Ctx) =>
          event.count === undefined ? apply(state, event, ctx) : emitMany(ctx, event.count),
        ledgers: [{ ...spec.ledgers[0], entered: (event: Event) => (event.type === added.type ? [event.id] : []) }],
      },
      (state, choices) =>
        choices.below(5) > 0 ? arbitrary(state, choices) : { type: counted.type, at: 0, count: choices.below(1000) },
    ),
  },
  {
    law: 13,
    title: 'promises what is no number of ids',
    tested: make({ ledgers: [{ ...spec.ledgers[0], mints: () => 1.5 }] }),
  },
  {
    law: 14,
    title: 'waits for nothing',
    tested: make({ waits: { items: { ids: () => [], of: () => ({ stands: 'is held', for: [] }) } } }),
  },
  { law: 14, title: 'waits for what it refuses', tested: make({ waits: waitsFor({ type: added.type }) }) },
  { law: 14, title: 'waits for what it does not take', tested: make({ waits: waitsFor({ type: counted.type }) }) },
  {
    law: 14,
    title: 'does not say where an item stands',
    tested: make({ waits: { items: { ids: () => [], of: () => undefined } } }),
  },
  { law: 14, title: 'says nothing about its ledger', tested: make({ waits: {} }) },
  {
    law: 17,
    title: 'passes over a reward',
    tested: make(
      {
        events: [added, removed, rewardReady],
        decisions: [kept, dropped, rewardRequest],
        apply: (state: State, event: Event, ctx: Ctx) =>
          event.id === undefined ? undefined : apply(state, event, ctx),
        ledgers: [{ ...spec.ledgers[0], entered: (event: Event) => (event.type === added.type ? [event.id] : []) }],
      },
      (state, choices) =>
        choices.below(3) > 0 ? arbitrary(state, choices) : { type: 'reward.ready', at: 0, requestId: 'a', reward: 1 },
    ),
  },
  {
    law: 17,
    title: 'hands on other weight versions than an engine says',
    tested: make(
      {
        events: [added, removed, responseCompleted],
        decisions: [kept, dropped, requestLaunch, promptCounted],
        apply: (state: State, event: Event & { requestId?: string }, ctx: Ctx) => {
          if (event.requestId === undefined) apply(state, event, ctx);
          else emitKept(ctx, { id: event.requestId });
        },
        ledgers: [{ ...spec.ledgers[0], entered: (event: Event) => (event.type === added.type ? [event.id] : []) }],
      },
      (state, choices) =>
        choices.below(3) > 0
          ? arbitrary(state, choices)
          : { type: 'response.completed', at: 0, requestId: 'a', tokens: 1, weightVersions: [3] },
    ),
  },
  {
    law: 18,
    title: 'has a state that it cannot read back',
    tested: make({ state: spec.state.extend({ items: spec.state.shape.items.max(2) }) }),
  },
  {
    law: 18,
    title: 'reads a state back as another',
    tested: make({ load: (saved: Saved, config: { limit: number }) => ({ ...spec.load(saved, config), last: [] }) }),
  },
  {
    law: 18,
    title: 'does what is due when its timer fires, and only then',
    tested: make(
      { events: [added, removed, timerFired], decisions: [kept, dropped, timerSet], ...overdue },
      (state, choices) =>
        choices.below(4) > 0 ? arbitrary(state, choices) : { type: 'timer.fired', at: choices.below(50), timerId: 't' },
    ),
  },
];
