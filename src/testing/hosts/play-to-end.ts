/** Plays a policy with an obedient host until no work is left, and checks the end. */
import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { answer, choicesFrom, hostTime, type Subject } from '../runs/run.ts';
import type { ObedientHost } from './obedient-host.ts';

/** Most events of a play: far more than a small configuration needs for a round. */
const mostEvents = 3000;

/** Returns the choices of a host, fixed by the seed. */
export function choicesOf(seed: number): ReturnType<typeof choicesFrom> {
  let value = seed + 1;
  return choicesFrom(Array.from({ length: 31 }, () => (value = (value * 48_271) % 2_147_483_647)));
}

/**
 * Sends the events of the host until none is left, or up to a number of events.
 *
 * @returns events that were sent
 * @throws Error if the host still has events to send after `mostEvents`, or if an event that must be accepted is refused
 */
export function play(subject: Subject, host: ObedientHost, most = mostEvents): number {
  const aheadSeconds = subject.at - hostTime(subject);
  for (let sent = 0; sent < most; sent += 1) {
    const event = host.next(subject.at - aheadSeconds);
    if (event === undefined) return sent;
    const given = answer(subject, event);
    if ('refused' in given) host.refused(given.refused);
    else host.heard(event, given.decisions);
  }
  if (most < mostEvents) return most;
  throw new Error(`it still asks for more after ${mostEvents} events`);
}

/** Returns the ids in the ledgers of a policy, each with the name of its ledger in front. */
export function heldBy({ ledgers }: AnyPolicyDefinition, subject: Subject): string[] {
  const { state } = subject.snapshot();
  return ledgers.flatMap(({ name, held }) => held(state).map((id) => `${name} ${id}`));
}

/** Throws if a ledger holds anything. */
export function expectEmpty(definition: AnyPolicyDefinition, subject: Subject, when: string): void {
  const held = heldBy(definition, subject);
  if (held.length > 0) throw new Error(`${when}, its ledgers hold ${held.slice(0, 10).join(', ')}`);
}

/**
 * Exhausts the source, and begins rounds until no work is left or, if the policy has `source.drained`, until it reports this.
 *
 * @returns events that were sent
 * @throws Error if this does not happen
 */
export function drain(definition: AnyPolicyDefinition, subject: Subject, host: ObedientHost): number {
  const says = definition.decisions.some(({ type }) => type === 'source.drained');
  const isOver = (): boolean =>
    says ? host.hasDrained : heldBy(definition, subject).length === 0 && host.rounds.open.length === 0;
  let sent = 0;
  host.isDry = true;
  host.desk.supplies = 0;
  const most = 20 + 2 * heldBy(definition, subject).length;
  for (let round = 0; round < most; round += 1) {
    host.desk.later([[{ type: 'source.exhausted' }]]);
    sent += play(subject, host);
    if (isOver()) return sent;
    host.begin();
    sent += play(subject, host);
    if (isOver()) return sent;
  }
  const held = heldBy(definition, subject).slice(0, 10);
  const where = (type: string): string => (type.includes('/') ? '`hints.answers`' : 'src/testing/hosts/contract.ts');
  const unanswered = [...host.unanswered].map(
    (type) => `\nNo event is known that answers ${type}: say which in ${where(type)}`,
  );
  throw new Error(
    `after ${most} rounds without a source it is not drained; its ledgers hold ${held.join(', ')}${unanswered.join('')}`,
  );
}
