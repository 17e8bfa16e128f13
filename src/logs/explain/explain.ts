/** Explains from a log why something waits at a place: where it stands, who must act, since when, and what led there. */

import { given } from '../../core/collections/given.ts';
import { awaitedOf, type OpenCommand } from '../../core/why/command-table.ts';
import { isUnasked } from '../../core/why/obligations.ts';
import { lateness } from '../../core/why/overdue.ts';
import type { SuspendedTries } from '../../core/why/suspended-tries.ts';
import {
  mostOwed,
  type OwedEvent,
  owedEvent,
  type StalledThing,
  type Standpoint,
  type Why,
} from '../../core/why/why.ts';
import { isPolicyError, refuse } from '../../errors.ts';
import type { FoundLine, Log, LoggedSession, Place } from '../format/log.ts';
import { idIn } from '../format/message-ids.ts';
import type { SessionPlay } from '../replay/play.ts';
import type { LogGap } from '../replay/replay-log.ts';
import { type ChainStep, chainOf, stepOf } from './chain.ts';

/** The subject of a question: an id, with its kind if the user named one. */
export interface Asked {
  /** The id itself. */
  readonly id: string;
  /** Kinds in which the id is looked up; none for an engine or worker. */
  readonly kinds?: readonly string[] | undefined;
  /** The word for the kind, such as `prompt`. */
  readonly word: string;
}

/** An owed event, and whether it is overdue. */
export interface Owed extends OwedEvent {
  /** Seconds of waiting; with `atLeast`, a lower bound. */
  readonly waitedSeconds?: number;
  /** Set if the wait is longer, but its beginning is unknown. */
  readonly atLeast?: true;
  /** Whether the wait is much longer than usual in this log. */
  readonly overdue: boolean;
}

/** Why something waits, or a whole session. */
export interface Explanation {
  /** Name of the session; empty for the session of an event log. */
  readonly session: string;
  /** Id of the policy. */
  readonly policy: string;
  /** Number of events before the explained place. */
  readonly seq: number;
  /** Time of the place, in seconds on the clock of the session. */
  readonly at: number;
  /** The subject of the question; absent if the whole session was meant. */
  readonly asked: Asked | undefined;
  /**
   * `stuck`: something is overdue; `suspended`: nothing is overdue, but all tries fail, and only single tries are made;
   * `stalled`: work goes on without gain; `waits`: the thing waits, and nothing is overdue; `idle`: nothing is owed; `ended`: the
   * thing is not held any longer; `unborn`: the thing comes later; `unknown`: no state is known at this place.
   */
  readonly verdict: 'stuck' | 'suspended' | 'stalled' | 'waits' | 'idle' | 'ended' | 'unborn' | 'unknown';
  /** Where the thing stands or, for a session, where its round stands. */
  readonly standing: Standpoint | undefined;
  /** The chain of things that this waits for. */
  readonly through: readonly Standpoint[];
  /** Owed events: overdue ones first, then the oldest. */
  readonly owed: readonly Owed[];
  /** Number of further events that are owed. */
  readonly more: number;
  /** The round for which work goes on without gain, if there is one. */
  readonly stalled?: StalledThing;
  /** Where all tries fail and only single tries are made, if this holds everything up. */
  readonly suspended?: readonly SuspendedTries[];
  /** The same, if other work goes on. */
  readonly singles?: readonly SuspendedTries[];
  /** Latest steps that led to this state, oldest first. */
  readonly chain: readonly ChainStep[];
  /** What the log lacks, or what makes the answer less certain. */
  readonly notes: readonly string[];
}

