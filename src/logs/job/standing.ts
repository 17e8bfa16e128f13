/** A short summary of a state: held things by standing, and unanswered commands. */

import { awaitedOf } from '../../core/why/command-table.ts';
import { isUnasked } from '../../core/why/obligations.ts';
import { lateness } from '../../core/why/overdue.ts';
import { singular } from '../explain/text.ts';
import type { SessionPlay } from '../replay/play.ts';

/** Things of one kind with the same standing. */
export interface StandingGroup {
  /** Kind of the things, such as `prompts`, or `prompt` for one. */
  readonly what: string;
  /** Their standing, in words. */
  readonly stands: string;
  /** Number of things. */
  readonly count: number;
  /** Ids of the oldest things, or of the first ones if times are unknown. */
  readonly ids: readonly string[];
  /** Seconds for which the oldest thing has stood there, if the state knows it. */
  readonly seconds?: number;
}

/** Commands of one kind that one actor has not answered. */
export interface AskedGroup {
  /** The event that is awaited. */
  readonly answer: string;
  /** The engine or worker, if known. */
  readonly by?: string;
  /** Number of commands. */
  readonly count: number;
  /** Ids of the oldest commands. */
  readonly ids: readonly string[];
  /** Seconds for which the oldest command has waited; for a timer, seconds since it was due. */
  readonly seconds: number;
  /** Whether the wait is much longer than usual. */
  readonly overdue: boolean;
}

/** Most listed groups, and most ids per group. */
const [mostGroups, mostIds] = [60, 6];

/** Returns what a policy holds at a time, in the order of its kinds; of each kind the largest group first. */
export function standingOf({ policy }: SessionPlay, at: number): StandingGroup[] {
  const groups = new Map<string, { what: string; stands: string; all: { id: string; since: number | undefined }[] }>();
  const kinds: string[] = [];
  for (const { what, id, stands, since } of policy?.held() ?? []) {
    const key = `${what}\n${stands}`;
    let group = groups.get(key);
    if (group === undefined) groups.set(key, (group = { what, stands, all: [] }));
    group.all.push({ id, since });
    if (!kinds.includes(what)) kinds.push(what);
  }
  return [...groups.values()]
    .sort((a, b) => kinds.indexOf(a.what) - kinds.indexOf(b.what) || b.all.length - a.all.length)
    .slice(0, mostGroups)
    .map(({ what, stands, all }) => {
      const oldest = all.sort((a, b) => (a.since ?? 0) - (b.since ?? 0));
      const since = oldest.find((one) => one.since !== undefined)?.since;
      const ids = oldest.slice(0, mostIds).map(({ id }) => id);
      const count = all.length;
      const kind = count === 1 ? singular(what) : what;
      return { what: kind, stands, count, ids, ...(since === undefined ? undefined : { seconds: at - since }) };
    });
}

/** Returns what was asked for and is not answered at a time, by who has to answer; the oldest first, timers last. */
export function askedOf({ commands }: SessionPlay, at: number): AskedGroup[] {
  const groups = new Map<string, AskedGroup & { count: number; ids: string[]; overdue: boolean }>();
  for (const one of commands?.open ?? []) {
    const { type, answer, by, ids, since } = one;
    // Events that some hosts send unasked are awaited only if such an event has come before.
    if (isUnasked(type) && commands!.usual(answer) === undefined) continue;
    const key = `${answer}\n${by ?? ''}`;
    const [id] = Object.entries(ids).flatMap(([name, one]) => (name === 'roundId' ? [] : [one]));
    const seconds = at - since;
    let group = groups.get(key);
    if (group === undefined) {
      const usual = commands!.usual(answer);
      const overdue = lateness({ ...awaitedOf(one), usual }, at) > 1;
      group = { answer, ...(by === undefined ? undefined : { by }), count: 0, ids: [], seconds, overdue };
      groups.set(key, group);
    }
    group.count += 1;
    const shown = id ?? ids.roundId;
    if (shown !== undefined && group.ids.length < mostIds) group.ids.push(shown);
  }
  const isTimer = ({ answer }: AskedGroup): number => Number(answer === 'timer.fired');
  return [...groups.values()].sort((a, b) => isTimer(a) - isTimer(b) || b.seconds - a.seconds).slice(0, mostGroups);
}
