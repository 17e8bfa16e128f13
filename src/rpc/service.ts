/** The methods for sessions and planners. A service is independent of connections. */

import { oneOf } from '../core/ids/nearest.ts';
import { type Clock, systemClock } from '../core/machine/clock.ts';
import type { AnyDefinition } from '../core/machine/definition.ts';
import type { Registry } from '../core/machine/registry.ts';
import { parse } from '../core/machine/validate.ts';
import { isPolicyError, PolicyError, refuse } from '../errors.ts';
import type { DecisionLog } from '../logs/write/decision-log.ts';
import { registry as shipped } from '../registry.ts';
import type { CallContext, Caller } from './connection/caller.ts';
import type { Meter } from './connection/meter.ts';
import type { Id, Request } from './connection/request.ts';
import type { Journal } from './journal/journal.ts';
import type { Records } from './journal/records.ts';
import { errorCodes, RpcError, toRpcError } from './methods/errors.ts';
import { type ServerLimits, serverLimits } from './methods/limits.ts';
import { type MethodName, methods, type ParamsOf, type ResultOf } from './methods/methods.ts';
import { openRpcDocument } from './methods/openrpc.ts';
import type { PlanJob, Planning } from './methods/planning.ts';
import { exceeded, Refusals } from './methods/refusals.ts';
import { mostNamed } from './session/aside.ts';
import { Gate } from './session/gate.ts';
import { Sessions } from './session/sessions.ts';
import { Turns } from './session/turns.ts';
import { Watch, type WatchOptions } from './session/watch.ts';

/** Options of a server; all have defaults. */
export interface ServerOptions {
  /** Policies, recipes and planners of the server; by default all built-in ones. */
  readonly registry?: Registry<readonly AnyDefinition[]>;
  /** Bounds; see {@link limitsSchema}. */
  readonly limits?: Partial<ServerLimits>;
  /** Source of time and of timers; the system clock if absent. */
  readonly clock?: Clock;
  /** Receives measurements of the server; by default none are taken. */
  readonly meter?: Meter;
  /** Whether a token is valid. If given, a connection must show a valid token before anything else. */
  readonly isToken?: (token: string) => boolean;
  /** Version of the package, for `server.info`. */
  readonly version?: string;
  /** Log of events and decisions; see {@link FileDecisionLog}. */
  readonly decisionLog?: DecisionLog;
  /**
   * Has a watchdog for each session, which says what is overdue; then `session.why` knows the times of all that is owed from the
   * beginning. By default none: a session knows the times of what is asked for after its first `session.why`.
   */
  readonly watch?: WatchOptions;
  /** Computes plans beside the thread that answers events; see {@link planThreads}. Absent: that thread computes them. */
  readonly planning?: Planning;
  /** Receives lines that an operator should read, for example about sessions that cannot be restored; by default nobody does. */
  readonly warn?: (line: string) => void;
  /** Called once per defect with the thrown error, whose stack is only for the host; clients get its message. */
  readonly defect?: (error: unknown) => void;
  /** Journal that keeps the sessions; made by {@link openDurableServer}. @internal */
  readonly journal?: Journal | undefined;
}

type Context = CallContext & { readonly notification: boolean };
type Handler<N extends MethodName> = (params: ParamsOf<N>, call: Context) => ResultOf<N> | Promise<ResultOf<N>>;
type Sending = ParamsOf<'session.send'>;
type Handlers = { readonly [N in MethodName]: Handler<N> };

interface Method {
  readonly params: (typeof methods)[number]['params'];
  readonly handler: Handler<MethodName>;
}

/** Calls methods for sessions and plans by name. */
export class Service {
  readonly limits: ServerLimits;
  readonly sessions: Sessions;
  readonly version: string;
  /** Turns of the calls that may pause. */
  readonly turns: Turns;
  /** Counters of refusals. */
  readonly refusals: Refusals;
  /** The watchdogs of the sessions; `undefined` without them. */
  readonly watch: Watch | undefined;
  readonly #gate: Gate;
  readonly #registry: Registry<readonly AnyDefinition[]>;
  readonly #methods: ReadonlyMap<string, Method>;
  /** Parameters of the last `session.send` that the schema has accepted. */
  #sent: Pick<Sending, 'session' | 'producer'> | undefined;
  #document: ResultOf<'rpc.discover'> | undefined;
  readonly #clock: Clock;
  readonly #planning: Planning | undefined;
  /** Number of plans that `planning` computes, in total and per connection. */
  #plans = 0;
  readonly #plansOf = new WeakMap<Caller, number>();

