/**
 * Law 14: everything that a ledger holds has a `why`, and everything that has one is listed; the policy accepts the events that an answer names, and they change the
 * state. A command that the policy has given or heard asks for each awaited answer, and no wait is older than the last one.
 */

import { eventWith, type Filling } from '../../core/generators/sample-value.ts';
import type { AnyEvent } from '../../core/machine/definition.ts';
import { create } from '../../core/machine/start.ts';
import { OpenCommands } from '../../core/why/open-commands.ts';
import { isEvent } from '../../core/why/waits.ts';
import type { OwedEvent, Why } from '../../core/why/why.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';
import { answersTo } from '../hosts/contract.ts';
import { ObedientHost } from '../hosts/obedient-host.ts';
import { choicesOf } from '../hosts/play-to-end.ts';
import { latestVersion } from '../hosts/weights.ts';
import { answer, newSubject, type Subject } from '../runs/run.ts';
import { messageOf } from '../runs/search.ts';
import { copy } from '../runs/values.ts';
import type { Case } from './law.ts';

/** How many times of a run are looked at, how many things per time, and how many events per thing. */
const most = { times: 2, things: 3, events: 2 };

/** Most ids of the run that are remembered, to look up what is not listed. */
const mostSeen = 32;

/** After one of so many events, the commands and dates of all waits are checked. */
const datedEvery = 3;

/** Values for the fields of an event that neither a `why` nor a command names; the first that make an event acceptable count. */
const fillings: readonly Filling[] = [0, 1, 2, 3, 4, 5].flatMap((variant) =>
  [1, 0].map((leastItems) => ({ variant, leastItems })),
);

/**
 * Throws if something in a ledger has no `why`, or its `why` names no event, or a named event is refused or changes nothing; or
 * if no open command asks for an awaited answer, or one asked later than the wait began. A definition without `waits` need not name events.
 */
export function waitsAreNamed({ definition, config, events, hints }: Case): void {
  const subject = newSubject(definition, config);
  const choices = choicesOf(events.length);
  const weightVersion = latestVersion(events) + 1;
  const beginning = { prefix: 'why-', choices, weightVersion, hints };
  const host = new ObedientHost(definition, definition.config.parse(config), beginning);
  host.desk.supplies = Number.POSITIVE_INFINITY;
  const commands = new OpenCommands(definition);
  const asked = askedOf(definition);
  const seen = new Set<string>();
  const times = new Set([
    events.length - 1,
    ...Array.from({ length: most.times - 1 }, () => choices.below(Math.max(1, events.length))),
  ]);
  events.forEach((event, index) => {
    const given = answer(subject, event);
    if ('decisions' in given) {
      host.heard(event, given.decisions);
      commands.follow(event, given.decisions, subject.at);
      for (const one of [event, ...given.decisions])
        for (const id of idsIn(one)) if (seen.add(id).size > mostSeen) seen.delete(seen.values().next().value!);
      if (index % datedEvery === 0) {
        expectAsked(subject, commands, asked);
        expectListed(subject, seen);
      }
    }
    if (!times.has(index)) return;
    const saved = subject.snapshot();
    for (const { name, held } of definition.ledgers) {
      const ids = held(saved.state as never);
      for (let count = 0; count < Math.min(most.things, ids.length); count += 1) {
        const id = ids[choices.below(ids.length)]!;
        const why = ask(subject, id, name);
        if (definition.waits === undefined) continue;
        if (why.owed.length === 0)
          throw new Error(`nothing is named for which ${name} ${id} waits: ${JSON.stringify(why)}`);
        for (let turn = 0; turn < most.events; turn += 1) {
          const owed = why.owed[choices.below(why.owed.length)]!;
          try {
            expectChange(definition, saved, owed, { host, weightVersion, turn });
          } catch (error) {
            throw new Error(`${messageOf(error)}\n  for which ${name} ${id} waits: ${JSON.stringify(why)}`);
          }
        }
      }
    }
  });
}

/**
 * Answers that may be awaited without an open command. Prompts: which are missing depends on their domains, and commands are
 * counted. Rewards: hosts send them unasked. An environment that is used again is ready instead of released, as one is that has
 * started late. A program waits for its environment, and one whose engine is lost for the timer, as long as it waits for its end.
 */
