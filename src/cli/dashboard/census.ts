/** Goes through what a policy holds: where everything stands, and who has to act. */
import type { OpenCommand } from '../../core/kept-commands.ts';
import { lateness } from '../../core/overdue.ts';
import { type AwaitedEvent, isEvent } from '../../core/waits.ts';
import type { Holdings, KnownTimes } from '../../core/why.ts';
import { type Sender, senderOf } from '../../schemas/senders.ts';
import type { AskedGroup, StandingGroup } from '../debug/standing.ts';
import { singular } from '../explain/text.ts';

/** Answers of one kind that one actor owes. */
export interface OwedGroup extends Omit<AskedGroup, 'seconds'> {
  readonly who: Sender;
  /** How many of them are overdue. */
  readonly late: number;
  /** Seconds for which the oldest is owed, where that is known; of a timer, seconds since it is due. */
  readonly seconds?: number;
}

/** What a policy holds, and what is owed to it. */
export interface Census {
  readonly owed: readonly OwedGroup[];
  readonly held: readonly StandingGroup[];
  /** Whether it holds more than was gone through. */
  readonly isCut: boolean;
}

/** Most things that are gone through, groups that are listed, and ids of each. */
const [mostThings, mostGroups, mostIds] = [100_000, 40, 6];

interface Group {
  readonly all: { readonly id: string; readonly since: number | undefined }[];
}
interface Owing extends Group {
  readonly answer: string;
  readonly by: string | undefined;
  late: number;
}

/** The first of a group by their times, and since when the first of these is known. */
function oldest({ all }: Group): { ids: string[]; since: number | undefined } {
  all.sort((a, b) => (a.since ?? Number.MAX_VALUE) - (b.since ?? Number.MAX_VALUE));
  return {
    ids: [...new Set(all.map(({ id }) => id))].filter((id) => id !== '').slice(0, mostIds),
    since: all[0]?.since,
  };
}

const idIn = (event: Readonly<Record<string, unknown>>): string => {
  const ids = Object.entries(event).filter(([name, id]) => name.endsWith('Id') && typeof id === 'string');
  const [, id] = ids.find(([name]) => name !== 'roundId' && name !== 'engineId') ?? ids[0] ?? [];
  return (id as string | undefined) ?? '';
};

/**
 * Takes the census, one thing at a step. The state may change between two steps: then the sums are of no single moment, but everything
 * stands where it stood when it was looked at.
 *
 * @param asked - what was asked for, of a policy that does not say what blocks what
 */
export function* census(
  { kinds, ids, of }: Holdings,
  asked: readonly OpenCommand[],
  times: KnownTimes,
  at: number,
): Generator<undefined, Census> {
  const standing = new Map<string, Group & { readonly what: string; readonly stands: string }>();
  const owing = new Map<string, Owing>();
  const seen = new Set<string>();
  let left = mostThings;
  for (const what of kinds) {
    for (const id of [...ids(what)]) {
      if (left-- <= 0) break;
      yield;
      const found = of({ what, id });
      if (found === undefined) continue;
      const place = `${what}\n${found.stands}`;
      let group = standing.get(place);
      if (group === undefined) standing.set(place, (group = { what, stands: found.stands, all: [] }));
      group.all.push({ id, since: found.since });
      for (const one of found.for) {
        if (left-- <= 0) break;
        if (isEvent(one)) owe(owing, seen, one, times, at);
      }
    }
  }
  for (const { answer, ids: named, since, by } of asked) {
    const isTimer = answer === 'timer.fired';
    owe(owing, seen, { event: { type: answer, ...named }, by, ...(isTimer ? { dueAt: since } : { since }) }, times, at);
    yield;
  }
  return {
    owed: [...owing.values()]
      .map((one) => owedGroup(one, at))
      .sort(byNeed)
      .slice(0, mostGroups),
    held: [...standing.values()].slice(0, mostGroups).map((one) => heldGroup(one, at)),
    isCut: left <= 0,
  };
}

function owe(
  owing: Map<string, Owing>,
  seen: Set<string>,
  { event, since: known, by: named, dueAt }: AwaitedEvent,
  times: KnownTimes,
  at: number,
): void {
  const text = JSON.stringify(event);
  if (seen.has(text)) return;
  seen.add(text);
  const asked = times.answeredBy?.(event);
  const since = known ?? asked?.since;
  const by = named ?? asked?.by;
  const key = `${event.type}\n${by ?? ''}`;
  let group = owing.get(key);
  if (group === undefined) owing.set(key, (group = { answer: event.type, by, late: 0, all: [] }));
  group.all.push({ id: idIn(event), since: dueAt ?? since });
  if (lateness({ since, dueAt, usual: times.usual?.(event.type) }, at) > 1) group.late += 1;
}

function owedGroup(group: Owing, at: number): OwedGroup {
  const { answer, by, late, all } = group;
  const { ids, since } = oldest(group);
  return {
    ...{ who: senderOf(answer), answer, ...(by === undefined ? undefined : { by }), count: all.length, ids },
    ...(since === undefined ? undefined : { seconds: at - since }),
    ...{ late, overdue: late > 0 },
  };
}

function heldGroup(group: Group & { readonly what: string; readonly stands: string }, at: number): StandingGroup {
  const { what, stands, all } = group;
  const { ids, since } = oldest(group);
  const kind = all.length === 1 ? singular(what) : what;
  return { what: kind, stands, count: all.length, ids, ...(since === undefined ? undefined : { seconds: at - since }) };
}

/** What is overdue first, timers last, and then what is owed for longest. */
const byNeed = (a: OwedGroup, b: OwedGroup): number =>
  Number(b.overdue) - Number(a.overdue) ||
  Number(a.who === 'timer') - Number(b.who === 'timer') ||
  (b.seconds ?? -1) - (a.seconds ?? -1);
