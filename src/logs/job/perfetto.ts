/**
 * A session of a log as a Chrome trace (ui.perfetto.dev): events on one track, commands as spans by the actor that has to answer,
 * and flows from an event to its commands, and from these to the answers.
 */

import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { OpenCommand } from '../../core/why/command-table.ts';
import type { Messages } from '../../core/why/obligations.ts';
import { OpenCommands } from '../../core/why/open-commands.ts';
import { senderOf } from '../../schemas/senders.ts';
import type { FoundLine } from '../format/log.ts';

/** An entry of the trace: a name of a process or track (`M`), a span (`X`), the begin and the end of a flow (`s`, `f`). */
export interface TraceEntry {
  readonly name: string;
  readonly cat?: string;
  readonly ph: 'M' | 'X' | 's' | 'f';
  readonly pid: number;
  readonly tid: number;
  /** Microseconds since the first event of the trace. */
  readonly ts: number;
  readonly dur?: number;
  readonly id?: number;
  readonly bp?: 'e';
  readonly args?: Readonly<Record<string, unknown>>;
}

/** A command without an answer, with the beginning of its span. */
interface Open {
  readonly one: OpenCommand;
  readonly ts: number;
  readonly lane: number;
  readonly lanes: boolean[];
  readonly tid: number;
}

/** The track of the events. */
const eventsTrack = 1;
/** Most commands that are followed at once; the oldest are forgotten first. */
const mostOpen = 1 << 20;

/** The input for a trace of a session. */
export interface TracedSession {
  readonly pid: number;
  readonly name: string;
  /** Messages that the policy takes and makes. */
  readonly messages: Messages;
  readonly events: Iterable<FoundLine>;
  /** Time at the end of the session, in seconds. */
  readonly end: number;
  /** Time of the trace's first event, in seconds. */
  readonly origin: number;
}

/** Returns the entries of a session. */
export function* traceOf({ pid, name, messages, events, end, origin }: TracedSession): Generator<TraceEntry> {
  /** By actor: its tracks, and which of them are occupied, because overlapping spans need separate tracks. */
  const actors = new Map<string, boolean[]>();
  const tracks = new Map<string, number>();
  const made: TraceEntry[] = [];
  let [now, flows] = [-1, 0];

  const trackOf = (actor: string, lane: number): number => {
    const key = `${actor}\n${lane}`;
    const known = tracks.get(key);
    if (known !== undefined) return known;
    const tid = eventsTrack + 1 + tracks.size;
    tracks.set(key, tid);
    made.push(naming(pid, tid, 'thread_name', lane === 0 ? actor : `${actor} · ${lane + 1}`));
    return tid;
  };
  const flow = (ph: 's' | 'f', id: number, tid: number, ts: number): void => {
    made.push({
      name: 'cause',
      cat: 'cause',
      ph,
      pid,
      tid,
      ts,
      id,
      ...(ph === 'f' ? { bp: 'e' as const } : undefined),
    });
  };
  const close = ({ one, ts, lane, lanes, tid }: Open, until: number, outcome: string): void => {
    const { type, ids, reason, answer } = one;
    const [id = ''] = Object.values(ids);
    const args = { ...ids, reason, answer, outcome };
    made.push({ name: `${type} ${id}`.trim(), ph: 'X', pid, tid, ts, dur: Math.max(1, until - ts), args });
    lanes[lane] = false;
  };
  const open = new Set<Open>();
  const commands = new OpenCommands<Open>(messages, mostOpen, undefined, {
    opened(one) {
      const actor = actorOf(one);
      let lanes = actors.get(actor);
      if (lanes === undefined) actors.set(actor, (lanes = []));
      const free = lanes.indexOf(false);
      const lane = free < 0 ? lanes.length : free;
      lanes[lane] = true;
      const mark = { one, ts: now, lane, lanes, tid: trackOf(actor, lane) };
      open.add(mark);
      flow('s', ++flows, eventsTrack, now);
      flow('f', flows, mark.tid, now);
      return mark;
    },
    ended(mark, isAnswered) {
      open.delete(mark);
      close(mark, now, isAnswered ? 'answered' : 'replaced');
      if (!isAnswered) return;
      flow('s', ++flows, mark.tid, Math.max(mark.ts, now - 1));
      flow('f', flows, eventsTrack, now);
    },
    longest: () => Number.POSITIVE_INFINITY,
  });

  yield naming(pid, 0, 'process_name', name);
  yield naming(pid, eventsTrack, 'thread_name', 'events');
  for (const { seq, event, decisions } of events) {
    // Events at the same time are placed one after the other.
    now = Math.max(now + 1, microseconds(event.at - origin));
    const reasons = (decisions as unknown as readonly AnyDecision[]).map((one) => `${one.type}: ${one.reason?.code}`);
    const args = { seq, event, decisions: reasons };
    made.push({ name: event.type, ph: 'X', pid, tid: eventsTrack, ts: now, dur: 1, args });
    commands.follow(event as AnyEvent, decisions as unknown as readonly AnyDecision[], event.at);
    yield* made.splice(0);
  }
  for (const one of open) close(one, Math.max(now, microseconds(end - origin)), 'not answered');
  yield* made;
}

const microseconds = (seconds: number): number => Math.round(seconds * 1e6);

/** Names the actor that has to answer: an engine, a worker, or another sender of such events. */
function actorOf({ answer, by }: OpenCommand): string {
  const who = senderOf(answer);
  return by === undefined ? who : `${who} ${by}`;
}

const naming = (pid: number, tid: number, name: string, text: string): TraceEntry => ({
  name,
  ph: 'M',
  pid,
  tid,
  ts: 0,
  args: { name: text },
});