/** Explains one session of a log. Throws `unknown_id` for an id that the log lacks. */
export function explainSession(
  index: Log,
  session: LoggedSession,
  place: Place | undefined,
  asked?: Asked,
): Explanation {
  const { to, notes } = placeOf(index, session, place);
  const play = playTo(index, session, to, notes, place === undefined);
  notes.push(...doubts(session, play));
  const now = place !== undefined && 'at' in place ? place.at : play.seq >= session.seq ? session.end : 0;
  const at = Math.max(now, play.policy?.at ?? 0);
  const base = { session: session.session, policy: session.policy, seq: play.seq, at, asked, notes };
  const nothing = { standing: undefined, through: [], owed: [], more: 0, chain: [] };
  if (play.policy === undefined) return { ...base, ...nothing, verdict: 'unknown' };
  const scene = { index, session: session.session, play, at };
  const found = asked === undefined ? ofSession(scene) : ofThing(scene, asked);
  if (found === undefined) return { ...base, ...nothing, ...fate(index, session, play.seq, asked!) };
  const { owed } = found;
  const verdict = verdictOf(found);
  const chain = chainOf(index, session, play.seq, idsOf(asked, found));
  if (asked !== undefined || owed.length === 0) return { ...base, ...found, verdict, chain };
  return { ...base, ...found, ...heldUp(play, chain, owed[0]!), verdict, chain };
}

/** Returns the place to play to, and notes about this place: inside a gap, it is the end of the gap. */
function placeOf(index: Log, session: LoggedSession, place: Place | undefined): { to: Place; notes: string[] } {
  const { first, seq, gaps } = session;
  if (place === undefined) return { to: { seq: Number.MAX_SAFE_INTEGER }, notes: [] };
  if ('seq' in place && (place.seq < first || place.seq > seq)) {
    refuse('invalid_input', 'at', `an event of the log, from ${first} to ${seq}`, place.seq);
  }
  const reached = 'seq' in place ? place.seq : index.stateAt(session.session, place).seq + 1;
  const gap = gaps.find(({ from, to }) => from <= reached && reached <= to);
  if (gap === undefined) return { to: place, notes: [] };
  return { to: { seq: gap.to }, notes: [`${inGap(gap)}: this is the state after event ${gap.to}`] };
}

const inGap = ({ from, to, where }: LogGap): string =>
  `${from === to ? `event ${from} is` : `events ${from} to ${to} are`} not in the log (before ${where})`;

/** Plays to a place. If no state is known at the end of the log, plays to the last known state. */
function playTo(index: Log, session: LoggedSession, to: Place, notes: string[], isEnd: boolean): SessionPlay {
  const play = index.stateAt(session.session, to);
  const last = session.gaps.at(-1);
  if (!isEnd || play.policy !== undefined || last === undefined || play.problem !== undefined) return play;
  const before = index.stateAt(session.session, { seq: last.from - 1 });
  if (before.policy === undefined) return play;
  notes.push(`${inGap(last)}, and no snapshot follows: this is the state after event ${before.seq}`);
  return before;
}

/** Says what the log lacks before a place, and what makes an answer less certain. */
function* doubts({ first, gaps, differs, closed, seq }: LoggedSession, play: SessionPlay): Generator<string> {
  if (first > 0) yield `the log begins after event ${first}`;
  const gap = gaps.findLast(({ to }) => to < play.seq);
  if (gap !== undefined) yield `${inGap(gap)}: it goes on from the snapshot after that`;
  const { policy } = play;
  if (policy !== undefined && policy.definition.waits === undefined)
    yield `${policy.id} declares no \`waits\`: all that is known of a wait is which of its commands are not answered`;
  if (play.problem !== undefined) yield `this version cannot play the log: ${play.problem}`;
  if (differs !== undefined && differs <= play.seq)
    yield `this version decides otherwise than the log from event ${differs} on (see rollflex replay)`;
  if (closed !== undefined && play.seq >= seq)
    yield closed === 'stopped' ? 'the server was stopped after this' : `the session was ${closed} after this`;
}

type Found = Pick<Explanation, 'standing' | 'through' | 'owed' | 'more' | 'stalled' | 'suspended' | 'singles'>;

/** Returns the verdict, which comes first in an answer. */
export function verdictOf({
  owed,
  stalled,
  suspended,
}: Pick<Found, 'owed' | 'stalled' | 'suspended'>): Explanation['verdict'] {
  if (owed.some(({ overdue }) => overdue)) return 'stuck';
  if (suspended !== undefined) return 'suspended';
  if (stalled !== undefined) return 'stalled';
  return owed.length > 0 ? 'waits' : 'idle';
}

