/**
 * The facade of a running policy: it holds the state, applies events, then delivers decisions.
 */
import type { z } from 'zod';
import { caused, refuse } from '../../errors.ts';
import type { Messages } from '../../generated/messages/index.ts';
import { didYouMean, oneOf } from '../ids/nearest.ts';
import {
  allHeld,
  allOwed,
  type Holdings,
  holdingsOf,
  inOneGo,
  type KnownTimes,
  type Standpoint,
  type Why,
  type WhyAll,
  whyOf,
} from '../why/why.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition, PolicyDefinition } from './definition.ts';
import { Listeners, type PolicyEvents } from './listeners.ts';
import { type Recogniser, recogniserOf } from './recognise.ts';
import { SessionClock } from './session-clock.ts';
import type { Snapshot } from './snapshot.ts';
import { parse } from './validate.ts';

export type { ListenerFailure, PolicyEvents } from './listeners.ts';

/** Options of a policy; no decision depends on them. */
export interface PolicyOptions {
  /** Whether events are checked against their schemas (default true). Checks against the state always stay on. */
  readonly validate?: boolean;
}

/** Initial values of a running policy, new or restored from a snapshot. */
export interface PolicyStart<Config, State> {
  /** The configuration, its defaults filled in. */
  readonly config: Config;
  /** The state to continue from. The policy owns this state from now on. */
  readonly state: State;
  /** Events applied before: 0 for a new policy. */
  readonly seq: number;
  /** The latest time seen, in seconds; 0 for a new policy. */
  readonly at: number;
  /** Seconds by which the times of the policy are ahead of the host's clock, after that clock has begun anew (default 0). */
  readonly aheadSeconds?: number;
}

/** A function for each command of a policy: see {@link Policy.handle}. */
export type CommandHandlers<D extends AnyDecision, Command extends string = D['type']> = {
  // The type is mapped from the interface, so that an editor shows the documentation of each command.
  readonly [T in keyof Pick<Messages, Command & keyof Messages>]: (command: Extract<D, { type: T }>) => void;
} & { readonly [T in Exclude<Command, keyof Messages>]: (command: Extract<D, { type: T }>) => void };

/**
 * Later times are probably milliseconds: Unix time reached this number in 1973 in milliseconds, and will reach it in 5138 in
 * seconds.
 */
const likelyMilliseconds = 1e11;

function warnOfMilliseconds(id: string, at: number): void {
  // Some engines in which a policy is embedded have no console.
  globalThis.console?.warn(
    `rollflex: ${id} was told the time ${at}, which looks like milliseconds: \`at\` is in seconds`,
  );
}

/** An event that a policy takes. */
interface Taken {
  readonly schema: z.ZodType;
  /** Made for the first event of the type. */
  fits: Recogniser | undefined;
}

/** A running policy: events in by {@link Policy.send}, decisions out as its result and to listeners. */
export class Policy<Config, State, E extends AnyEvent, D extends AnyDecision, Saved, Command extends string = string> {
  // biome-ignore lint/suspicious/noExplicitAny: the facade never reads the input type of a configuration
  readonly #definition: PolicyDefinition<any, Config, State, E, D, Saved, string, Command>;
  readonly #taken: ReadonlyMap<string, Taken>;
  readonly #validate: boolean;
  readonly #config: Config;
  readonly #state: State;
  /** Absent until somebody listens. */
  #listeners: Listeners<D> | undefined;
  readonly #queue: E[] = [];
  #observers: readonly ((event: E, decisions: readonly D[]) => void)[] = [];
  /** One context serves all events: a new context per event would be most of the cost of this class. */
  readonly #context: { at: number; emit(decision: D): void };
  #into: D[] = [];
  #sending = false;
  #isHandled = false;
  #broken: unknown;
  #seq: number;
  #at: number;
  /** Absent until the host restarts: only then may its clock be another one. */
  #clock: SessionClock | undefined;

