/** `rollflex serve`: the JSON-RPC server. */
import { Console } from 'node:console';
import { refuse } from '../../errors.ts';
import { packageVersion } from '../../logs/index/package.ts';
import { both } from '../../logs/write/decision-log.ts';
import { FileDecisionLog } from '../../logs/write/file-log.ts';
import { type Meter, noMeter } from '../../rpc/connection/meter.ts';
import { openDurableServer } from '../../rpc/durable.ts';
import { limitsSchema, type ServerLimits } from '../../rpc/methods/limits.ts';
import { RpcServer } from '../../rpc/server.ts';
import type { ServerOptions } from '../../rpc/service.ts';
import { type MetricsListening, prometheus } from '../../rpc/transports/metrics.ts';
import { planThreads } from '../../rpc/transports/plan-threads.ts';
import { type Address, listenOn } from '../../rpc/transports/socket.ts';
import { serveStdio } from '../../rpc/transports/stdio.ts';
import { tokenFromFile } from '../../rpc/transports/token.ts';
import type { Message } from '../../schemas/messages.ts';
import { Feed } from '../dashboard/feed.ts';
import { checkDashboard, serveDashboard } from '../dashboard/serve.ts';
import { moduleUrl, registryWith } from '../files/definitions.ts';
import type { PageServer } from '../page-server.ts';
import { say, sayDefect } from '../terminal/output.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

/** Options as the command line gives them; limits have the names of the library. */
export interface ServeOptions extends ServerLimits {
  readonly stdio?: boolean;
  readonly socket?: string;
  readonly port?: number;
  readonly host: string;
  readonly tokenFile?: string;
  readonly policies?: readonly string[];
  readonly stateDir?: string;
  readonly fsync?: 'always' | 'interval';
  readonly snapshotEvents?: number;
  readonly logDir?: string;
  readonly logFileBytes?: number;
  readonly logFiles?: number;
  readonly logWaitingBytes?: number;
  readonly watch?: boolean;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  readonly dashboard?: number;
  readonly dashboardHost?: string;
  readonly dashboardKeyFile?: string;
}

function checkTransport({ stdio, socket, port, tokenFile }: ServeOptions): void {
  const given = [stdio && '--stdio', socket !== undefined && '--socket', port !== undefined && '--port'].filter(
    Boolean,
  );
  if (given.length !== 1) refuse('invalid_input', 'serve', 'one of --stdio, --socket PATH, --port N', given.join(' '));
  if (port !== undefined && tokenFile === undefined)
    refuse('invalid_input', '--token-file', '--token-file beside --port', 'none');
  if (stdio && tokenFile !== undefined)
    refuse('invalid_input', '--token-file', '--token-file with --socket or --port', '--stdio');
}

function limitsOf(options: ServeOptions): Partial<ServerLimits> {
  const names = Object.keys(limitsSchema.shape) as (keyof ServerLimits)[];
  return Object.fromEntries(names.map((name) => [name, options[name]]));
}

/** A running server: the event that ends it without a signal, and the functions to call at its end. */
interface Running {
  readonly server: RpcServer;
  readonly failed: Promise<never>;
  close(): void | Promise<void>;
}

async function start({ stateDir, fsync, snapshotEvents }: ServeOptions, options: ServerOptions): Promise<Running> {
  if (stateDir !== undefined) return openDurableServer({ stateDir, fsync, snapshotEvents, ...options });
  const wasGiven = [fsync && '--fsync', snapshotEvents && '--snapshot-events'].filter(Boolean).join(', ');
  if (wasGiven !== '') refuse('invalid_input', 'serve', '--state-dir beside it', wasGiven);
  const server = new RpcServer(options);
  return { server, failed: new Promise(() => undefined), close: () => server.close() };
}

function decisionLogOf(options: ServeOptions, meter: Meter): FileDecisionLog | undefined {
  const { logDir, logFileBytes, logFiles, logWaitingBytes } = options;
  const numbers = { logFileBytes, logFiles, logWaitingBytes };
  if (logDir !== undefined) {
    return new FileDecisionLog(
      { logDir, ...numbers },
      {
        version: packageVersion(),
        written: (lines, bytes) => meter.logged(lines, bytes),
        dropped: (reason, lines) => meter.logDropped(reason, lines),
        trouble: (error) =>
          say(error === undefined ? 'decision log: goes on' : `decision log: lines are dropped: ${error.message}`),
      },
    );
  }
  const given = Object.values(numbers).some((one) => one !== undefined);
  if (given)
    refuse('invalid_input', 'serve', '--log-dir beside them', '--log-file-bytes, --log-files or --log-waiting-bytes');
  return undefined;
}

