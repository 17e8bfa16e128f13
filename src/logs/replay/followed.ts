/** What followed in two logs after they part: decisions by type, and prompts and requests that ended differently. */
import type { AnyDecision } from '../../core/machine/definition.ts';
import type { LoggedEvent } from './session-events.ts';

/** One of two logs. */
export type Side = 'one' | 'other';

/** The last that a log says of a prompt or a request. */
export interface LastWord {
  /** Type of the event or decision. */
  readonly type: string;
  /** Code of the reason; null for an event. */
  readonly code: string | null;
  /** File and line, as `name:line`. */
  readonly where: string;
}

/** A prompt or a request that ended otherwise in the two logs. */
export interface EndedOtherwise {
  /** Kind of the thing. */
  readonly what: 'prompt' | 'request';
  /** Id of the thing. */
  readonly id: string;
  /** The last message about the thing in the first log; null if it is not in that log. */
  readonly one: LastWord | null;
  /** The last message about the thing in the second log; null if it is not in that log. */
  readonly other: LastWord | null;
}

/** What followed in both logs. */
export interface FollowedPair {
  /** Number of events from there on, by log. */
  readonly events: Readonly<Record<Side, number>>;
  /** Number of decisions from there on, by type. */
  readonly decisions: readonly ({ readonly type: string } & Readonly<Record<Side, number>>)[];
  /** Numbers of prompts and requests that ended differently. */
  readonly endedOtherwise: { readonly prompts: number; readonly requests: number };
  /** The first of these, prompts before requests, at most 100 of each. */
  readonly ends: readonly EndedOtherwise[];
}

const shownEnds = 100;
const kinds = { prompt: 'promptId', request: 'requestId' } as const;
type Kind = keyof typeof kinds;
type Ends = Readonly<Record<Side, Map<string, LastWord>>>;

/** Collects the messages of each log before and after the logs part. */
export class Following {
  readonly #events = { one: 0, other: 0 };
  readonly #decisions = new Map<string, Record<Side, number>>();
  readonly #ends: Readonly<Record<Kind, Ends>> = {
    prompt: { one: new Map(), other: new Map() },
    request: { one: new Map(), other: new Map() },
  };

  /** Takes an event before the logs part, of which only messages about prompts and requests count. */
  before(side: Side, { where, event, decisions }: LoggedEvent): void {
    this.#say(side, event, null, where);
    for (const one of decisions) this.#say(side, one, one.reason.code, where);
  }

  /** Counts an event after the logs have parted. */
  after(side: Side, event: LoggedEvent): void {
    this.#events[side] += 1;
    for (const { type } of event.decisions) {
      let count = this.#decisions.get(type);
      if (count === undefined) this.#decisions.set(type, (count = { one: 0, other: 0 }));
      count[side] += 1;
    }
    this.before(side, event);
  }

  result(): FollowedPair {
    const [prompts, requests] = [this.#differing('prompt'), this.#differing('request')];
    const decisions = [...this.#decisions].map(([type, counts]) => ({ type, ...counts }));
    return {
      events: this.#events,
      decisions: decisions.sort(
        (a, b) => Math.abs(b.one - b.other) - Math.abs(a.one - a.other) || (a.type < b.type ? -1 : 1),
      ),
      endedOtherwise: { prompts: prompts.length, requests: requests.length },
      ends: [...prompts.slice(0, shownEnds), ...requests.slice(0, shownEnds)],
    };
  }

  #say(side: Side, message: object & Pick<AnyDecision, 'type'>, code: string | null, where: string): void {
    for (const kind of ['prompt', 'request'] as const) {
      const id = (message as Readonly<Record<string, unknown>>)[kinds[kind]];
      if (typeof id === 'string') this.#ends[kind][side].set(id, { type: message.type, code, where });
    }
  }

  #differing(what: Kind): EndedOtherwise[] {
    const { one, other } = this.#ends[what];
    return [...new Set([...one.keys(), ...other.keys()])].flatMap((id) => {
      const [a = null, b = null] = [one.get(id), other.get(id)];
      return a?.type === b?.type && a?.code === b?.code ? [] : [{ what, id, one: a, other: b }];
    });
  }
}
