/** Law 14: whatever a ledger holds has a `why`; what it names is accepted, and changes the state. */
import type { AnyEvent } from '../core/definition.ts';
import { create } from '../core/start.ts';
import type { OwedEvent, Why } from '../core/why.ts';
import type { EventMessage } from '../schemas/vocabulary.ts';
import type { Case } from './law.ts';
import { choicesOf } from './play-to-end.ts';
import { answer, newSubject, type Subject } from './run.ts';
import { eventWith } from '../core/sample-value.ts';
import { copy } from './values.ts';
import { latestVersion } from './weights.ts';

/** Number of times at which a run is asked, of things that are asked about at each, and of their events that are tried. */
const most = { times: 3, things: 4, events: 2 };

/**
 * Throws if something that a ledger holds has no `why`, or names no event, or one of its named events is refused or changes
 * nothing.
 */
export function waitsAreNamed({ definition, config, events }: Case): void {
  const subject = newSubject(definition, config);
  const choices = choicesOf(events.length);
  const weightVersion = latestVersion(events) + 1;
  const times = new Set([
    events.length - 1,
    ...Array.from({ length: most.times - 1 }, () => choices.below(Math.max(1, events.length))),
  ]);
  events.forEach((event, index) => {
    answer(subject, event);
    if (!times.has(index)) return;
    const saved = subject.snapshot();
    for (const { name, held } of definition.ledgers) {
      const ids = held(saved.state as never);
      for (let count = 0; count < Math.min(most.things, ids.length); count += 1) {
        const id = ids[choices.below(ids.length)]!;
        const why = ask(subject, id, name);
        if (why.owed.length === 0)
          throw new Error(`nothing is named for which ${name} ${id} waits: ${JSON.stringify(why)}`);
        for (let turn = 0; turn < most.events; turn += 1) {
          const owed = why.owed[choices.below(why.owed.length)]!;
          expectChange({ definition, config, events }, saved, owed, { id: `${name} ${id}`, weightVersion, turn, why });
        }
      }
    }
  });
}

function ask(subject: Subject, id: string, name: string): Why {
  try {
    return subject.why(id, name);
  } catch (error) {
    throw new Error(`the ledger of ${name} holds ${id}, and why() does not: ${String(error)}`);
  }
}

function expectChange(
  { definition }: Case,
  saved: ReturnType<Subject['snapshot']>,
  { event, dueAt }: OwedEvent,
  told: { id: string; weightVersion: number; turn: number; why: Why },
): void {
  const again = create(definition, { snapshot: copy(saved) }) as unknown as Subject;
  const message = definition.events.find(({ type }) => type === event.type) as EventMessage | undefined;
  if (message === undefined) throw new Error(`${told.id} waits for ${event.type}, which the policy does not take`);
  const { weightVersion } = told;
  const at = Math.max(again.at, dueAt ?? 0);
  const whole = eventWith(message.schema, { at, ...event }, told.turn, 1) as unknown as AnyEvent & {
    weightVersion?: number;
  };
  if (whole.weightVersion !== undefined && event.weightVersion === undefined) whole.weightVersion = weightVersion;
  const before = JSON.stringify(again.snapshot().state);
  const given = answer(again, whole);
  const shown = `${JSON.stringify(whole)}\n  for which ${told.id} waits: ${JSON.stringify(told.why)}`;
  if ('refused' in given) throw new Error(`${String(given.refused)}, at ${shown}`);
  if (JSON.stringify(again.snapshot().state) === before) throw new Error(`nothing changes at ${shown}`);
}
