/** Law 17: every report is kept or named. */
import type { AnyEvent } from '../../core/machine/definition.ts';
import { create } from '../../core/machine/start.ts';
import { decisions as vocabulary } from '../../schemas/decisions/index.ts';
import { commands, notices } from '../hosts/contract.ts';
import { type Answer, answer, newSubject, type Subject, textOf } from '../runs/run.ts';
import { copy } from '../runs/values.ts';
import type { Case } from './law.ts';

/**
 * Groups of reports that say the same end of a response, a prompt or a group: each report in a line may come instead of the
 * others.
 */
const ends: readonly (readonly string[])[] = [
  ['response.completed', 'response.failed', 'request.aborted'],
  ['reward.ready', 'reward.failed'],
  ['prompt.judged'],
  ['group.completed', 'group.rejected'],
];

/** Returns the reports of ends that a policy has asked for; other ends it may merely watch. */
function endsOf({ events, decisions }: Case['definition']): ReadonlySet<string> {
  const asked = new Set<string>(
    decisions.flatMap(({ type }) => [commands, notices].flatMap((one) => one[type]?.events ?? [])),
  );
  const owned = new Set(ends.filter((line) => line.some((type) => asked.has(type))).flat());
  return new Set(events.map(({ type }) => type).filter((type) => owned.has(type)));
}

/** Decisions saying that a report comes too late, so that the policy keeps nothing of it. */
const isLate = (type: string): boolean => /\.(late|surplus)$/.test(type);

/** Notices about whole responses: a policy with any of these hands on the weight versions of responses. */
const handsOn = new Set(['round.completed', 'prompt.counted']);

const stateOf = (subject: Subject): string => JSON.stringify(subject.snapshot().state);

/** Sends an event to a copy of a policy; returns the answer, and the state afterwards. */
function tried({ definition }: Case, snapshot: unknown, event: AnyEvent): { given: Answer; state: string } {
  const subject = create(definition, { snapshot: copy(snapshot) as never }) as unknown as Subject;
  const given = answer(subject, event);
  return { given, state: stateOf(subject) };
}

/** Throws if a completion is accepted and its weight versions leave no trace. */
function expectVersionsKept(one: Case, snapshot: unknown, event: AnyEvent): void {
  const { weightVersions: _, ...unsaid } = event as AnyEvent & { weightVersions?: unknown };
  const plain = tried(one, snapshot, unsaid);
  if ('refused' in plain.given || plain.given.decisions.some(({ type }) => isLate(type))) return;
  // No weights have ever had this version.
  const said = tried(one, snapshot, { ...unsaid, weightVersions: [1_000_003] } as AnyEvent);
  if ('refused' in said.given || textOf(said.given) !== textOf(plain.given) || said.state !== plain.state) return;
  throw new Error(`${JSON.stringify(event)} is taken, and that it says other weightVersions leaves no trace`);
}

/**
 * Throws if a report of an end is accepted, and neither changes the state nor leads to a decision; or if its weight versions are
 * dropped without a decision that says so.
 */
export function reportsAreKept(one: Case): void {
  const { definition, config, events } = one;
  const subject = newSubject(definition, config);
  const owned = endsOf(definition);
  const decisionTypes = definition.decisions.map(({ type }) => type);
  const tellsVersions = decisionTypes.some(
    (type) => handsOn.has(type) && vocabulary.some((message) => message.type === type),
  );
  for (const event of events) {
    if (!owned.has(event.type)) {
      answer(subject, event);
      continue;
    }
    const snapshot = subject.snapshot();
    const before = JSON.stringify(snapshot.state);
    if (event.type === 'response.completed' && tellsVersions) expectVersionsKept(one, snapshot, event);
    const given = answer(subject, event);
    if ('refused' in given || given.decisions.length > 0 || stateOf(subject) !== before) continue;
    throw new Error(`${JSON.stringify(event)} is taken, changes nothing, and no notice says why`);
  }
}