  /** Internal: use `create`. */
  constructor(
    // biome-ignore lint/suspicious/noExplicitAny: as above
    definition: PolicyDefinition<any, Config, State, E, D, Saved, string, Command>,
    start: PolicyStart<Config, State>,
    options: PolicyOptions = {},
  ) {
    this.#definition = definition;
    this.#taken = new Map(definition.events.map(({ type, schema }) => [type, { schema, fits: undefined }]));
    this.#validate = options.validate ?? true;
    this.#config = start.config;
    this.#state = start.state;
    this.#seq = start.seq;
    this.#at = start.at;
    const { aheadSeconds = 0 } = start;
    if (aheadSeconds > 0) this.#clock = new SessionClock(aheadSeconds);
    this.#context = {
      at: start.at,
      emit: (decision) => void this.#into.push(this.#clock?.onHostClock(decision) ?? decision),
    };
  }

  /** Id of the policy. */
  get id(): string {
    return this.#definition.id;
  }

  /** Definition of the policy. */
  get definition(): AnyPolicyDefinition {
    return this.#definition;
  }

  /** Version of the policy. */
  get version(): number {
    return this.#definition.version;
  }

  /** A copy of the configuration, with its defaults filled in. */
  get config(): Config {
    return structuredClone(this.#config);
  }

  /** Events applied so far. */
  get seq(): number {
    return this.#seq;
  }

  /** The latest time seen, in seconds. */
  get at(): number {
    return this.#at;
  }

  /** Whether the policy takes events of this type; `send` refuses others. */
  takes(type: string): boolean;
  /** Whether the policy takes this message, such as a decision of another policy, as an event. */
  takes<M extends AnyEvent>(message: M): message is Extract<M, E>;
  takes(message: string | AnyEvent): boolean {
    return this.#taken.has(typeof message === 'string' ? message : message.type);
  }

  /**
   * Applies an event. Returns its decisions, followed by those of the events that listeners sent meanwhile.
   *
   * If a listener calls `send`, its event is queued behind the current event and the result is an empty list: the decisions are
   * in the result of the outer call. If such an event is refused, `listener.error` reports it.
   *
   * @throws PolicyError if the event is refused; then nothing has changed
   */
  send(event: E): D[] {
    if (this.#validate) this.#parse(event);
    else if (!this.#taken.has(event.type)) this.#unknownType(event.type);
    if (this.#sending) {
      this.#queue.push(event);
      return [];
    }
    const decisions: D[] = [];
    this.#apply(event, decisions);
    const listeners = this.#listeners;
    if (listeners === undefined) return decisions;
    this.#sending = true;
    try {
      listeners.deliver(decisions, 0);
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const from = decisions.length;
        try {
          this.#apply(next, decisions);
        } catch (error) {
          listeners.fail({ error, event: next });
        }
        listeners.deliver(decisions, from);
      }
    } finally {
      this.#sending = false;
    }
    return decisions;
  }

  /**
   * Returns the whole state as JSON. A policy made by `create(definition, { snapshot })` makes the same decisions from then on.
   *
   * After a restore, requests and timers that the host still has stay valid, and no decision names them again; a host that has lost
   * them sends `host.restarted`.
   */
  snapshot(): Snapshot {
    this.#assertWhole();
    return {
      policy: this.#definition.id,
      version: this.#definition.version,
      config: structuredClone(this.#config),
      state: this.#definition.save(this.#state),
      seq: this.#seq,
      at: this.#at,
      ...(this.#clock?.aheadSeconds ? { aheadSeconds: this.#clock.aheadSeconds } : undefined),
    };
  }

  /**
   * Returns why a thing waits: where it stands, what it waits for in turn, and which events would let it go on, overdue events
   * first, then the oldest. Without an id, returns the rounds, and all events that are owed to the policy. Nothing changes. The
   * cost is linear in what the policy holds.
   *
   * @param id - id of a prompt, a request, a round, or another thing that the policy holds
   * @param what - kind of the thing, such as `prompts`, needed where things of several kinds have this id
   * @param times - a result of `watch`, which adds start times, reasons and usual durations
   * @throws PolicyError `unknown_id` if the policy holds no such thing
   */
  why(id?: undefined, what?: undefined, times?: KnownTimes): WhyAll;
  why(id: string, what?: string, times?: KnownTimes): Why;
  why(id?: string, what?: string, times?: KnownTimes): Why | WhyAll {
    return inOneGo(this.whyInSteps(id, what, times));
  }

  /** Does the same as {@link Policy.why} in short steps. No event may be sent between them. @internal */
  whyInSteps(id?: string, what?: string, times?: KnownTimes): Generator<undefined, Why | WhyAll> {
    const holdings = this.holdings(times);
    return id === undefined ? allOwed(holdings) : whyOf(holdings, id, what);
  }

  /** Shows the things that the policy holds, one after the other; each answer describes the state at its moment. @internal */
  holdings(times?: KnownTimes): Holdings {
    this.#assertWhole();
    return holdingsOf(this.#definition, this.#state, Math.max(this.#at, times?.at ?? 0), times);
  }

  /** Returns all held things and where each stands. No event may be sent before the last one is read. @internal */
  held(): Iterable<Standpoint> {
    this.#assertWhole();
    return allHeld(holdingsOf(this.#definition, this.#state, this.#at));
  }

  /**
   * Sets one function per command. Commands are the decisions that a host must carry out. {@link Policy.on} listens for notices.
   *
   * If a function throws, or its promise is rejected, `listener.error` reports the error. Promises are not awaited.
   *
   * @throws PolicyError `invalid_input` for a command without a function, for a name that is not a command of the policy, and for a
   * second call, which would carry out every command twice
   */
  handle(handlers: CommandHandlers<D, Command>): this {
    const { id, commands } = this.#definition;
    if (typeof handlers !== 'object' || handlers === null)
      refuse('invalid_input', 'handlers', `an object with a function for each command of ${id}`, handlers);
    for (const type of Object.keys(handlers)) {
      if (commands.includes(type as Command)) continue;
      refuse('invalid_input', `handlers.${type}`, `a command of ${id}: ${oneOf(commands, type)}`, type);
    }
    const functions = handlers as Readonly<Record<string, (command: never) => void>>;
    for (const type of commands) {
      if (typeof functions[type] === 'function') continue;
      refuse('invalid_input', `handlers.${type}`, `a function: ${id} has this command`, functions[type]);
    }
    if (this.#isHandled) refuse('invalid_input', 'handlers', `one call of \`handle\` for ${id}`, 'a second one');
    this.#listeners ??= new Listeners<D>();
    for (const type of commands) this.#listeners.add(type, functions[type]!);
    this.#isHandled = true;
    return this;
  }

  /**
   * Listens for a decision by its type, for every `decision`, or for a `listener.error`.
   *
   * @throws PolicyError `invalid_input` for a type that is not a decision of the policy, or a listener that is not a function
   */
  on<T extends keyof PolicyEvents<D> & string>(type: T, listener: (payload: PolicyEvents<D>[T]) => void): this {
    const types = [...this.#definition.decisions.map((message) => message.type), 'decision', 'listener.error'];
    if (!types.includes(type)) refuse('invalid_input', 'type', `what ${this.id} tells: ${oneOf(types, type)}`, type);
    if (typeof listener !== 'function') refuse('invalid_input', 'listener', 'a function', listener);
    this.#listeners ??= new Listeners<D>();
    this.#listeners.add(type, listener);
    return this;
  }

  /** Listens for one decision, then stops. */
  once<T extends keyof PolicyEvents<D> & string>(type: T, listener: (payload: PolicyEvents<D>[T]) => void): this {
    const once = (payload: PolicyEvents<D>[T]): void => {
      this.off(type, once);
      listener(payload);
    };
    return this.on(type, once);
  }

  /** Stops listening. */
  off<T extends keyof PolicyEvents<D> & string>(type: T, listener: (payload: PolicyEvents<D>[T]) => void): this {
    this.#listeners?.remove(type, listener);
    return this;
  }

  /**
   * Calls back after every applied event, before its decisions are delivered: for event logs.
   *
   * @returns a function that stops the calls
   */
  observe(observer: (event: E, decisions: readonly D[]) => void): () => void {
    this.#observers = [...this.#observers, observer];
    return () => {
      this.#observers = this.#observers.filter((one) => one !== observer);
    };
  }

  #apply(event: E, into: D[]): void {
    if (this.#broken !== undefined) this.#assertWhole();
    const checked = this.#definition.check(this.#state, event);
    if (event.type === 'host.restarted') this.#clock ??= new SessionClock(0);
    const at =
      this.#clock === undefined
        ? Math.max(event.at, this.#at)
        : this.#clock.timeOf(event, this.#at, this.#definition.id);
    if (at >= likelyMilliseconds && this.#at < likelyMilliseconds) warnOfMilliseconds(this.#definition.id, at);
    const from = into.length;
    this.#into = into;
    this.#context.at = at;
    try {
      this.#definition.apply(this.#state, event, this.#context, checked);
    } catch (error) {
      into.length = from;
      this.#broken = error;
      this.#assertWhole();
    }
    this.#at = at;
    this.#seq += 1;
    for (const observer of this.#observers) observer(event, into.slice(from));
  }

  /** Throws if `apply` has thrown before: the policy has a defect, and its state may be inconsistent. */
  #assertWhole(): void {
    if (this.#broken === undefined) return;
    const expected = `${this.#definition.id} to apply an event that it had checked (restore its last snapshot)`;
    refuse('internal', '', expected, caused(this.#broken), this.#broken);
  }

  #parse(event: E): void {
    const type = (event as Partial<E> | null | undefined)?.type;
    const taken = this.#taken.get(type as string);
    if (taken === undefined) return this.#unknownType(type);
    const { schema } = taken;
    taken.fits ??= recogniserOf(schema);
    if (!taken.fits(event)) parse(schema, event, 'invalid_event');
  }

  #unknownType(type: unknown): never {
    const types = [...this.#taken.keys()];
    refuse(
      'invalid_event',
      'type',
      `an event of ${this.#definition.id}: ${types.join(', ')}${didYouMean(type, types)}`,
      type,
    );
  }
}
