/** Law 18: every live state can be restored, and a lost timer holds nothing up. */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import { create } from '../../core/machine/start.ts';
import { choicesOf } from '../hosts/play-to-end.ts';
import { type Answer, answer, hostTime, newSubject, type Subject } from '../runs/run.ts';
import { messageOf } from '../runs/search.ts';
import { copy } from '../runs/values.ts';
import type { Case } from './law.ts';

/** A timer that is later than this counts as lost, in seconds; hosts may be late by less. */
const lateSeconds = 60;
/** Seconds by which the clock sometimes jumps, so that everything awaited is overdue. */
const jumpSeconds = 100_000;

/**
 * Throws if a state of the run cannot be read back unchanged; or if a policy whose timers never fire leaves work of a timer
 * undone, although other events come after the timer's time.
 *
 * @returns events that were sent
 */
export function whateverLivesIsRestored(one: Case): number {
  const { definition, config, events } = one;
  let subject = newSubject(definition, config);
  for (const [index, event] of events.entries()) {
    answer(subject, event);
    subject = readBack(one, subject, `event ${index + 1} ${JSON.stringify(event)}`);
  }
  return events.length + loseTimers(one);
}

function readBack({ definition }: Case, subject: Subject, after: string): Subject {
  const snapshot = copy(subject.snapshot());
  let again: Subject;
  try {
    again = create(definition, { snapshot: copy(snapshot) }) as unknown as Subject;
  } catch (error) {
    throw new Error(
      `the state after ${after} cannot be read back: ${messageOf(error)}\n  ${JSON.stringify(snapshot)}`,
      {
        cause: error,
      },
    );
  }
  const [was, is] = [snapshot, again.snapshot()].map((each) => JSON.stringify(each));
  if (was !== is)
    throw new Error(`the state after ${after} is another when it is read back:\n  was: ${was}\n  is: ${is}`);
  return again;
}

/** Sends the events without those of timers, on a clock that jumps ahead, so that every timer is lost. */
function loseTimers(one: Case): number {
  const { definition, config, events } = one;
  if (!definition.decisions.some(({ type }) => type === 'timer.set')) return 0;
  const subject = newSubject(definition, config);
  const choices = choicesOf(events.length);
  const timers = new Map<string, number>();
  let ahead = 0;
  let sent = 0;
  for (const event of events) {
    if (event.type === 'timer.fired') continue;
    if (choices.below(6) === 0) ahead += jumpSeconds;
    const later = { ...event, at: event.at + ahead };
    const given = answer(subject, later);
    sent += 1;
    if ('refused' in given) continue;
    if (later.type === 'host.restarted') timers.clear();
    for (const [timerId, fireAtSeconds] of timersIn(given.decisions)) timers.set(timerId, fireAtSeconds);
    const now = hostTime(subject);
    for (const [timerId, fireAtSeconds] of timers) {
      if (fireAtSeconds + lateSeconds > now) continue;
      timers.delete(timerId);
      sent += 1;
      expectDone(one, subject, { type: 'timer.fired', at: now, timerId } as AnyEvent, later);
    }
  }
  return sent;
}

/** Throws if a lost timer would still have something to do. */
function expectDone({ definition }: Case, subject: Subject, fired: AnyEvent, after: AnyEvent): void {
  const fork = create(definition, { snapshot: copy(subject.snapshot()) }) as unknown as Subject;
  const given: Answer = answer(fork, fired);
  const done = 'refused' in given ? [] : given.decisions.filter(({ type }) => type !== 'timer.set');
  if (done.length === 0) return;
  throw new Error(
    `a lost timer holds it up: after ${JSON.stringify(after)} it has neither done what was due nor set the timer again, since ${JSON.stringify(fired)} still leads to ${JSON.stringify(done)}`,
  );
}

function timersIn(decisions: readonly AnyDecision[]): (readonly [timerId: string, fireAtSeconds: number])[] {
  return decisions.flatMap((one) => {
    if (one.type !== 'timer.set') return [];
    const { timerId, fireAtSeconds } = one as AnyDecision & { timerId: string; fireAtSeconds: number };
    return [[timerId, fireAtSeconds] as const];
  });
}