/**
 * The place of an event in the order of causes. A timer that has not fired is certainly a fault, and would end other waits; but a
 * timer that is not due yet comes last. Answers to commands come before events that the host sends by itself, because the host
 * may also be waiting.
 */
function rank({ who, overdue, asked }: Owed): number {
  if (who === 'timer') return overdue ? 0 : 5;
  const isAsked = asked !== undefined && !isUnasked(asked.type);
  return (overdue ? 1 : 3) + (isAsked ? 0 : 1);
}

const byNeed = (a: Owed, b: Owed): number =>
  (a.overdue || b.overdue ? rank(a) - rank(b) : Number(a.who === 'timer') - Number(b.who === 'timer')) ||
  (b.waitedSeconds ?? -1) - (a.waitedSeconds ?? -1);

/**
 * Adds how long an event has been awaited. If the beginning is unknown, the wait is at least as old as `last`, the last event
 * that concerned it.
 */
export function owedAt(one: OwedEvent, at: number, last?: number): Owed {
  const known = one.dueAt ?? one.since;
  const from = known ?? last;
  return {
    ...one,
    ...(from === undefined || (one.dueAt ?? 0) > at ? undefined : { waitedSeconds: at - from }),
    ...(known === undefined && last !== undefined ? { atLeast: true as const } : undefined),
    overdue: lateness({ ...one, since: one.since ?? last }, at) > 1,
  };
}

/** The scene of a question: the log, a session, its state at the place, and the time there. */
interface Scene {
  readonly index: Log;
  readonly session: string;
  readonly play: SessionPlay;
  readonly at: number;
}

const inOrder = (all: readonly OwedEvent[], scene: Scene): Owed[] =>
  all.map((one) => owedAt(one, scene.at, one.since ?? one.dueAt ?? lastOf(scene, one))).sort(byNeed);

/** Returns the time of the last event that mentions the owed one's ids; the time of the last event of all if it has no id. */
function lastOf({ index, session, play }: Scene, { event }: OwedEvent): number {
  const id = idIn(event);
  if (id === undefined) return play.policy!.at;
  for (const { event: last } of index.linesOf(session, id, play.seq)) return last.at;
  return play.policy!.at;
}

/**
 * The unanswered commands of a policy that does not say what blocks what. Events that some hosts send unasked may not be awaited.
 */
function commandsOwed(play: SessionPlay, isMeant: (one: OpenCommand) => boolean): OwedEvent[] {
  return [...play.commands!.open]
    .filter((one) => !isUnasked(one.type) && isMeant(one))
    .map((one) => owedEvent(awaitedOf(one), { answeredBy: () => one, usual: (type) => play.commands!.usual(type) }));
}

function cut(all: Owed[]): Pick<Found, 'owed' | 'more'> {
  return { owed: all.slice(0, mostOwed), more: Math.max(0, all.length - mostOwed) };
}

function ofSession(scene: Scene): Found {
  const { play } = scene;
  const { policy, commands } = play;
  if (policy!.definition.waits === undefined) {
    return {
      standing: undefined,
      through: [],
      ...cut(
        inOrder(
          commandsOwed(play, () => true),
          scene,
        ),
      ),
    };
  }
  const { owed, more, stalled } = policy!.why(undefined, undefined, commands);
  const holdingUp = commands!.suspended.holdingUp(scene.at);
  const { all } = commands!.suspended;
  const suspended = holdingUp.length > 0 ? { suspended: holdingUp } : all.length > 0 ? { singles: all } : undefined;
  return { standing: undefined, through: [], owed: inOrder(owed, scene), more, ...given({ stalled }), ...suspended };
}

/** Returns why a thing waits; `undefined` if it is not held. */
function ofThing(scene: Scene, { id, kinds }: Asked): Found | undefined {
  const { play } = scene;
  const policy = play.policy!;
  const isGeneric = policy.definition.waits === undefined;
  for (const kind of kinds ?? []) {
    const found = whyOrNothing(() => policy.why(id, kind, play.commands));
    if (found !== undefined) return thing(found, scene);
  }
  const owed = isGeneric
    ? commandsOwed(play, ({ by, ids }) => by === id || Object.values(ids).includes(id))
    : owedBy(play, id);
  if (kinds !== undefined || owed.length === 0) {
    const found = whyOrNothing(() => policy.why(id, undefined, play.commands));
    if (found !== undefined) return thing(found, scene, owed);
  }
  if (owed.length === 0) return undefined;
  const plural = owed.length === 1 ? 'one answer' : `${owed.length} answers`;
  const standing = { what: 'others', id, stands: `owes ${plural}` };
  return { standing, through: [], ...cut(inOrder(owed, scene)) };
}

