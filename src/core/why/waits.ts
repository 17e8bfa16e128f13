/**
 * What blocks what. A definition declares it beside its ledgers: where each thing that it holds stands, and what would end its
 * wait. `why.ts` follows these declarations.
 */

/** A thing that a policy holds: its kind, such as `prompts`, and its id. */
export interface HeldThing {
  /** Kind of the thing: a key of {@link Waits}. */
  readonly what: string;
  /** Id of the thing. */
  readonly id: string;
  /** Name of the part that holds the thing, in a recipe. */
  readonly part?: string | undefined;
}

/** An event that would end a wait. */
export interface AwaitedEvent {
  /** The event, with only the fields that identify it, such as `requestId`. */
  readonly event: { readonly type: string } & Readonly<Record<string, unknown>>;
  /**
   * Start of the wait in seconds, that is, the time of the last command that asks for the event; absent where the state does not
   * know it.
   */
  readonly since?: number | undefined;
  /** Id of the engine, worker, node or replica that has to act, where the state knows it. */
  readonly by?: string | undefined;
  /** For a timer: the time at which it is due, in seconds. */
  readonly dueAt?: number | undefined;
}

/** Work that has gained nothing so far: prompts or groups that were filtered in a row, while none counted. */
export interface Futile {
  /** Number filtered since one counted last. */
  readonly filtered: number;
  /** Time at which the first of these was filtered, in seconds. */
  readonly since: number;
  /** Number of prompts or groups with which a round begins. */
  readonly target: number;
}

/** Where a held thing stands, and what it waits for. */
export interface Standing {
  /** A few words in the present tense, such as `runs on an engine`. */
  readonly stands: string;
  /** Time since which the thing stands there, in seconds; absent where the state does not know it. */
  readonly since?: number | undefined;
  /**
   * Things or events that the thing waits for. The policy accepts a named event as soon as it comes, and the event changes the
   * state. May be an iterator, so that only what a caller reads is computed.
   */
  readonly for: Iterable<HeldThing | AwaitedEvent>;
  /** Work for the thing that gained nothing, if the state measures it. */
  readonly futile?: Futile;
  /** For a round: its kind, such as `long`, if the policy has kinds of rounds. */
  readonly kind?: string;
  /** For a round: number of its requests that were launched and are not over, if the policy launches requests. */
  readonly inFlight?: number;
  /** For a round: whether its rollout is over (`round.completed`), and only its rest is awaited; absent means no. */
  readonly isCompleted?: boolean;
}

/** Things of one kind. */
export interface WaitsOf<State> {
  /** Returns the ids of all things of this kind. The cost may be linear in their number. */
  ids(state: State): Iterable<string>;
  /**
   * Returns where a thing stands, or `undefined` if it is not held.
   *
   * @param part - for recipes: only this part is asked
   */
  of(state: State, id: string, part?: string): Standing | undefined;
}

/** What blocks what in a policy, by kinds of things. The name of each ledger is one of the kinds. */
export type Waits<State> = Readonly<Record<string, WaitsOf<State>>>;

/**
 * What has to end before an event is accepted, by the event's type; or the event itself, with the time since which this policy
 * has asked for it. Recipes need this where one part waits for an event that another part would refuse, or has asked for later.
 */
export type Gates<State> = Readonly<
  Record<string, (state: State, event: AwaitedEvent['event']) => Iterable<HeldThing | AwaitedEvent>>
>;

/** Whether a wait is for an event, and not for another held thing. */
export function isEvent(one: HeldThing | AwaitedEvent): one is AwaitedEvent {
  return 'event' in one;
}

/** Returns the later of two times that may be unknown: the wait for a repeated request begins anew. */
export function later(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.max(one, other);
}
