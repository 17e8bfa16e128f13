/**
 * Logs of programs (`recordEvents`) and of servers: why something waits, whether this version decides as a log says, how two logs
 * differ, and what a job did. Without the module that reads files, this entry also runs in a browser, where `rollflex/logs`
 * resolves to it.
 */
import type { LogFile } from './format/decision-log.ts';
import type { Log } from './format/log.ts';
import { LogView } from './job/log-view.ts';
import { type LogOptions, registryOf, restoring } from './options.ts';
import { MemoryLog } from './replay/memory-log.ts';
import { type LogReplay, replayLog } from './replay/replay-log.ts';
import { traceless } from './replay/traceless.ts';

export type { SuspendedTries } from '../core/why/suspended-tries.ts';
export type { OwedEvent, StalledThing, Standpoint } from '../core/why/why.ts';
export type { ChainStep } from './explain/chain.ts';
export type { Asked, Explanation, Owed } from './explain/explain.ts';
export { type ExplainOptions, explain, explanationText, type LogExplanation } from './explain/log.ts';
export {
  isDecisionLog,
  type LogFile,
  type LogLine,
  type LogLineOf,
  logLine,
  type ReadLine,
  readDecisionLog,
} from './format/decision-log.ts';
export { type LogEntry, type Replay, recordEvents, replayEvents } from './format/event-log.ts';
export type { FoundLine, Log, LoggedSession, LogLacks, Place } from './format/log.ts';
export { readEventLog } from './format/read-event-log.ts';
export type { Wanted } from './job/find.ts';
export type { Missed, Timeline } from './job/job-view.ts';
export type { LogView, Moment, SessionItem, ViewOptions, WhyText } from './job/log-view.ts';
export type { Round } from './job/rounds.ts';
export type { AskedGroup, StandingGroup } from './job/standing.ts';
export type { TreeNode, TreePage } from './job/tree.ts';
export type { JobWindow } from './job/window.ts';
export type { LogOptions } from './options.ts';
export { compareLogs, type LogComparison, type NamedLines, type SessionDiff } from './replay/compare.ts';
export type { EventPair, LogDiff, Parting } from './replay/diff.ts';
export type { DifferenceGroup, DifferencePlace, GroupExample, GroupKind } from './replay/difference-groups.ts';
export type { DecisionDifference, DifferenceKind, FieldPair } from './replay/differences.ts';
export type { EndedOtherwise, FollowedPair, LastWord, Side } from './replay/followed.ts';
export type { LogDifference, LogGap, LogReplay, SessionReplay } from './replay/replay-log.ts';

/**
 * Reads a log into memory: one event log, or the files of a decision log in their order.
 *
 * @throws PolicyError `invalid_input` for a broken line, with its file and number
 */
export const readLog = (files: readonly LogFile[], options: LogOptions = {}): Log =>
  traceless(() => new MemoryLog(files, restoring(options)));

/**
 * Replays a log and compares every decision: groups what this version decides differently, and says what the log lacks.
 *
 * @throws PolicyError `invalid_input` for lines out of order; `unknown_id` if the log has no such session
 */
export function replay(log: Pick<Log, 'lines'>, options: LogOptions & { readonly session?: string } = {}): LogReplay {
  return traceless(() => replayLog(log.lines(), registryOf(options).restore, options.session));
}

/** Returns the views of a log: its state after each event, why something waits, the charts of a job, searches, and a trace. */
export const viewOf = (log: Log, options: LogOptions & { readonly isLive?: boolean } = {}): LogView =>
  new LogView(log, { registry: registryOf(options), ...(options.isLive && { isLive: true }) });
