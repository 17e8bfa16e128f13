/**
 * The JSON-RPC server: sessions and plans over standard input and output, Unix sockets and TCP.
 *
 * @packageDocumentation
 */

export { type Clock, systemClock } from '../core/machine/clock.ts';
export {
  isDecisionLog,
  type LogFile,
  type LogLine,
  type LogLineOf,
  logLine,
  type ReadLine,
  readDecisionLog,
} from '../logs/format/decision-log.ts';
export type { DifferenceGroup, DifferencePlace, GroupExample, GroupKind } from '../logs/replay/difference-groups.ts';
export type { DifferenceKind } from '../logs/replay/differences.ts';
export {
  type LogDifference,
  type LogGap,
  type LogReplay,
  replayLog,
  type SessionReplay,
} from '../logs/replay/replay-log.ts';
export type { Restore } from '../logs/replay/replaying.ts';
export type { DecisionLog, LoggedSession, SessionDecisionLog } from '../logs/write/decision-log.ts';
export { FileDecisionLog } from '../logs/write/file-log.ts';
export { type DecisionLogOptions, decisionLogSchema } from '../logs/write/options.ts';
export type { DropReason } from '../logs/write/session-lines.ts';
export type { DecisionLogHost } from '../logs/write/writer.ts';
export type { Link, Served } from './connection/link.ts';
export { type Meter, noMeter } from './connection/meter.ts';
export { type DurableOptions, type DurableServer, durableSchema, openDurableServer } from './durable.ts';
export { type ErrorData, errorCodes, RpcError } from './methods/errors.ts';
export { limitsSchema, type ServerLimits, serverLimits } from './methods/limits.ts';
export {
  type MethodName,
  methods,
  notifications,
  type ParamsOf,
  type ResultOf,
  type RpcMethod,
} from './methods/methods.ts';
export { openRpcDocument } from './methods/openrpc.ts';
export { JsonText, type PlanJob, type Planning } from './methods/planning.ts';
export { RpcServer } from './server.ts';
export type { ServerOptions } from './service.ts';
export type { OwedAnswers, WatchOptions } from './session/watch.ts';
export { type Metrics, type MetricsListening, prometheus } from './transports/metrics.ts';
export { type PlanThreadsOptions, planThreads } from './transports/plan-threads.ts';
export { type Address, type Listening, listenOn } from './transports/socket.ts';
export { type InputStream, type OutputStream, type StdioStreams, serveStdio } from './transports/stdio.ts';
export { tokenFromFile } from './transports/token.ts';
