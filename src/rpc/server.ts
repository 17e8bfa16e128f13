/** The server: it offers its methods to any number of connections, and is independent of transports. */
import { JSONRPCServer } from 'json-rpc-2.0';
import { systemClock } from '../core/machine/clock.ts';
import type { CallContext } from './connection/caller.ts';
import { Connection, type ConnectionHost } from './connection/connection.ts';
import { HalfLines } from './connection/half-lines.ts';
import type { Link, Served } from './connection/link.ts';
import { Outputs } from './connection/outputs.ts';
import type { Id } from './connection/request.ts';
import { notDurable } from './connection/send-queue.ts';
import { toRpcError } from './methods/errors.ts';
import type { ServerLimits } from './methods/limits.ts';
import { methods } from './methods/methods.ts';
import type { Planning } from './methods/planning.ts';
import type { Refusals } from './methods/refusals.ts';
import { failure, type ServerOptions, Service, unknownMethod } from './service.ts';
import type { Sessions } from './session/sessions.ts';
import type { OwedAnswers } from './session/watch.ts';

const success = (id: NonNullable<Id>, result: unknown) => ({ jsonrpc: '2.0' as const, id, result });

/** A JSON-RPC server of sessions and plans. */
export class RpcServer {
  /** The limits with all defaults. */
  readonly limits: ServerLimits;
  /** @internal */
  readonly sessions: Sessions;
  /** Version in the answer of `server.info`. */
  readonly version: string;
  readonly #service: Service;
  readonly #connections = new Set<Connection>();
  /** Connections that have not shown the token yet, oldest first. */
  readonly #unauthenticated = new Set<Connection>();
  readonly #host: ConnectionHost;
  readonly #planning: Planning | undefined;

  /** Throws `invalid_config`. */
  constructor(options: ServerOptions = {}) {
    const { clock = systemClock, meter, isToken, journal, planning } = options;
    this.#service = new Service(options);
    this.#planning = planning;
    this.limits = this.#service.limits;
    this.sessions = this.#service.sessions;
    this.version = this.#service.version;
    this.#host = {
      limits: this.limits,
      clock,
      meter,
      refusals: this.#service.refusals,
      outputs: new Outputs(this.limits.maxTotalOutputBytes),
      durability: journal ?? notDurable,
      isToken,
      halfLines: new HalfLines(Math.max(this.limits.maxUnfinishedBytes, this.limits.maxMessageBytes)),
      dispatch: this.#dispatch(),
      turns: this.#service.turns,
      plansBeside: planning !== undefined,
      welcomed: (connection) => this.#welcomed(connection),
      left: (connection) => void (this.#connections.delete(connection) || this.#unauthenticated.delete(connection)),
    };
  }

  /** Whether a connection must show a token. */
  get asksForToken(): boolean {
    return this.#host.isToken !== undefined;
  }

  /** Answers owed to all sessions, by type of event; empty without the option `watch`. */
  get owed(): OwedAnswers[] {
    return this.#service.watch?.owed ?? [];
  }

  /** Counters of refusals, and of connections that the server has closed. @internal */
  get refusals(): Pick<Refusals, 'calls' | 'closed'> {
    return this.#service.refusals;
  }

  /** Number of open connections, including those that have not shown the token. */
  get connections(): number {
    return this.#connections.size + this.#unauthenticated.size;
  }

  /** Makes a connection; closes the link and returns `undefined` if there are too many. */
  connect(link: Link): Served | undefined {
    if (!this.asksForToken && this.#isFull) {
      this.#service.refusals.connection('full');
      link.destroy();
      return undefined;
    }
    const connection = new Connection(link, this.#host);
    if (this.asksForToken) this.#unauthenticated.add(connection);
    else this.#connections.add(connection);
    // The oldest connection without a token is closed, because a client with the token would have shown it at once.
    const [oldest] = this.#unauthenticated;
    if (this.#unauthenticated.size > this.limits.maxUnauthenticated) oldest!.turnAway();
    return connection;
  }

  get #isFull(): boolean {
    return this.#connections.size >= this.limits.maxConnections;
  }

  #welcomed(connection: Connection): boolean {
    if (this.#isFull) {
      this.#service.refusals.connection('full');
      return false;
    }
    this.#unauthenticated.delete(connection);
    this.#connections.add(connection);
    return true;
  }

  /** Closes all sessions and connections; the next server continues the sessions that are on disk. */
  close(): void {
    this.sessions.closeAll();
    for (const connection of [...this.#connections, ...this.#unauthenticated]) connection.destroy();
    this.#host.turns.close();
    this.#planning?.close();
  }

  #dispatch(): JSONRPCServer<CallContext> {
    const dispatch = new JSONRPCServer<CallContext>({
      errorListener: (_, thrown) => this.#service.refusals.thrown(thrown),
    });
    for (const { name } of methods) {
      dispatch.addMethodAdvanced(name, (request, call) => {
        const result = this.#service.result(request, call);
        const answer = (got: unknown) => (request.id === undefined ? null : success(request.id!, got));
        return result instanceof Promise ? result.then(answer) : Promise.resolve(answer(result));
      });
    }
    dispatch.mapErrorToJSONRPCErrorResponse = (id, thrown) => failure(id, toRpcError(thrown));
    dispatch.handleMethodNotFound = ({ method }) => Promise.reject(unknownMethod(method));
    return dispatch;
  }
}
