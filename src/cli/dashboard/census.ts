/** Goes through what a policy holds: where everything stands, and who has to act. */
import { awaitedOf, type OpenCommand } from '../../core/why/command-table.ts';
import { lateness } from '../../core/why/overdue.ts';
import { type AwaitedEvent, isEvent } from '../../core/why/waits.ts';
import { awaitedSince, type Holdings, type KnownTimes } from '../../core/why/why.ts';
import { singular } from '../../logs/explain/text.ts';
import { idIn } from '../../logs/format/message-ids.ts';
import type { Census, OwedGroup } from '../../logs/job/live-answers.ts';
import type { StandingGroup } from '../../logs/job/standing.ts';
import { senderOf } from '../../schemas/senders.ts';

/** Most things of a kind that are gone through, groups that are listed, and ids of each. */
const [mostThings, mostGroups, mostIds] = [16_384, 40, 6];

/** The first of many. */
function first<T>(all: Iterable<T>, most: number): T[] {
  const found: T[] = [];
  for (const one of all) {
    if (found.length >= most) break;
    found.push(one);
  }
  return found;
}

/** Things of one kind: how many, and the first of them by their times. */
class Group {
  count = 0;
  readonly #first: { readonly id: string; readonly since: number }[] = [];

  add(id: string, since = Number.MAX_VALUE): void {
    this.count += 1;
    const first = this.#first;
    if (first.length === mostIds && since >= first.at(-1)!.since) return;
    if (first.some((one) => one.id === id)) return;
    const index = first.findIndex((one) => since < one.since);
    first.splice(index < 0 ? first.length : index, 0, { id, since });
    if (first.length > mostIds) first.pop();
  }

  get ids(): string[] {
    return this.#first.map(({ id }) => id).filter((id) => id !== '');
  }

  get since(): number | undefined {
    const [first] = this.#first;
    return first === undefined || first.since === Number.MAX_VALUE ? undefined : first.since;
  }
}
interface Standing {
  readonly group: Group;
  readonly what: string;
  readonly stands: string;
}
interface Owing {
  readonly group: Group;
  readonly answer: string;
  readonly by: string | undefined;
  late: number;
}

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
  const standing = new Map<string, Standing>();
  const owing = new Map<string, Owing>();
  const seen = new Set<string>();
  let isCut = false;
  for (const what of kinds) {
    const some = first(ids(what), mostThings + 1);
    isCut ||= some.length > mostThings;
    for (const id of some.slice(0, mostThings)) {
      yield;
      const found = of({ what, id });
      if (found === undefined) continue;
      const key = `${what}\n${found.stands}`;
      let here = standing.get(key);
      if (here === undefined) standing.set(key, (here = { what, stands: found.stands, group: new Group() }));
      here.group.add(id, found.since);
      // A round may wait for thousands of things, which are gone through by themselves.
      for (const one of found.for) if (isEvent(one)) owe(owing, seen, one, times, at);
    }
  }
  for (const one of asked) {
    owe(owing, seen, awaitedOf(one), times, at);
    yield;
  }
  return {
    owed: [...owing.values()]
      .map((one) => owedGroup(one, at))
      .sort(byNeed)
      .slice(0, mostGroups),
    held: [...standing.values()].slice(0, mostGroups).map((one) => heldGroup(one, at)),
    isCut,
  };
}

function owe(owing: Map<string, Owing>, seen: Set<string>, awaited: AwaitedEvent, times: KnownTimes, at: number): void {
  const { event, by: named, dueAt } = awaited;
  const text = JSON.stringify(event);
  if (seen.has(text)) return;
  seen.add(text);
  const asked = times.answeredBy?.(event);
  const since = awaitedSince(awaited, asked);
  const by = named ?? asked?.by;
  const key = `${event.type}\n${by ?? ''}`;
  let one = owing.get(key);
  if (one === undefined) owing.set(key, (one = { answer: event.type, by, late: 0, group: new Group() }));
  one.group.add(idIn(event) ?? '', dueAt ?? since);
  if (lateness({ since, dueAt, usual: times.usual?.(event.type) }, at) > 1) one.late += 1;
}

function owedGroup({ answer, by, late, group: { count, ids, since } }: Owing, at: number): OwedGroup {
  return {
    ...{ who: senderOf(answer), answer, ...(by === undefined ? undefined : { by }), count, ids },
    ...(since === undefined ? undefined : { seconds: at - since }),
    ...{ late, overdue: late > 0 },
  };
}

function heldGroup({ what, stands, group: { count, ids, since } }: Standing, at: number): StandingGroup {
  const kind = count === 1 ? singular(what) : what;
  return {
    what: kind,
    stands,
    count,
    ids,
    ...(since === undefined ? undefined : { seconds: Math.max(0, at - since) }),
  };
}

/** What is overdue first, timers last, and then what is owed for longest. */
const byNeed = (a: OwedGroup, b: OwedGroup): number =>
  Number(b.overdue) - Number(a.overdue) ||
  Number(a.who === 'timer') - Number(b.who === 'timer') ||
  (b.seconds ?? -1) - (a.seconds ?? -1);
