/**
 * Event logs in JSON lines. The first line holds the snapshot with which the log begins; each further line holds an event with its
 * decisions. A replay gives the same decisions, byte for byte.
 */

import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { Policy } from '../../core/machine/policy.ts';
import type { Snapshot } from '../../core/machine/snapshot.ts';
import { refuse } from '../../errors.ts';

/** A line of a log after the first. */
export interface LogEntry {
  /** The event as it was applied. */
  readonly event: AnyEvent;
  /** Decisions on the event, in order. */
  readonly decisions: readonly AnyDecision[];
}

// biome-ignore lint/suspicious/noExplicitAny: a log does not depend on the shape of the policy
type AnyPolicy = Policy<any, any, any, any, any>;

/**
 * Records every event that a policy applies from now on, including those that listeners send.
 *
 * @param write - takes each line, without its line break; it should not throw, since the caller of `send` would get its error
 * @returns a function that stops the recording
 */
export function recordEvents(policy: AnyPolicy, write: (line: string) => void): () => void {
  write(JSON.stringify({ snapshot: policy.snapshot() }));
  return policy.observe((event: AnyEvent, decisions: readonly AnyDecision[]) =>
    write(JSON.stringify({ event, decisions })),
  );
}

/** Result of {@link replayEvents}. */
export interface Replay {
  /** Events that were replayed. */
  readonly events: number;
  /** Decisions on these events, each of which was compared with the log. */
  readonly decisions: number;
  /** The first event whose decisions differ from the log. */
  readonly difference?: { line: number; event: AnyEvent; logged: string; replayed: string };
  /** The state at the end. */
  readonly snapshot: Snapshot;
}

function readLine(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The error below names the line.
  }
  refuse('invalid_input', `line ${number}`, 'a JSON object', line);
}

/**
 * Replays a log and compares every decision.
 *
 * @param lines - the lines of the log
 * @param restore - makes the policy from the snapshot of the first line
 * @throws PolicyError `invalid_input` for a broken line, with the number of the line
 */
export function replayEvents(lines: Iterable<string>, restore: (snapshot: unknown) => AnyPolicy): Replay {
  let policy: AnyPolicy | undefined;
  let difference: Replay['difference'];
  let number = 0;
  let events = 0;
  let decisions = 0;
  for (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    const entry = readLine(line, number);
    if (policy === undefined) {
      policy = restore(entry.snapshot);
      continue;
    }
    if (typeof entry.event !== 'object' || entry.event === null || !Array.isArray(entry.decisions)) {
      refuse('invalid_input', `line ${number}`, 'an object with `event` and `decisions`', line);
    }
    const answer: AnyDecision[] = policy.send(entry.event as AnyEvent);
    events += 1;
    decisions += answer.length;
    const logged = JSON.stringify(entry.decisions);
    const replayed = JSON.stringify(answer);
    if (logged !== replayed) difference ??= { line: number, event: entry.event as AnyEvent, logged, replayed };
  }
  if (policy === undefined) refuse('invalid_input', 'line 1', 'a log that begins with a snapshot', undefined);
  const snapshot = policy.snapshot();
  return { events, decisions, ...(difference === undefined ? {} : { difference }), snapshot };
}
