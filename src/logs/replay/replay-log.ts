/** Replays a decision log: every session from its snapshots, decision by decision, with a list of the gaps. */
import { refuse } from '../../errors.ts';
import type { ReadLine } from '../format/decision-log.ts';
import { type DifferenceGroup, DifferenceGroups } from './difference-groups.ts';
import { Replaying, type Restore, type SessionReplay } from './replaying.ts';

export type { LogDifference, LogGap, SessionReplay } from './replaying.ts';

/** The result of replaying a log. */
export interface LogReplay {
  /** The sessions of the log, in the order in which they were opened. */
  readonly sessions: readonly SessionReplay[];
  /** What differs, grouped by the decision and by the codes of its reasons; empty if every decision is as logged. */
  readonly groups: readonly DifferenceGroup[];
  /** Lines that the server reports as dropped. */
  readonly droppedLines: number;
  /** Number of files whose last line is cut off. */
  readonly tornFiles: number;
}

/**
 * Replays a log and compares every decision. After a difference the replay continues, and starts again at the session's next
 * snapshot. If this version refuses an event or a snapshot, the events up to the next snapshot are not replayed.
 *
 * @param restore - makes a policy from a snapshot
 * @param only - the session to replay; all if absent
 * @throws PolicyError `invalid_input` for lines out of order; `unknown_id` if the log has no such session, or `restore` knows no
 * such policy
 */
export function replayLog(lines: Iterable<ReadLine>, restore: Restore, only?: string): LogReplay {
  const groups = new DifferenceGroups();
  const replay = replayInto(groups, lines, restore, only);
  if (only !== undefined && replay.sessions.length === 0) refuse('unknown_id', 'session', 'a session of the log', only);
  return { ...replay, groups: groups.inOrder() };
}

/** Does the same as {@link replayLog} for one of several logs whose differences are grouped together. */
export function replayInto(
  groups: DifferenceGroups,
  lines: Iterable<ReadLine>,
  restore: Restore,
  only?: string,
): Omit<LogReplay, 'groups'> {
  const replay = new Replaying(groups, restore);
  let [droppedLines, tornFiles] = [0, 0];
  for (const { where, line } of lines) {
    if (line === 'torn') tornFiles += 1;
    else if (line.kind === 'dropped') droppedLines += line.lines;
    else if (line.kind === 'log' || (only !== undefined && line.session !== only)) continue;
    else if (line.kind === 'session') replay.begin(line, where);
    else if (line.kind === 'event') replay.play(line, where);
    else if (line.kind === 'closed') replay.end(line, where);
  }
  return { sessions: replay.sessions, droppedLines, tornFiles };
}
