/** Rounds, requests and queue of a session up to an event, for charts: from a window of its last events, so that the work is bounded. */

import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { Messages } from '../../core/why/obligations.ts';
import type { Log, LoggedSession } from '../format/log.ts';
import { finestLevel, mostBins } from './bins.ts';
import { JobView, type Missed, type Timeline } from './job-view.ts';
import type { Round } from './rounds.ts';

/** Data for the charts of a job. */
export interface JobWindow {
  /** Sums over time. */
  readonly timeline: Timeline;
  /** Rounds in order. */
  readonly rounds: readonly Round[];
  /** Events that the log lacks. */
  readonly missed: readonly Missed[];
  /** Time of the event, in seconds on the clock of the session. */
  readonly at: number;
  /** Number of events in the window. */
  readonly events: number;
  /** Events of the log before the window. */
  readonly earlier: number;
}

/** Most events per window. */
export const windowEvents = 20_000;

/** Returns the window that ends with an event; null without one. The computation pauses between blocks of the log. */
export function* jobWindow(
  index: Log,
  { session, first }: LoggedSession,
  seq: number,
  messages: Messages,
  most = windowEvents,
): Generator<undefined, JobWindow | null> {
  const view = new JobView(messages);
  const before = Math.max(first, seq - most);
  let last = before;
  for (const block of index.blocksOf(session, before + 1, false)) {
    yield;
    for (const line of block.events()) {
      if (line.seq > seq) break;
      if (line.seq <= before) continue;
      if (line.seq > last + 1) view.miss(line.seq - last - 1);
      last = line.seq;
      view.follow(line.event as AnyEvent, line.decisions as unknown as readonly AnyDecision[]);
    }
    if (last >= seq) break;
  }
  if (view.begun === undefined) return null;
  const { at, rounds, missed, totals, begun } = view;
  const timeline = view.timeline(finestLevel(at - begun, mostBins - 1));
  return { timeline, rounds, missed, at, events: totals.events, earlier: before - first };
}
