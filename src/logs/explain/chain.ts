/** The chain of events and decisions that led to where something stands. */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { FoundLine, Log, LoggedSession } from '../format/log.ts';
import { eachId } from '../format/message-ids.ts';

/** A step of the chain that led to where something stands. */
export interface ChainStep {
  /** Number of the event. */
  readonly seq: number;
  /** Time of the event, in seconds on the session's clock. */
  readonly at: number;
  /** The event itself. */
  readonly event: AnyEvent;
  /** The decisions about the thing that the event led to. */
  readonly decisions: readonly AnyDecision[];
}

/** Most steps in a chain. */
const mostSteps = 16;
/** Most lines to look at per id of a chain. */
const mostLines = 200;

/** Returns the latest steps before an event that are about some ids, oldest first. */
export function chainOf(index: Log, { session }: LoggedSession, seq: number, ids: Set<string>): ChainStep[] {
  const steps = new Map<number, ChainStep>();
  for (const id of ids) {
    let looked = 0;
    for (const line of index.linesOf(session, id, seq)) {
      if (!steps.has(line.seq)) steps.set(line.seq, stepOf(line, ids));
      looked += 1;
      if (looked === mostLines) break;
    }
  }
  return [...steps.values()].sort((a, b) => a.seq - b.seq).slice(-mostSteps);
}

export function stepOf({ seq, event, decisions }: FoundLine, ids: ReadonlySet<string>): ChainStep {
  const isAbout = (one: object): boolean => {
    let isHere = false;
    eachId(one, (id) => {
      if (ids.has(id)) isHere = true;
    });
    return isHere;
  };
  const made = decisions as unknown as readonly AnyDecision[];
  return { seq, at: event.at, event, decisions: made.filter(isAbout) };
}
