/** Law 12: a host without memory can finish. */
import { create } from '../../core/machine/start.ts';
import { type Beginning, ObedientHost } from '../hosts/obedient-host.ts';
import { choicesOf, drain, expectEmpty, play } from '../hosts/play-to-end.ts';
import { latestVersion } from '../hosts/weights.ts';
import { answer, newSubject, type Subject } from '../runs/run.ts';
import { messageOf, textOfRun } from '../runs/search.ts';
import { copy } from '../runs/values.ts';
import type { Case } from './law.ts';

/**
 * Throws if a host that knows only the decisions after `host.restarted` cannot finish all work.
 *
 * The host knows its machines, its weights, which may differ from before, and a new prefix. The host answers decisions, ends the
 * work in these decisions, and begins new work. At the end the policy must hold nothing and have no open round, and must give new
 * work as much room as a new policy would.
 *
 * @returns events that were sent
 */
export function forgetfulHostFinishes(one: Case): number {
  const { definition, config, events } = one;
  const subject = newSubject(definition, config);
  if (!definition.events.some(({ type }) => type === 'host.restarted')) return 0;
  for (const event of events) answer(subject, event);
  const restarted = resume(one, subject);
  const choices = choicesOf(seedOf(one));
  let sent = events.length;
  let host: ObedientHost | undefined;
  const begin = (prefix: string, latest: number): ObedientHost => {
    // The trainer may have continued, or lost its last steps, so the host must say which version it has.
    const weightVersion = Math.max(0, latest + choices.below(5) - 2);
    const reported = weightVersion < latest || choices.below(2) === 0 ? { weightVersion } : {};
    host = newHost(one, prefix, { weightVersion });
    restart(restarted, host, { idPrefix: prefix, ...reported });
    return host;
  };
  try {
    let mine = begin('again-', latestVersion(events) + 1);
    // Sometimes the host restarts once or twice more before the work is done.
    for (const prefix of ['anew-', 'once-more-']) {
      if (choices.below(3) > 0) break;
      sent += play(restarted, mine, choices.below(40));
      mine = begin(prefix, mine.desk.weightVersion);
    }
    sent += play(restarted, mine);
    mine.begin();
    sent += play(restarted, mine);
    sent += drain(definition, restarted, mine);
    expectEmpty(definition, restarted, 'when all is done');
    if (mine.rounds.open.length > 0) throw new Error(`rounds are not over: ${mine.rounds.open.join('; ')}`);
    expectRoom(one, restarted, mine.desk.weightVersion + 1);
  } catch (error) {
    throw new Error(`${messageOf(error)}${textOfRun(host?.log ?? [], 'events and decisions since the restart')}`, {
      cause: error,
    });
  }
  return sent;
}

function resume({ definition }: Case, subject: Subject): Subject {
  return create(definition, { snapshot: copy(subject.snapshot()) }) as unknown as Subject;
}

/** Seed for the choices of hosts, so that another run has other choices. */
const seedOf = ({ events }: Case): number => JSON.stringify(events).length;

function newHost(one: Case, prefix: string, more: Pick<Beginning, 'weightVersion'> & Partial<Beginning>): ObedientHost {
  const { definition, config, hints } = one;
  const beginning = { prefix, choices: choicesOf(seedOf(one)), hints };
  return new ObedientHost(definition, definition.config.parse(config), { ...beginning, ...more });
}

function restart(subject: Subject, host: ObedientHost, fields: { idPrefix: string; weightVersion?: number }): void {
  const event = { type: 'host.restarted', at: subject.at, ...fields };
  const given = answer(subject, event);
  if ('refused' in given) throw given.refused;
  host.heard(event, given.decisions);
}

/** Checks that new work leads to as many commands of each type as in a new policy, while no command is answered. */
function expectRoom(one: Case, subject: Subject, weightVersion: number): void {
  // A setting that is learnt from round to round makes rounds differ, and so does what is known of prompts.
  if (Object.values(one.config as object).includes('auto') || Object.hasOwn(one.config as object, 'promptSelection'))
    return;
  const [mine, fresh] = [resume(one, subject), newSubject(one.definition, one.config)].map((each) => {
    const host = newHost(one, 'room-', { weightVersion, holds: (type) => type !== 'prompts.request' });
    host.begin(1);
    play(each, host);
    return host.held;
  });
  for (const [type, count] of fresh!) {
    const got = mine!.get(type) ?? 0;
    if (got < count) throw new Error(`new work gets ${got} ${type} at once, from a new policy ${count}`);
  }
}
