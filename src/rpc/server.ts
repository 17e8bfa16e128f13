/** The server: methods over sessions, for any number of connections. It knows no transport. */
import { JSONRPCServer } from 'json-rpc-2.0';
import type { AnyDefinition } from '../core/definition.ts';
import type { Registry } from '../core/registry.ts';
import { parse } from '../core/validate.ts';
import { isPolicyError, PolicyError } from '../errors.ts';
import { registry as shipped } from '../registry.ts';
import { type Clock, systemClock } from './clock.ts';
import { type CallContext, Connection, type ConnectionHost } from './connection.ts';
import { errorCodes, RpcError, toRpcError } from './errors.ts';
import { HalfLines } from './half-lines.ts';
import type { Journal } from './journal/journal.ts';
import { type ServerLimits, serverLimits } from './limits.ts';
import type { Link, Served } from './link.ts';
import { type DecisionLog, noDecisionLog } from './log/decision-log.ts';
import { type Meter, noMeter } from './meter.ts';
import { type MethodName, methods, type ParamsOf, type ResultOf } from './methods.ts';
import { openRpcDocument } from './openrpc.ts';
import { nothingKept } from './outflow.ts';
import { Sessions } from './sessions.ts';

/** What a server is made of; everything has a default. */
export interface ServerOptions {
  /** What can be opened and planned; by default what rollflex ships. */
  readonly registry?: Registry<readonly AnyDefinition[]>;
  /** Bounds; see {@link limitsSchema}. */
  readonly limits?: Partial<ServerLimits>;
  /** Where times and timers come from; the system's if absent. */
  readonly clock?: Clock;
  /** Counts what the server does; nothing if absent. */
  readonly meter?: Meter;
  /** Whether a token is the right one. With it, a connection must show one before anything else. */
  readonly isToken?: (token: string) => boolean;
  /** Version of the package, for `server.info`. */
  readonly version?: string;
  /** Where events and decisions are written down; see {@link FileDecisionLog}. */
  readonly decisionLog?: DecisionLog;
  /** Where sessions are kept; made by {@link openDurableServer}. @internal */
  readonly journal?: Journal | undefined;
}

type Handler<N extends MethodName> = (
  params: ParamsOf<N>,
  call: CallContext & { readonly notification: boolean },
) => ResultOf<N>;
type Handlers = { readonly [N in MethodName]: Handler<N> };

/** A JSON-RPC server of sessions and plans. */
export class RpcServer {
  /** The limits, their defaults filled in. */
  readonly limits: ServerLimits;
  /** @internal */
  readonly sessions: Sessions;
  /** Version that `server.info` gives. */
  readonly version: string;
  readonly #registry: Registry<readonly AnyDefinition[]>;
  readonly #connections = new Set<Connection>();
  /** Those that have not shown the token yet, the oldest first. */
  readonly #unauthenticated = new Set<Connection>();
  readonly #host: ConnectionHost;
  #document: ResultOf<'rpc.discover'> | undefined;

