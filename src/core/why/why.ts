/** Answers why a thing waits: the chain of what blocks what, down to the events that somebody owes. */
import { refuse } from '../../errors.ts';
import { type Sender, senderOf } from '../../schemas/senders.ts';
import { given } from '../collections/given.ts';
import { didYouMean, oneOf } from '../ids/nearest.ts';
import type { AnyPolicyDefinition } from '../machine/definition.ts';
import type { OpenCommand } from './command-table.ts';
import type { UsualFiltered, UsualTime } from './overdue.ts';
import { lateness, mostFiltered } from './overdue.ts';
import { type AwaitedEvent, type HeldThing, isEvent, later, type Standing } from './waits.ts';

/** A held thing and its standing. */
export interface Standpoint {
  /** Kind of the thing, such as `prompts`. */
  readonly what: string;
  /** Id of the thing. */
  readonly id: string;
  /** A few words in the present tense, such as `runs on an engine`. */
  readonly stands: string;
  /** Seconds since which the thing stands there; absent where the state does not know it. */
  readonly since?: number;
}

/** An event that is owed to the policy. */
export interface OwedEvent {
  /** Sender that has to act. */
  readonly who: Sender;
  /** Id of the engine, worker, node or replica, where it is known. */
  readonly by?: string;
  /** The missing event, with the fields that identify it. */
  readonly event: AwaitedEvent['event'];
  /** Start of the wait in seconds; absent where it is not known. */
  readonly since?: number;
  /** For a timer: the time at which it is due, in seconds. */
  readonly dueAt?: number;
  /** The decision that asked for the event, and its reason; only where `watch` follows the policy. */
  readonly asked?: { readonly type: string; readonly reason: { readonly code: string } };
  /** How long such an event usually takes; only if `watch` follows the policy and such an event has come. */
  readonly usual?: UsualTime;
}

/** A thing for which work goes on without gain: nobody owes anything, and yet the work would not end. */
export interface StalledThing extends Standpoint {
  /** Number of prompts or groups filtered since one counted last. */
  readonly filtered: number;
  /** Time at which the first of these was filtered, in seconds. */
  readonly filteredSince: number;
  /** The number from which this counts as futile, which depends on the usual number if {@link watch} follows the policy. */
  readonly mostFiltered: number;
}

/** Why a thing waits. */
export interface Why extends Standpoint {
  /** The chain of waits, from the thing itself to the most needed event. */
  readonly through: readonly Standpoint[];
  /** Events that would let the thing go on, overdue events first, then the oldest; at most 32. */
  readonly owed: readonly OwedEvent[];
  /** Number of further such events. */
  readonly more: number;
  /** The thing for which work goes on without gain, if there is one. */
  readonly stalled?: StalledThing;
}

/** A round that a policy holds, and what is owed in it. */
export interface HeldRound {
  /** Id of the round. */
  readonly id: string;
  /** Whether its `round.completed` has not been given yet; otherwise only its rest is awaited, such as aborts or training. */
  readonly open: boolean;
  /** Kind of the round, such as `long`; absent where the policy has no kinds of rounds. */
  readonly kind?: string;
  /** A few words in the present tense, such as `has 3 of 4 prompts`. */
  readonly stands: string;
  /** Seconds since which the round stands there; absent where the state does not know it. */
  readonly since?: number;
  /** Number of its requests that were launched and are not over; absent where the policy launches none. */
  readonly inFlight?: number;
  /** Number of events that would let the round go on, by their type. It need not wait for all requests in flight. */
  readonly owed: Readonly<Record<string, number>>;
}

/** Everything that is owed to a policy, and its rounds. */
export interface WhyAll extends Pick<Why, 'owed' | 'more' | 'stalled'> {
  /** The rounds that the policy holds, the open ones first; at most 32. */
  readonly rounds: readonly HeldRound[];
}

/** Most events that an answer lists. */
export const mostOwed = 32;
/** Most rounds that an answer lists. */
const mostRounds = 32;

/** A view of the things that a policy holds. */
export interface Holdings {
  /** The latest time of the policy, in seconds. */
  readonly at: number;
  /** Kinds of things, in the order in which an id is looked up. */
  readonly kinds: readonly string[];
  ids(what: string): Iterable<string>;
  of(thing: HeldThing): Standing | undefined;
  /** Adds times and reasons to owed events. */
  readonly times?: KnownTimes | undefined;
}

