/** `GET /metrics` for Prometheus, and `GET /healthz`. */
import { createServer } from 'node:http';
import type * as Prometheus from 'prom-client';
import type { Registry } from 'prom-client';
import type { Meter } from '../connection/meter.ts';
import { methods } from '../methods/methods.ts';
import { optionalPackage } from '../optional-package.ts';
import type { RpcServer } from '../server.ts';

const names: ReadonlySet<string> = new Set(methods.map(({ name }) => name));

/** A meter, and an HTTP endpoint that shows its figures. */
export interface Metrics {
  /** The meter for the options of the server. */
  readonly meter: Meter;
  /** Listens for HTTP requests. Each request reads the gauges of this server. */
  listen(server: RpcServer, address: { readonly port: number; readonly host?: string }): Promise<MetricsListening>;
}

/** A running endpoint. */
export interface MetricsListening {
  /** Port of the endpoint; the chosen port if 0 was given. */
  readonly port: number;
  /** Stops the endpoint and ends open requests. */
  close(): Promise<void>;
}

function metersIn({ Counter, Histogram }: typeof Prometheus, registers: Registry[]): Meter {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name: `rollflex_${name}`, help, labelNames, registers });
  const calls = counter('rpc_calls_total', 'Calls, by method and code (0: answered).', ['method', 'code']);
  const seconds = new Histogram({
    name: 'rollflex_rpc_call_seconds',
    help: 'Seconds that a call took, by method.',
    labelNames: ['method'],
    buckets: [0.0001, 0.001, 0.01, 0.1, 1, 10],
    registers,
  });
  const events = counter('events_total', 'Events applied, by policy.', ['policy']);
  const decisions = counter('decisions_total', 'Decisions, by policy.', ['policy']);
  const timers = counter('timers_refused_total', 'Timers of the server that their policy refused.', ['policy']);
  const written = counter('journal_operations_total', 'Records written to or removed from the state directory.', []);
  const writes = new Histogram({
    name: 'rollflex_journal_write_seconds',
    help: 'Seconds that a write to the state directory took; many calls share one.',
    buckets: [0.0001, 0.001, 0.01, 0.1, 1],
    registers,
  });
  const logLines = counter('decision_log_lines_total', 'Lines written to the decision log.', []);
  const logBytes = counter('decision_log_bytes_total', 'Bytes written to the decision log.', []);
  const logDrops = counter(
    'decision_log_dropped_lines_total',
    'Lines left out of the decision log: too much waited, the disk refused them, or they were too long.',
    ['reason'],
  );
  const refused = counter('refused_total', 'Refused calls, by code, and by limit where it is one of the server.', [
    'code',
    'limit',
  ]);
  const closed = counter(
    'connections_closed_total',
    'Connections that the server has closed: the client did not read (cutOff) or had no token (turnedAway), or there were too many (full).',
    ['reason'],
  );
  return {
    called(name, code, took) {
      // Unknown names from clients must not become labels.
      const method = names.has(name) ? name : 'unknown';
      calls.inc({ method, code: String(code) });
      seconds.observe({ method }, took);
    },
    applied(policy, _, made) {
      events.inc({ policy });
      decisions.inc({ policy }, made.length);
    },
    timerRefused: (policy) => timers.inc({ policy }),
    committed(operations, took) {
      written.inc(operations);
      writes.observe(took);
    },
    logged(lines, bytes) {
      logLines.inc(lines);
      logBytes.inc(bytes);
    },
    logDropped: (reason, lines) => logDrops.inc({ reason }, lines),
    refused: (code, limit = '') => refused.inc({ code, limit }),
    closed: (reason) => closed.inc({ reason }),
  };
}

function gaugesOf({ Gauge }: typeof Prometheus, server: RpcServer, registers: Registry[]): void {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name: `rollflex_${name}`,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  const sum = (of: 'inFlight' | 'backlog') => (): number => {
    let total = 0;
    for (const session of server.sessions) total += session[of];
    return total;
  };
  gauge('sessions', 'Sessions that are open.', () => server.sessions.size);
  gauge('connections', 'Connections.', () => server.connections);
  gauge('in_flight_ids', 'Ids in flight, of all sessions.', sum('inFlight'));
  gauge('backlog_decisions', 'Streamed decisions that nobody has acknowledged.', sum('backlog'));
  const byEvent = (name: string, help: string, of: 'owed' | 'overdue'): void => {
    const seen = new Set<string>();
    new Gauge({
      name: `rollflex_${name}`,
      help,
      labelNames: ['event'],
      registers,
      collect() {
        // The gauge of an answer that is not owed any more is set to 0, because it would keep its value.
        for (const event of seen) this.set({ event }, 0);
        for (const one of server.owed) {
          seen.add(one.event);
          this.set({ event: one.event }, one[of]);
        }
      },
    });
  };
  byEvent('owed_answers', 'Answers that sessions wait for, by the event that is awaited.', 'owed');
  byEvent('overdue_answers', 'Of these, those that are overdue, or owed by whom nothing comes from.', 'overdue');
  gauge('resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
}

/**
 * Makes the metrics of one server. The library is loaded only here, because it takes most of the start-up time.
 *
 * @throws PolicyError `invalid_input` if the package prom-client is not installed
 */
export async function prometheus(): Promise<Metrics> {
  // The package is CommonJS: in a bundle, only its default export is reliable.
  const loaded: unknown = await optionalPackage('prom-client', 'metrics', () => import('prom-client'));
  const { default: client } = loaded as { default: typeof Prometheus };
  const register = new client.Registry();
  return {
    meter: metersIn(client, [register]),
    async listen(server, { port, host = '127.0.0.1' }) {
      gaugesOf(client, server, [register]);
      const http = createServer((request, response) => {
        const found = request.method === 'GET' ? request.url?.split('?')[0] : undefined;
        const answer = (status: number, type: string, body: string): void => {
          response.writeHead(status, { 'content-type': type }).end(body);
        };
        if (found === '/healthz') answer(200, 'text/plain', 'ok\n');
        else if (found !== '/metrics') answer(404, 'text/plain', 'GET /metrics or /healthz\n');
        else {
          register.metrics().then(
            (text) => answer(200, register.contentType, text),
            (error: unknown) => answer(500, 'text/plain', `${String(error)}\n`),
          );
        }
      });
      await new Promise<void>((resolve, reject) => {
        http.once('error', reject);
        http.listen(port, host, resolve);
      });
      const bound = http.address() as { port: number };
      return {
        port: bound.port,
        close: () =>
          new Promise((resolve) => {
            http.close(() => resolve());
            http.closeAllConnections();
          }),
      };
    },
  };
}
