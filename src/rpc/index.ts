/**
 * The JSON-RPC server: sessions and plans over standard input and output, Unix sockets and TCP.
 *
 * @packageDocumentation
 */
export {
  isDecisionLog,
  type LogFile,
  type LogLine,
  type LogLineOf,
  logLine,
  type ReadLine,
  readDecisionLog,
} from '../core/decision-log.ts';
export type { DifferenceGroup, DifferencePlace, GroupExample, GroupKind } from '../core/difference-groups.ts';
export type { DifferenceKind } from '../core/differences.ts';
export { type LogDifference, type LogGap, type LogReplay, replayLog, type SessionReplay } from '../core/replay-log.ts';
export type { Restore } from '../core/replaying.ts';
export { type Clock, systemClock } from './clock.ts';
export { type DurableOptions, type DurableServer, durableSchema, openDurableServer } from './durable.ts';
export { type ErrorData, errorCodes, RpcError } from './errors.ts';
export { limitsSchema, type ServerLimits, serverLimits } from './limits.ts';
export type { Link, Served } from './link.ts';
export type { DecisionLog, LoggedSession, SessionDecisionLog } from './log/decision-log.ts';
export { FileDecisionLog } from './log/file-log.ts';
export { type DecisionLogOptions, decisionLogSchema } from './log/options.ts';
export type { DropReason } from './log/session-lines.ts';
export type { DecisionLogHost } from './log/writer.ts';
export { type Meter, noMeter } from './meter.ts';
export { type MethodName, methods, notifications, type ParamsOf, type ResultOf, type RpcMethod } from './methods.ts';
export { openRpcDocument } from './openrpc.ts';
export { JsonText, type PlanJob, type Planning } from './planning.ts';
export { RpcServer } from './server.ts';
export type { ServerOptions } from './service.ts';
export { type Metrics, type MetricsListening, prometheus } from './transports/metrics.ts';
export { type PlanThreadsOptions, planThreads } from './transports/plan-threads.ts';
export { type Address, type Listening, listenOn } from './transports/socket.ts';
export { type InputStream, type OutputStream, type StdioStreams, serveStdio } from './transports/stdio.ts';
export { tokenFromFile } from './transports/token.ts';
export type { OwedAnswers, WatchOptions } from './watch.ts';
