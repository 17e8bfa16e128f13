/** Answers why a thing waits: the chain of what blocks what, down to the events that somebody owes. */
import { refuse } from '../errors.ts';
import { type Sender, senderOf } from '../schemas/senders.ts';
import type { AnyPolicyDefinition } from './definition.ts';
import { didYouMean } from './nearest.ts';
import { type AwaitedEvent, type HeldThing, isEvent, type Standing } from './waits.ts';

/** A held thing, and where it stands. */
export interface Standpoint {
  /** Kind of the thing, such as `prompts`. */
  readonly what: string;
  readonly id: string;
  /** A few words in the present tense, such as `runs on an engine`. */
  readonly stands: string;
  /** Seconds since when; absent where the state does not know it. */
  readonly since?: number;
}

/** An event that is owed to the policy. */
export interface OwedEvent {
  /** Who has to act. */
  readonly who: Sender;
  /** Id of the engine or worker, where it is known. */
  readonly by?: string;
  /** The event that is missing, with the fields that say which one it is. */
  readonly event: AwaitedEvent['event'];
  /** Seconds since when it is awaited; absent where that is not known. */
  readonly since?: number;
  /** For a timer: seconds at which it is to fire. */
  readonly dueAt?: number;
}

/** Why a thing waits. */
export interface Why extends Standpoint {
  /** What it waits for in turn, from itself to the oldest event that is owed. */
  readonly through: readonly Standpoint[];
  /** The events that would let it go on, oldest first; at most {@link mostOwed}. */
  readonly owed: readonly OwedEvent[];
  /** Number of further such events. */
  readonly more: number;
}

/** All that is owed to a policy. */
export type WhyAll = Pick<Why, 'owed' | 'more'>;

/** Most events that an answer lists. */
export const mostOwed = 32;

/** Looks at what a policy holds. */
export interface Holdings {
  /** Kinds of things, in the order in which an id is looked up. */
  readonly kinds: readonly string[];
  ids(what: string): Iterable<string>;
  of(thing: HeldThing): Standing | undefined;
}

/** Returns the holdings of a policy in a state. A policy that does not say what blocks what has those of its ledgers. */
export function holdingsOf({ waits, ledgers, save }: AnyPolicyDefinition, state: unknown): Holdings {
  if (waits !== undefined) {
    return {
      kinds: Object.keys(waits),
      ids: (what) => waits[what]?.ids(state) ?? [],
      of: ({ what, id, part }) => waits[what]?.of(state, id, part),
    };
  }
  const saved = save(state);
  const held = new Map<string, ReadonlySet<string>>(ledgers.map((one) => [one.name, new Set(one.held(saved))]));
  return {
    kinds: [...held.keys()],
    ids: (what) => held.get(what) ?? [],
    of: ({ what, id }) => (held.get(what)?.has(id) ? { stands: 'is held', for: [] } : undefined),
  };
}

/** Oldest first; what is awaited since an unknown time comes last, and timers after all others. */
const byAge = (a: OwedEvent, b: OwedEvent): number =>
  Number(a.who === 'timer') - Number(b.who === 'timer') ||
  (a.since ?? Number.POSITIVE_INFINITY) - (b.since ?? Number.POSITIVE_INFINITY) ||
  0;

function owedEvent({ event, since, by, dueAt }: AwaitedEvent): OwedEvent {
  return {
    who: senderOf(event.type),
    ...(by === undefined ? undefined : { by }),
    event,
    ...(since === undefined ? undefined : { since }),
    ...(dueAt === undefined ? undefined : { dueAt }),
  };
}

const standpoint = ({ what, id }: HeldThing, { stands, since }: Standing): Standpoint => ({
  what,
  id,
  stands,
  ...(since === undefined ? undefined : { since }),
});

/** The events that were found, each with the thing that waits for it. */
class Found {
  readonly #all = new Map<string, { owed: OwedEvent; key: string }>();

  add(one: AwaitedEvent, key: string): void {
    const text = JSON.stringify(one.event);
    const owed = owedEvent(one);
    const before = this.#all.get(text);
    if (before === undefined || byAge(owed, before.owed) < 0) this.#all.set(text, { owed, key });
  }

  /** Returns the oldest events, and the thing that waits for the oldest. */
  get oldest(): WhyAll & { key: string | undefined } {
    const all = [...this.#all.values()].sort((a, b) => byAge(a.owed, b.owed));
    return {
      owed: all.slice(0, mostOwed).map((one) => one.owed),
      more: Math.max(0, all.length - mostOwed),
      key: all[0]?.key,
    };
  }
}

const keyOf = ({ what, id, part }: HeldThing): string => JSON.stringify([what, id, part]);

/**
 * Returns why a thing waits. The cost is linear in what the thing waits for.
 *
 * @param what - kind of the thing, where its id is not enough
 * @throws PolicyError `unknown_id` if no such thing is held
 */
export function whyOf(holdings: Holdings, id: string, what?: string): Why {
  const thing = find(holdings, id, what);
  const start = holdings.of(thing)!;
  const found = new Found();
  // Things in the order in which they are reached, each with the thing that led to it: the shortest way comes first.
  const reached = new Map<string, { thing: HeldThing; standing: Standing; from: string | undefined }>();
  const pending = [keyOf(thing)];
  reached.set(pending[0]!, { thing, standing: start, from: undefined });
  for (const key of pending) {
    for (const next of reached.get(key)!.standing.for) {
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
  const { key: last, ...owed } = found.oldest;
  const through: Standpoint[] = [];
  for (let key = last; key !== undefined; key = reached.get(key)!.from) {
    const { thing: each, standing } = reached.get(key)!;
    if (key !== pending[0]) through.unshift(standpoint(each, standing));
  }
  return { ...standpoint(thing, start), through, ...owed };
}

/** Returns all that is owed to a policy, oldest first. The cost is linear in what the policy holds. */
export function allOwed(holdings: Holdings): WhyAll {
  const found = new Found();
  for (const what of holdings.kinds) {
    for (const id of holdings.ids(what)) {
      for (const one of holdings.of({ what, id })?.for ?? []) if (isEvent(one)) found.add(one, '');
    }
  }
  const { key: _, ...owed } = found.oldest;
  return owed;
}

function find(holdings: Holdings, id: string, what?: string): HeldThing {
  const kinds = what === undefined ? holdings.kinds : holdings.kinds.filter((one) => one === what);
  for (const kind of kinds) if (holdings.of({ what: kind, id }) !== undefined) return { what: kind, id };
  const ids = kinds.flatMap((kind) => [...holdings.ids(kind)]);
  refuse('unknown_id', 'id', `the id of something that is held${didYouMean(id, ids)}`, id);
}