const unfollowed: ReadonlySet<string> = new Set([
  'prompts.supplied',
  'reward.ready',
  'slot.released',
  'response.completed',
  'request.aborted',
]);

/** The usual answers to the commands that a policy gives or hears, by the contract of hosts. */
const askedOf = ({ decisions, events }: Case['definition']): ReadonlySet<string> =>
  new Set(
    [...decisions, ...events]
      .flatMap(({ type }) => answersTo(type)?.slice(0, 1) ?? [])
      .filter((one) => !unfollowed.has(one)),
  );

/** Ids that a message names by itself. */
const idsIn = (message: object): string[] =>
  Object.entries(message).flatMap(([name, value]) => (name.endsWith('Id') && typeof value === 'string' ? [value] : []));

/** Throws if something stands somewhere and is not listed, or is listed and stands nowhere. */
function expectListed(subject: Subject, seen: Iterable<string>): void {
  const { kinds, ids, of } = subject.holdings();
  for (const what of kinds) {
    const listed = new Set(ids(what));
    for (const id of listed)
      if (of({ what, id }) === undefined) throw new Error(`${what} ${id} is held, and has no why`);
    // A group is also found by the id that it has in its round.
    const isListed = (id: string): boolean => listed.has(id) || [...listed].some((one) => one.includes(id));
    for (const id of seen)
      if (of({ what, id }) !== undefined && !isListed(id))
        throw new Error(`${what} ${id} has a why, and is not among what is held`);
  }
}

/** Throws if a wait for an answer has no open command that asks for it, or is older than the last one. */
function expectAsked(subject: Subject, commands: OpenCommands, asked: ReadonlySet<string>): void {
  const { kinds, ids, of } = subject.holdings();
  for (const what of kinds) {
    for (const id of ids(what)) {
      for (const one of of({ what, id })?.for ?? []) {
        if (!isEvent(one) || one.dueAt !== undefined) continue;
        const command = commands.answeredBy(one.event);
        if (command === undefined && asked.has(one.event.type))
          throw new Error(`${what} ${id} waits for ${JSON.stringify(one.event)}, and no open command asks for it`);
        if (one.since === undefined) continue;
        // A command without ids does not identify one request among several.
        if (command === undefined || answersTo(command.type) === undefined || Object.keys(command.ids).length === 0)
          continue;
        if (one.since >= command.since) continue;
        const asking = `${command.type} (${command.reason.code}) has asked for it at ${command.since}`;
        throw new Error(`${what} ${id} waits for ${JSON.stringify(one.event)} since ${one.since}, and ${asking}`);
      }
    }
  }
}

function ask(subject: Subject, id: string, name: string): Why {
  try {
    return subject.why(id, name);
  } catch (error) {
    throw new Error(`the ledger of ${name} holds ${id}, and why() does not: ${String(error)}`);
  }
}

/** Throws the first error if the event, with any values in its other fields, is refused or changes nothing. */
function expectChange(
  definition: Case['definition'],
  saved: ReturnType<Subject['snapshot']>,
  { event: awaited, dueAt }: OwedEvent,
  known: { host: ObedientHost; weightVersion: number; turn: number },
): void {
  const message = definition.events.find(({ type }) => type === awaited.type) as EventMessage | undefined;
  if (message === undefined) throw new Error(`${awaited.type}, which the policy does not take`);
  const before = JSON.stringify(saved.state);
  let first: Error | undefined;
  for (const filling of fillings) {
    const again = create(definition, { snapshot: copy(saved) }) as unknown as Subject;
    const at = Math.max(again.at, dueAt ?? 0);
    const given = { at, ...known.host.answerTo(awaited), ...awaited };
    const whole = eventWith(message.schema, given, known.turn, filling) as unknown as AnyEvent & {
      weightVersion?: number;
    };
    if (whole.weightVersion !== undefined && awaited.weightVersion === undefined)
      whole.weightVersion = known.weightVersion;
    const got = answer(again, whole);
    const isRefused = 'refused' in got;
    if (!isRefused && JSON.stringify(again.snapshot().state) !== before) return;
    first ??= new Error(`${isRefused ? String(got.refused) : 'nothing changes'}, at ${JSON.stringify(whole)}`);
  }
  throw first!;
}