const seconds = (value: number): string => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} s`;

/** Says on standard error who owes an answer. */
function sayOwes(session: string, { sender, by, event, ids, count, reason }: Message<'host.owes'>): void {
  const who = by === undefined ? sender : `${sender} ${by}`;
  const which = [event, ...Object.values(ids)].join(' ');
  const what = count === 1 ? which : `${count} answers, the oldest ${which}`;
  const usual = reason.usualSeconds === undefined ? '' : ` (usually ${seconds(reason.usualSeconds)})`;
  const silent = 'silentSeconds' in reason ? `; nothing has come from it for ${seconds(reason.silentSeconds)}` : '';
  say(`${session}: ${who} owes ${what}, since ${seconds(reason.waitedSeconds)}${usual}${silent}`);
}

/** Says on standard error which round gains nothing. */
function sayStalled(session: string, { roundId, filtered, sinceSeconds, at, reason }: Message<'round.stalled'>): void {
  const usual = reason.highFiltered === undefined ? '' : ` (usually at most ${reason.highFiltered})`;
  say(
    `${session}: round ${roundId} gains nothing: ${filtered} in a row were filtered${usual}, in ${seconds(at - sinceSeconds)}`,
  );
}

/**
 * Serves until the input ends or a signal comes.
 *
 * @throws PolicyError `invalid_input` for contradictory options; the system's error if it cannot listen
 */
export async function runServe(options: ServeOptions): Promise<void> {
  checkTransport(options);
  checkDashboard(options);
  // Output of a policy must not mix with the messages.
  if (options.stdio) globalThis.console = new Console(process.stderr, process.stderr);
  const { tokenFile, metricsPort, metricsHost, socket, port, host } = options;
  const isToken = tokenFile === undefined ? undefined : tokenFromFile(tokenFile);
  const metrics = metricsPort === undefined ? undefined : await prometheus();
  const decisionLog = decisionLogOf(options, metrics?.meter ?? noMeter);
  const feed = options.dashboard === undefined ? undefined : new Feed();
  const heard = feed && decisionLog ? both(decisionLog, feed) : (feed ?? decisionLog);
  const running = await start(options, {
    registry: await registryWith(options.policies),
    planning: planThreads({ definitions: options.policies?.map(moduleUrl) }),
    limits: limitsOf(options),
    version: packageVersion(),
    warn: say,
    defect: (error) => sayDefect(error),
    ...(isToken === undefined ? {} : { isToken }),
    ...(metrics === undefined ? {} : { meter: metrics.meter }),
    ...(heard === undefined ? {} : { decisionLog: heard }),
    ...(options.watch ? { watch: { owes: sayOwes, stalled: sayStalled } } : {}),
  });
  const { server } = running;
  let measured: MetricsListening | undefined;
  let page: PageServer | undefined;
  try {
    measured = await metrics?.listen(server, { port: metricsPort!, host: metricsHost });
    if (measured !== undefined) say(`metrics at http://${metricsHost}:${measured.port}/metrics`);
    if (feed !== undefined) {
      const { dashboard, dashboardHost = '127.0.0.1', dashboardKeyFile, watch = false } = options;
      const where = { port: dashboard!, host: dashboardHost, keyFile: dashboardKeyFile };
      page = await serveDashboard({ server, feed, watch, ...where });
      say(`dashboard at ${page.url}`);
    }
    if (options.stdio) await Promise.race([serveStdio(server), stopSignal(), running.failed]);
    else {
      const address: Address = socket === undefined ? { port: port!, host } : { path: socket };
      const listening = await listenOn(server, address);
      say(`listening at ${listening.address}`);
      await Promise.race([stopSignal(), running.failed]).finally(() => listening.close());
    }
  } finally {
    await page?.close();
    feed?.close();
    await measured?.close();
    await running.close();
    await decisionLog?.close();
    // A client may keep its end open; all answers are written by now.
    process.stdin.destroy();
  }
}