/** Returns the holdings of a policy in a state. For a policy without `waits`, these are the contents of its ledgers. */
export function holdingsOf(
  { waits, ledgers, save }: AnyPolicyDefinition,
  state: unknown,
  at: number,
  times?: KnownTimes,
): Holdings {
  if (waits !== undefined) {
    return {
      at,
      kinds: Object.keys(waits),
      ids: (what) => waits[what]?.ids(state) ?? [],
      of: ({ what, id, part }) => waits[what]?.of(state, id, part),
      times,
    };
  }
  const saved = save(state);
  const held = new Map<string, ReadonlySet<string>>(ledgers.map((one) => [one.name, new Set(one.held(saved))]));
  return {
    at,
    kinds: [...held.keys()],
    ids: (what) => held.get(what) ?? [],
    of: ({ what, id }) => (held.get(what)?.has(id) ? { stands: 'is held', for: [] } : undefined),
    times,
  };
}

/** Known times of a policy's waits; see `watch`. */
export interface KnownTimes {
  /** The present time in seconds, where it is known: a job that hangs may send no events that tell the time. */
  readonly at?: number | undefined;
  /** Returns the decision that asked for an event. */
  answeredBy?(event: AwaitedEvent['event']): OpenCommand | undefined;
  /** Returns how long events of this type usually take. */
  usual?(type: string): UsualTime | undefined;
  /** Returns how many prompts, or groups, are usually filtered between two that count. */
  usuallyFiltered?(): UsualFiltered | undefined;
}

/** Start of the wait for an event: the time of the last command that asks for it, where the command identifies the event. */
export function awaitedSince({ since, dueAt }: AwaitedEvent, asked: OpenCommand | undefined): number | undefined {
  const isNamed = dueAt === undefined && asked !== undefined && Object.keys(asked.ids).length > 0;
  return isNamed ? later(since, asked.since) : (since ?? asked?.since);
}

/** Adds to a wait what is known of it: who has to act, since when, and what has asked for the event. */
export function owedEvent(one: AwaitedEvent, times: KnownTimes | undefined): OwedEvent {
  const { event, by: at, dueAt } = one;
  const asked = times?.answeredBy?.(event);
  const usual = times?.usual?.(event.type);
  const since = awaitedSince(one, asked);
  const by = at ?? asked?.by;
  return {
    who: senderOf(event.type),
    ...(by === undefined ? undefined : { by }),
    event,
    ...(since === undefined ? undefined : { since }),
    ...(dueAt === undefined ? undefined : { dueAt }),
    ...(asked === undefined ? undefined : { asked: { type: asked.type, reason: { ...asked.reason } } }),
    ...(usual === undefined ? undefined : { usual }),
  };
}

const standpoint = ({ what, id }: HeldThing, { stands, since }: Standing): Standpoint => ({
  what,
  id,
  stands,
  ...(since === undefined ? undefined : { since }),
});

/** Returns the thing if work for it gains nothing, that is, if more was filtered than usual. */
function stalled(thing: HeldThing, standing: Standing, times: KnownTimes | undefined): StalledThing | undefined {
  const { futile } = standing;
  if (futile === undefined) return undefined;
  const { filtered, since: filteredSince, target } = futile;
  const most = mostFiltered(target, times?.usuallyFiltered?.());
  return filtered < most ? undefined : { ...standpoint(thing, standing), filtered, filteredSince, mostFiltered: most };
}

/** A found event, with the values that determine its place in the order, and the thing that waits for it. */
interface FoundEvent {
  readonly one: AwaitedEvent;
  readonly key: string;
  /** Lateness in seconds; 0 if the event is not late. */
  readonly late: number;
  readonly isTimer: boolean;
  /** For a timer its time; a number above all times where the time is unknown. */
  readonly since: number;
  /** Number in the order of finding. */
  readonly seq: number;
}

/** Orders by lateness, then oldest first; timers and events without a known time come last. */
const byNeed = (a: FoundEvent, b: FoundEvent): number =>
  b.late - a.late || Number(a.isTimer) - Number(b.isTimer) || a.since - b.since;
const inOrder = (a: FoundEvent, b: FoundEvent): number => byNeed(a, b) || a.seq - b.seq;