  /** Throws `invalid_config`. */
  constructor(options: Omit<ServerOptions, 'journal'> & { readonly journal?: Records | undefined }) {
    const { registry = shipped, clock = systemClock, meter, version = 'unknown', journal } = options;
    const { decisionLog, watch } = options;
    this.watch = watch === undefined ? undefined : new Watch(watch, clock);
    this.#clock = clock;
    this.#planning = options.planning;
    this.limits = serverLimits(options.limits);
    this.version = version;
    this.#registry = registry as Registry<readonly AnyDefinition[]>;
    this.turns = new Turns(clock);
    this.#gate = new Gate(this.turns);
    this.refusals = new Refusals(meter, options.defect);
    const host = {
      limits: this.limits,
      clock,
      meter,
      decisionLog,
      watch: this.watch,
      gate: this.#gate,
      total: { ids: 0 },
      defect: (error: unknown) => this.refusals.defect(error),
    };
    this.sessions = new Sessions(this.#registry, host, journal);
    const handlers = this.#handlers() as unknown as Record<string, Handler<MethodName>>;
    this.#methods = new Map(methods.map(({ name, params }) => [name, { params, handler: handlers[name]! }]));
  }

  /**
   * Calls a method. The result is a promise if `planning` computes it, or if the call or its session pauses. Throws the errors of
   * the method, and `RpcError` for wrong parameters and unknown methods.
   */
  result({ id, method, params }: Request, call: CallContext): unknown {
    const found = this.#methods.get(method);
    if (found === undefined) throw unknownMethod(method);
    const given = this.#isSentAgain(method, params) ? params : parameters(found.params, params ?? {});
    if (method === 'session.send' && given !== params) {
      const { session, producer } = given as Sending;
      this.#sent = { session, producer };
    }
    const { connection, signal, turns } = call;
    const context = { connection, signal, turns, notification: id === undefined };
    const { session } = given as { readonly session?: string };
    if (session === undefined) return found.handler(given as never, context);
    return this.#gate.run(session, () => found.handler(given as never, context));
  }

  /**
   * Whether a call equals the last `session.send` except for its events and their number, and these are valid. The schema need
   * not check such a call, which would take a fifth of the call's time.
   */
  #isSentAgain(method: string, params: unknown): boolean {
    const last = this.#sent;
    if (method !== 'session.send' || last?.producer === undefined || typeof params !== 'object' || params === null)
      return false;
    const { session, producer, firstSeq, events } = params as Partial<Sending>;
    return (
      session === last.session &&
      producer === last.producer &&
      Number.isSafeInteger(firstSeq) &&
      firstSeq! >= 0 &&
      Array.isArray(events) &&
      Object.keys(params).length === 4
    );
  }

  /** Returns the answer to a call; nothing for a notification. Only for a service without `planning`. */
  answer(request: Request, caller: Caller): object | undefined {
    const { id } = request;
    try {
      const result = this.result(request, { connection: caller });
      return id === undefined ? undefined : { jsonrpc: '2.0', id, result };
    } catch (error) {
      this.refusals.thrown(error);
      return id === undefined ? undefined : failure(id, toRpcError(error));
    }
  }

