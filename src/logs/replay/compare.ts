/** Compares two logs, session by session. */
import { refuse } from '../../errors.ts';
import type { ReadLine } from '../format/decision-log.ts';
import { diffLogs, type LogDiff } from './diff.ts';

/** The lines of a log, with its name in messages. */
export interface NamedLines {
  /** Name in messages. */
  readonly name: string;
  /** Reads the lines from the beginning. */
  lines(): Iterable<ReadLine>;
}

/** A session in two logs. */
export interface SessionDiff extends LogDiff {
  /** Id in the first log. */
  readonly session: string;
  /** Id of the policy. */
  readonly policy: string;
}

/** Result of {@link compareLogs}. */
export interface LogComparison {
  /** Sessions that are in both logs. */
  readonly sessions: readonly SessionDiff[];
  /** Ids of sessions that are only in the first log. */
  readonly onlyOne: readonly string[];
  /** Ids of sessions that are only in the second log. */
  readonly onlyOther: readonly string[];
}

/**
 * Compares two logs: for each session, the first event or decision that differs, and what followed. If each log has only one
 * session, these are compared whatever their names.
 *
 * @param session - compares only this session
 * @throws PolicyError `invalid_input` for sessions of different policies, `unknown_id` for a log without the session
 */
export function compareLogs(one: NamedLines, other: NamedLines, session?: string): LogComparison {
  const { pairs, onlyOne, onlyOther } = sessionPairs(one, other, session);
  const sessions = pairs.map(({ policy, ...pair }): SessionDiff => {
    const diff = diffLogs(ofSession(one, pair.one), ofSession(other, pair.other));
    return { session: pair.one, policy, ...diff };
  });
  return { sessions, onlyOne, onlyOther };
}

function* ofSession(log: NamedLines, id: string): Generator<ReadLine> {
  for (const one of log.lines()) {
    if (one.line !== 'torn' && 'session' in one.line && one.line.session === id) yield one;
  }
}

/** Returns the sessions of a log with their policies. */
function sessionsIn(log: NamedLines, only: string | undefined): Map<string, string> {
  const found = new Map<string, string>();
  for (const { line } of log.lines()) {
    if (line === 'torn' || line.kind !== 'session' || (only !== undefined && line.session !== only)) continue;
    if (!found.has(line.session)) found.set(line.session, line.policy);
  }
  const expected = only === undefined ? 'a log with a session' : `a log with the session ${only}`;
  if (found.size === 0) refuse('unknown_id', log.name, expected, 'a log without it');
  return found;
}

/** Pairs sessions by id; if each log has only one session, these are a pair whatever their names. */
function sessionPairs(one: NamedLines, other: NamedLines, only: string | undefined) {
  const [left, right] = [sessionsIn(one, only), sessionsIn(other, only)];
  const isAlone = left.size === 1 && right.size === 1;
  const partner = (id: string): string | undefined => (isAlone ? [...right.keys()][0] : right.has(id) ? id : undefined);
  const pairs = [...left].flatMap(([id, policy]) => {
    const found = partner(id);
    if (found === undefined) return [];
    if (right.get(found) !== policy) refuse('invalid_input', other.name, `a session of ${policy}`, right.get(found));
    return [{ one: id, other: found, policy }];
  });
  const paired = new Set(pairs.map((pair) => pair.other));
  return {
    pairs,
    onlyOne: [...left.keys()].filter((id) => partner(id) === undefined),
    onlyOther: [...right.keys()].filter((id) => !paired.has(id)),
  };
}