/** The events that were found. */
class Found {
  readonly #all = new Map<string, FoundEvent>();
  readonly #at: number;
  readonly #times: KnownTimes | undefined;
  /** By type of event: whether it is a timer, and how long it usually takes. */
  readonly #types = new Map<string, { readonly isTimer: boolean; readonly usual: UsualTime | undefined }>();

  constructor({ at, times }: Holdings) {
    this.#at = at;
    this.#times = times;
  }

  add(one: AwaitedEvent, key: string): void {
    const text = JSON.stringify(one.event);
    const { isTimer, usual } = this.#typeOf(one.event.type);
    const since = awaitedSince(one, this.#times?.answeredBy?.(one.event));
    const times = lateness({ since, usual, dueAt: one.dueAt }, this.#at);
    const late = times > 1 ? times : 0;
    const found = { one, key, late, isTimer, since: one.dueAt ?? since ?? Number.MAX_VALUE, seq: this.#all.size };
    const before = this.#all.get(text);
    if (before === undefined || byNeed(found, before) < 0) this.#all.set(text, found);
  }

  #typeOf(type: string) {
    const known = this.#types.get(type);
    if (known !== undefined) return known;
    const made = { isTimer: senderOf(type) === 'timer', usual: this.#times?.usual?.(type) };
    this.#types.set(type, made);
    return made;
  }

  /** Returns the first events in order, and the thing that waits for the first. */
  *sorted(): Generator<undefined, Pick<Why, 'owed' | 'more'> & { key: string | undefined }> {
    // To find the first few, not all events need sorting.
    const first: FoundEvent[] = [];
    let seen = 0;
    for (const found of this.#all.values()) {
      if (first.length < mostOwed || inOrder(found, first.at(-1)!) < 0) {
        const index = first.findLastIndex((one) => inOrder(one, found) < 0) + 1;
        first.splice(index, 0, found);
        first.length = Math.min(first.length, mostOwed);
      }
      if (++seen % 256 === 0) yield;
    }
    const more = this.#all.size - first.length;
    return { owed: first.map(({ one }) => owedEvent(one, this.#times)), more, key: first[0]?.key };
  }
}

const keyOf = ({ what, id, part }: HeldThing): string => JSON.stringify([what, id, part]);

/** Runs a computation that could pause at each step to its end. */
export function inOneGo<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Finds out why a thing waits. The cost is linear in what the thing waits for. Each step is short; nothing may change between them.
 *
 * @param what - kind of the thing, where its id is not enough
 * @throws PolicyError `unknown_id` if no such thing is held
 */
export function* whyOf(holdings: Holdings, id: string, what?: string): Generator<undefined, Why> {
  const thing = yield* find(holdings, id, what);
  const start = holdings.of(thing)!;
  const found = new Found(holdings);
  // Reached things in the order of the search, each with the thing that led to it: the shortest way comes first.
  const reached = new Map<string, { thing: HeldThing; standing: Standing; from: string | undefined }>();
  const pending = [keyOf(thing)];
  reached.set(pending[0]!, { thing, standing: start, from: undefined });
  let inVain: StalledThing | undefined;
  for (const key of pending) {
    const one = reached.get(key)!;
    inVain ??= stalled(one.thing, one.standing, holdings.times);
    for (const next of one.standing.for) {
      yield;
      if (isEvent(next)) {
        found.add(next, key);
        continue;
      }
      const nextKey = keyOf(next);
      if (reached.has(nextKey)) continue;
      const standing = holdings.of(next);
      if (standing === undefined) continue;
      reached.set(nextKey, { thing: next, standing, from: key });
      pending.push(nextKey);
    }
  }
  const { key: last, ...owed } = yield* found.sorted();
  const through: Standpoint[] = [];
  for (let key = last; key !== undefined; key = reached.get(key)!.from) {
    const { thing: each, standing } = reached.get(key)!;
    if (key !== pending[0]) through.unshift(standpoint(each, standing));
  }
  return { ...standpoint(thing, start), through, ...owed, ...given({ stalled: inVain }) };
}

/** Counts the events that would let a thing go on, by their type. */
function* countsOf(holdings: Holdings, standing: Standing): Generator<undefined, Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  const events = new Set<string>();
  // Ids by kind and part: joining them to one text for each thing would cost more than the search.
  const reached = new Map<string, Set<string>>();
  // In depth, so that only a few standings are alive at a time.
  const open = [standing.for[Symbol.iterator]()];
  while (open.length > 0) {
    yield;
    const { done, value: next } = open.at(-1)!.next();
    if (done === true) {
      open.pop();
    } else if (isEvent(next)) {
      const known = events.size;
      events.add(Object.values(next.event).join('\n'));
      if (events.size > known) counts[next.event.type] = (counts[next.event.type] ?? 0) + 1;
    } else {
      const kind = `${next.what}/${next.part ?? ''}`;
      const ids = reached.get(kind) ?? new Set();
      if (ids.has(next.id)) continue;
      reached.set(kind, ids.add(next.id));
      const found = holdings.of(next);
      if (found !== undefined) open.push(found.for[Symbol.iterator]());
    }
  }
  return counts;
}

/** Returns the rounds that a policy holds, and what is owed in each. */
function* heldRounds(holdings: Holdings): Generator<undefined, readonly HeldRound[]> {
  if (!holdings.kinds.includes('rounds')) return [];
  const rounds: { readonly thing: HeldThing; readonly standing: Standing }[] = [];
  for (const id of holdings.ids('rounds')) {
    yield;
    const thing = { what: 'rounds', id };
    const standing = holdings.of(thing);
    if (standing !== undefined) rounds.push({ thing, standing });
  }
  rounds.sort((a, b) => Number(a.standing.isCompleted ?? false) - Number(b.standing.isCompleted ?? false));
  const result: HeldRound[] = [];
  for (const { thing, standing } of rounds.slice(0, mostRounds)) {
    const owed = yield* countsOf(holdings, standing);
    const { kind, isCompleted = false, stands, since, inFlight } = standing;
    const known = { ...given({ kind }), stands, ...given({ since, inFlight }) };
    result.push({ id: thing.id, open: !isCompleted, ...known, owed });
  }
  return result;
}

/** Finds everything that is owed to a policy, and its rounds, in short steps. The cost is linear in what the policy holds. */
export function* allOwed(holdings: Holdings): Generator<undefined, WhyAll> {
  const owed = yield* owedTo(holdings);
  return { rounds: yield* heldRounds(holdings), ...owed };
}

/** Finds everything that is owed to a policy, as {@link allOwed} does, without the rounds, which take longer. */
export function* owedTo(holdings: Holdings): Generator<undefined, Omit<WhyAll, 'rounds'>> {
  const found = new Found(holdings);
  let inVain: StalledThing | undefined;
  for (const what of holdings.kinds) {
    for (const id of holdings.ids(what)) {
      yield;
      const standing = holdings.of({ what, id });
      if (standing === undefined) continue;
      inVain ??= stalled({ what, id }, standing, holdings.times);
      for (const one of standing.for) {
        yield;
        if (isEvent(one)) found.add(one, '');
      }
    }
  }
  const { key: _, ...owed } = yield* found.sorted();
  return { ...owed, ...given({ stalled: inVain }) };
}

/** Returns all things that a policy holds, and where each stands. */
export function* allHeld(holdings: Holdings): Generator<Standpoint> {
  for (const what of holdings.kinds) {
    for (const id of holdings.ids(what)) {
      const standing = holdings.of({ what, id });
      if (standing !== undefined) yield standpoint({ what, id }, standing);
    }
  }
}

/** The search for the nearest known id compares at most so many ids. */
const mostCompared = 1000;

function* find(holdings: Holdings, id: string, what?: string): Generator<undefined, HeldThing> {
  const kinds = what === undefined ? holdings.kinds : holdings.kinds.filter((one) => one === what);
  for (const kind of kinds) if (holdings.of({ what: kind, id }) !== undefined) return { what: kind, id };
  if (what !== undefined && kinds.length === 0) {
    refuse('unknown_id', 'what', `a kind of things that this policy holds: ${oneOf(holdings.kinds, what)}`, what);
  }
  const alike: string[] = [];
  for (const kind of kinds) {
    for (const one of holdings.ids(kind)) {
      if (Math.abs(one.length - id.length) <= 2 && alike.length < mostCompared) alike.push(one);
      yield;
    }
  }
  refuse('unknown_id', 'id', `the id of something that is held${didYouMean(id, alike)}`, id);
}