/** Returns what an engine or a worker owes. The policy's answer is limited in length, so the rest comes from its commands. */
function owedBy(play: SessionPlay, id: string): OwedEvent[] {
  const { owed, more } = play.policy!.why(undefined, undefined, play.commands);
  const all = [...(more > 0 ? commandsOwed(play, ({ by }) => by === id) : []), ...owed.filter(({ by }) => by === id)];
  return [...new Map(all.map((one) => [JSON.stringify(one.event), one])).values()];
}

function thing(found: Why, scene: Scene, otherwise: readonly OwedEvent[] = []): Found {
  const { what, id, stands, since, through, owed, more, stalled } = found;
  const standing = { what, id, stands, ...(since === undefined ? undefined : { since }) };
  return { standing, through, owed: inOrder(owed.length > 0 ? owed : otherwise, scene), more, ...given({ stalled }) };
}

function whyOrNothing(why: () => Why): Why | undefined {
  try {
    return why();
  } catch (error) {
    if (isPolicyError(error) && error.code === 'unknown_id') return undefined;
    throw error;
  }
}

/** Returns what the log says about a thing that is not held. Throws `unknown_id` for an unknown id. */
function fate(index: Log, { session }: LoggedSession, seq: number, { id, word }: Asked) {
  const [last] = index.linesOf(session, id, seq);
  if (last !== undefined) return { verdict: 'ended' as const, chain: [stepOf(last, new Set([id]))] };
  let first: FoundLine | undefined;
  for (const one of index.linesOf(session, id)) first = one;
  if (first !== undefined) return { verdict: 'unborn' as const, chain: [stepOf(first, new Set([id]))] };
  const meant = index.nearestId(id);
  return refuse('unknown_id', word, `an id of the log${meant === undefined ? '' : ` (did you mean "${meant}"?)`}`, id);
}

/** The ids whose lines led to a standing. Ids of rounds and engines appear in too many lines to be helpful. */
function idsOf(asked: Asked | undefined, { through, owed }: Found): Set<string> {
  const ids = new Set<string>();
  if (asked !== undefined && asked.word !== 'round' && asked.kinds !== undefined) ids.add(asked.id);
  const [first] = owed;
  for (const { what, id } of through.slice(-2)) if (what !== 'rounds') ids.add(id);
  for (const [name, id] of Object.entries(first?.event ?? {})) {
    if (name.endsWith('Id') && name !== 'roundId' && typeof id === 'string') ids.add(id);
  }
  if (ids.size === 0 && asked !== undefined) ids.add(asked.id);
  if (ids.size === 0 && typeof first?.event.roundId === 'string') ids.add(first.event.roundId);
  return ids;
}

/** Returns the standing of the round or prompt that waits for an event. */
function heldUp(play: SessionPlay, chain: readonly ChainStep[], { event }: Owed): Pick<Found, 'standing' | 'through'> {
  const all: object[] = [event, ...chain.flatMap((one) => one.decisions).reverse()];
  for (const [field, kind] of [
    ['roundId', 'rounds'],
    ['promptId', 'prompts'],
  ] as const) {
    for (const one of all) {
      const id = (one as Readonly<Record<string, unknown>>)[field];
      if (typeof id !== 'string') continue;
      const found = whyOrNothing(() => play.policy!.why(id, kind, play.commands));
      if (found === undefined) continue;
      const { what, stands } = found;
      const isSame = JSON.stringify(found.owed[0]?.event) === JSON.stringify(event);
      return { standing: { what, id, stands }, through: isSame ? found.through : [] };
    }
  }
  return { standing: undefined, through: [] };
}
