/**
 * What blocks what. A definition declares it beside its ledgers: where each thing that it holds stands, and what would end its
 * wait. `why.ts` follows these declarations.
 */

/** A thing that a policy holds: its kind, such as `prompts`, and its id. */
export interface HeldThing {
  /** Kind of the thing: a key of {@link Waits}. */
  readonly what: string;
  /** Its id. */
  readonly id: string;
  /** Name of the part that holds it, in a recipe. */
  readonly part?: string | undefined;
}

/** An event that would end a wait. */
export interface AwaitedEvent {
  /** The event, with the fields that say which one it is, such as `requestId`; other fields are left out. */
  readonly event: { readonly type: string } & Readonly<Record<string, unknown>>;
  /** Time since when it is awaited, that is, of the last command that asks for it, in seconds; absent where the state does not know it. */
  readonly since?: number | undefined;
  /** Id of the engine or worker that has to act, where the state knows it. */
  readonly by?: string | undefined;
  /** For a timer: the time at which it is to fire, in seconds. */
  readonly dueAt?: number | undefined;
}

/** Work that has gained nothing so far: prompts, or groups, that were filtered in a row, while none counted. */
export interface Futile {
  /** How many were filtered since one counted last. */
  readonly filtered: number;
  /** When the first of them was, in seconds. */
  readonly since: number;
  /** How many a round begins with. */
  readonly target: number;
}

/** Where a held thing stands, and what it waits for. */
export interface Standing {
  /** A few words in the present tense, such as `runs on an engine`. */
  readonly stands: string;
  /** Time since when it stands there, in seconds; absent where the state does not know it. */
  readonly since?: number | undefined;
  /**
   * What it waits for: other things, or events. An event that is named is accepted as soon as it comes, and changes the state. May be
   * an iterator, so that nothing is listed that nobody asks for.
   */
  readonly for: Iterable<HeldThing | AwaitedEvent>;
  /** What was done for it in vain, if the state measures that. */
  readonly futile?: Futile;
}

/** Things of one kind. */
export interface WaitsOf<State> {
  /** Returns the ids of all things of this kind; may be linear in their number. */
  ids(state: State): Iterable<string>;
  /**
   * Returns where a thing stands, or `undefined` if it is not held.
   *
   * @param part - for recipes: the part that is asked, instead of all of them
   */
  of(state: State, id: string, part?: string): Standing | undefined;
}

/** What blocks what in a policy, by kinds of things. The name of each ledger is one of the kinds. */
export type Waits<State> = Readonly<Record<string, WaitsOf<State>>>;

/**
 * What has to end before an event of a type is accepted, by that type; or the event again, with the time since when this policy has
 * asked for it. Recipes need it where one part waits for an event that another part would refuse, or has asked for later.
 */
export type Gates<State> = Readonly<
  Record<string, (state: State, event: AwaitedEvent['event']) => Iterable<HeldThing | AwaitedEvent>>
>;

/** Whether a wait is for an event, and not for another held thing. */
export function isEvent(one: HeldThing | AwaitedEvent): one is AwaitedEvent {
  return 'event' in one;
}

/** Returns the later of two times of which each may be unknown: what is asked for again is awaited from then on. */
export function later(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.max(one, other);
}