  #handlers(): Handlers {
    const { sessions } = this;
    return {
      'session.open': (params) => sessions.open(params),
      'session.send': (params, { notification, turns }) => {
        const found = sessions.get(params.session);
        if (notification && found.deliver === 'reply') {
          refuse('invalid_input', 'id', 'a call with an id: its answer carries the decisions', 'a notification');
        }
        return found.send(params, turns);
      },
      'session.more': ({ session, more }) => sessions.get(session).more(more),
      'session.snapshot': ({ session, delivery }) => sessions.snapshot(session, delivery),
      'session.why': ({ session, ...params }, { turns }) => sessions.get(session).why(params, turns),
      'session.close': ({ session }) => {
        sessions.close(session);
        return {};
      },
      'session.list': ({ after }) => sessions.list(after),
      'session.subscribe': ({ session, after, types }, { connection }) => {
        const found = sessions.get(session);
        connection.subscribe(found, after, types);
        return { decisionSeq: found.stream.last, acknowledged: found.stream.acknowledged };
      },
      'session.ack': ({ session, decisionSeq }, { connection }) => {
        const { stream } = sessions.get(session);
        stream.ack(connection, decisionSeq);
        return { acknowledged: stream.acknowledged };
      },
      'session.unsubscribe': ({ session }, { connection }) => {
        connection.unsubscribe(sessions.get(session));
        return {};
      },
      plan: (params, context) => this.#plan(params, context),
      'rpc.discover': () => (this.#document ??= openRpcDocument(this.#registry, this.version)),
      'server.info': () => this.#info(),
      // The connection has already checked the token.
      'server.authenticate': () => ({}),
    };
  }

  #plan(params: ParamsOf<'plan'>, { connection, signal, notification }: Context) {
    // Nobody would receive the plan.
    if (notification) return { plan: undefined };
    const { planner, input, deadlineSeconds } = params;
    if (this.#planning !== undefined) return this.#planBeside({ ...params, signal }, connection);
    const until = deadlineSeconds === undefined ? undefined : this.#clock.now() + deadlineSeconds;
    const isLate = until === undefined ? undefined : () => this.#clock.now() >= until;
    return { plan: this.#registry.plan(planner as never, input as never, { isLate }) };
  }

  async #planBeside(job: PlanJob, connection: Caller): Promise<ResultOf<'plan'>> {
    const { maxPlans, maxPlansPerConnection } = this.limits;
    const own = this.#plansOf.get(connection) ?? 0;
    if (own >= maxPlansPerConnection) {
      const expected = `at most ${maxPlansPerConnection} plans of a connection at once: try again when one is answered`;
      exceeded('maxPlansPerConnection', 'plan', expected, 'one more');
    }
    if (this.#plans >= maxPlans) {
      exceeded('maxPlans', 'plan', `at most ${maxPlans} plans at once: try again when one is answered`, 'one more');
    }
    const count = (by: number): void => {
      this.#plans += by;
      this.#plansOf.set(connection, (this.#plansOf.get(connection) ?? 0) + by);
    };
    count(1);
    try {
      return { plan: await this.#planning!.plan(job) };
    } finally {
      count(-1);
    }
  }

  #info(): ResultOf<'server.info'> {
    const { policies, planners } = this.#registry;
    return {
      name: 'rollflex',
      version: this.version,
      policies: policies.map(({ id, kind, version, summary }) => ({ id, kind, version, summary })),
      planners: planners.map(({ id, version, summary }) => ({ id, version, summary })),
      limits: this.limits,
      sessions: this.sessions.size,
      ...(this.sessions.aside.size === 0
        ? undefined
        : {
            aside: [...this.sessions.aside.values()].slice(0, mostNamed).map(({ listed }) => {
              const { session, policy, aside } = listed;
              return { session, policy, ...aside! };
            }),
          }),
      refused: this.refusals.calls,
      closed: this.refusals.closed,
    };
  }
}

/** Makes the error for an unknown method. */
export function unknownMethod(got: string): RpcError {
  const names = methods.map(({ name }) => name);
  const details = { expected: oneOf(names, got), got, path: 'method' };
  return new RpcError(errorCodes.methodNotFound, new PolicyError('unknown_id', details));
}

/** Makes the answer to a call that failed. */
export const failure = <I extends Id>(id: I, { code, message, data }: RpcError) => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code, message, data },
});

/** Parses the parameters of a call. Throws `RpcError` −32602 with the path of the wrong parameter. */
function parameters(schema: (typeof methods)[number]['params'], params: unknown): unknown {
  try {
    if (!Array.isArray(params)) return parse(schema as never, params, 'invalid_input');
    refuse('invalid_input', 'params', 'parameters by name', params);
  } catch (error) {
    throw isPolicyError(error) ? new RpcError(errorCodes.invalidParams, error) : error;
  }
}