  /** Throws `invalid_config`. */
  constructor(options: ServerOptions = {}) {
    const { registry = shipped, clock = systemClock, meter = noMeter, isToken, version = 'unknown', journal } = options;
    const { decisionLog = noDecisionLog } = options;
    this.limits = serverLimits(options.limits);
    this.version = version;
    this.#registry = registry as Registry<readonly AnyDefinition[]>;
    this.sessions = new Sessions(this.#registry, { limits: this.limits, clock, meter, decisionLog }, journal);
    this.#host = {
      limits: this.limits,
      clock,
      meter,
      durability: journal ?? nothingKept,
      isToken,
      halfLines: new HalfLines(Math.max(this.limits.maxUnfinishedBytes, this.limits.maxMessageBytes)),
      dispatch: this.#dispatch(),
      welcomed: (connection) => this.#welcomed(connection),
      left: (connection) => void (this.#connections.delete(connection) || this.#unauthenticated.delete(connection)),
    };
  }

  /** Whether a connection must show a token. */
  get asksForToken(): boolean {
    return this.#host.isToken !== undefined;
  }

  /** How many connections there are. */
  get connections(): number {
    return this.#connections.size + this.#unauthenticated.size;
  }

  /** A new connection, or nothing where there are too many: then the link is closed. */
  connect(link: Link): Served | undefined {
    if (!this.asksForToken && this.#isFull) {
      link.destroy();
      return undefined;
    }
    const connection = new Connection(link, this.#host);
    if (this.asksForToken) this.#unauthenticated.add(connection);
    else this.#connections.add(connection);
    // Not the newest: whoever has the token shows it at once, and is not in the way of those who have none.
    const [oldest] = this.#unauthenticated;
    if (this.#unauthenticated.size > this.limits.maxUnauthenticated) oldest!.turnAway();
    return connection;
  }

  get #isFull(): boolean {
    return this.#connections.size >= this.limits.maxConnections;
  }

  #welcomed(connection: Connection): boolean {
    if (this.#isFull) return false;
    this.#unauthenticated.delete(connection);
    this.#connections.add(connection);
    return true;
  }

  /** Closes all sessions and connections; sessions that are kept on disk go on with the next server. */
  close(): void {
    this.sessions.closeAll();
    for (const connection of [...this.#connections, ...this.#unauthenticated]) connection.destroy();
  }

  #dispatch(): JSONRPCServer<CallContext> {
    const dispatch = new JSONRPCServer<CallContext>({ errorListener: () => undefined });
    const handlers = this.#handlers() as unknown as Record<string, Handler<MethodName>>;
    for (const { name, params } of methods) {
      const handler = handlers[name]!;
      dispatch.addMethodAdvanced(name, (request, context) => {
        const notification = request.id === undefined;
        const given = parameters(params, request.params ?? {});
        const result = handler(given as never, { ...context, notification });
        return Promise.resolve(notification ? null : { jsonrpc: '2.0', id: request.id!, result });
      });
    }
    dispatch.mapErrorToJSONRPCErrorResponse = (id, thrown) => {
      const { code, message, data } = toRpcError(thrown);
      return { jsonrpc: '2.0', id, error: { code, message, data } };
    };
    dispatch.handleMethodNotFound = (request) => {
      if (request.id === undefined) return Promise.resolve(null);
      const expected = `one of ${methods.map(({ name }) => name).join(', ')}`;
      const details = { expected, got: request.method, path: 'method' };
      const { code, message, data } = new RpcError(errorCodes.methodNotFound, new PolicyError('unknown_id', details));
      return Promise.resolve({ jsonrpc: '2.0', id: request.id, error: { code, message, data } });
    };
    return dispatch;
  }

  #handlers(): Handlers {
    const { sessions } = this;
    return {
      'session.open': (params) => sessions.open(params),
      'session.send': ({ session, ...params }, { notification }) => {
        const found = sessions.get(session);
        if (notification && found.deliver === 'reply') {
          throw new PolicyError('invalid_input', {
            expected: 'a call with an id: its answer carries the decisions',
            got: 'a notification',
            path: 'id',
          });
        }
        return found.send(params);
      },
      'session.more': ({ session, more }) => sessions.get(session).more(more),
      'session.snapshot': ({ session, delivery }) => sessions.get(session).snapshot(delivery),
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
      plan: ({ planner, input }) => ({ plan: this.#registry.plan(planner as never, input as never) }),
      'rpc.discover': () => (this.#document ??= openRpcDocument(this.#registry, this.version)),
      'server.info': () => this.#info(),
      // A connection that must show a token has done so before it comes here.
      'server.authenticate': () => ({}),
    };
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
    };
  }
}

/** The parameters of a call. Throws `RpcError` −32602 with the path of the bad one. */
function parameters(schema: (typeof methods)[number]['params'], params: unknown): unknown {
  try {
    if (!Array.isArray(params)) return parse(schema as never, params, 'invalid_input');
    throw new PolicyError('invalid_input', { expected: 'parameters by name', got: params, path: 'params' });
  } catch (error) {
    throw isPolicyError(error) ? new RpcError(errorCodes.invalidParams, error) : error;
  }
}
