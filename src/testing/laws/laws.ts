/**
 * The laws that every policy keeps, as checks of a run of events. Each check throws an error that names the law.
 *
 * Law 9 (layers) is about source code and is checked by the project's dependency rules, not here.
 */
import { z } from 'zod';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { createRegistry } from '../../core/machine/registry.ts';
import { isNewClock } from '../../core/machine/session-clock.ts';
import { create } from '../../core/machine/start.ts';
import { isPolicyError } from '../../errors.ts';
import type { DecisionMessage } from '../../schemas/vocabulary.ts';
import { freeze, isChange } from '../runs/frozen.ts';
import { malformedEvents } from '../runs/malformed.ts';
import { answer, isRefusal, newSubject, type Subject, textOf, transcript } from '../runs/run.ts';
import { withTraps } from '../runs/traps.ts';
import { copy, reversed, scramble } from '../runs/values.ts';
import { bounded } from './bounded.ts';
import { conserved } from './conserved.ts';
import { drainedIsEmpty } from './drained.ts';
import { forgetfulHostFinishes } from './forgetful-host.ts';
import type { Case, Law } from './law.ts';
import { noBusyLoop } from './no-busy-loop.ts';
import { reportsAreKept } from './reports.ts';
import { whateverLivesIsRestored } from './restorable.ts';
import { sharedFaultsCostNothing, smallestDay } from './shared-faults.ts';
import { waitsAreNamed } from './why.ts';

const snapshotText = (subject: Subject): string => JSON.stringify(subject.snapshot());

/** A name, and one policy's answers to the events, as texts. */
type Answers = readonly [name: string, texts: readonly string[]];

/** @param from - index of the event to which the first answers belong */
function expectSame(what: string, events: readonly AnyEvent[], one: Answers, two: Answers, from = 0): void {
  const index = one[1].findIndex((text, at) => text !== two[1][at]);
  if (index < 0) return;
  const shown = [one, two].map(([name, texts]) => `\n  ${name}: ${texts[index]}`).join('');
  throw new Error(`${what}, at event ${from + index + 1} ${JSON.stringify(events[from + index])}:${shown}`);
}

function deterministic({ definition, config, events }: Case): void {
  const [first, second] = [newSubject(definition, config), newSubject(definition, config)];
  const answers: string[][] = [];
  const touched = withTraps(() => {
    answers.push(transcript(first, events), transcript(second, events));
  });
  if (touched.length > 0) throw new Error(`it uses ${touched[0]}`);
  expectSame('two runs of the same events differ', events, ['once', answers[0]!], ['again', answers[1]!]);
  let latest = 0;
  let isAnew = false;
  const clamped = events.map((event, index): AnyEvent => {
    const isTaken = !isRefusal(answers[0]![index]!);
    // Times that go back show that a clock has begun anew.
    isAnew ||= isTaken && isNewClock(event, latest);
    if (isAnew) return event;
    const at = Math.max(latest, event.at);
    if (isTaken) latest = at;
    return { ...event, at };
  });
  const decisions = transcript(newSubject(definition, config), clamped);
  const clampedOnes: Answers = ['with the latest time instead', decisions];
  expectSame('an earlier time is not read as the latest', events, ['as it came', answers[0]!], clampedOnes);
}

function atomic({ definition, config, events }: Case): void {
  const subject = newSubject(definition, config);
  const parsed = definition.config.parse(config);
  let before = snapshotText(subject);
  let last: AnyEvent[] = [];
  for (const event of events) {
    for (const { event: wrong } of malformedEvents(event)) {
      const given = answer(subject, wrong as AnyEvent);
      if (!('refused' in given)) throw new Error(`it takes a malformed event ${JSON.stringify(wrong)}`);
      expectClear(given.refused);
    }
    // Hosts report twice, so a policy is most likely to meet and refuse a repeated event.
    expectNoTrace(definition, definition.load(JSON.parse(before).state, parsed), [...last, event]);
    if (snapshotText(subject) !== before) throw new Error(`a malformed ${event.type} changes the state`);
    const given = answer(subject, event);
    if ('refused' in given) expectClear(given.refused);
    const after = snapshotText(subject);
    if ('refused' in given && after !== before) throw new Error(`a refused ${JSON.stringify(event)} changes the state`);
    [before, last] = [after, 'refused' in given ? [] : [event]];
  }
  expectNoTrace(definition, definition.load(JSON.parse(before).state, parsed), last);
}

/** Throws unless `check` of each event leaves the state unchanged and agrees with `accepts`; a refusal must be clear. */
function expectNoTrace(definition: AnyPolicyDefinition, state: unknown, events: readonly AnyEvent[]): void {
  const saved = JSON.stringify(definition.save(state));
  const isChanged = freeze(state);
  for (const event of events) {
    let isAccepted = true;
    let accepts: boolean | undefined;
    try {
      accepts = definition.accepts?.(state, event);
      definition.check(state, event);
    } catch (error) {
      if (isChange(error))
        throw new Error(`check of ${JSON.stringify(event)} changes the state: ${error.message}`, { cause: error });
      expectClear(error);
      isAccepted = false;
    }
    if (accepts !== undefined && accepts !== isAccepted)
      throw new Error(`\`accepts\` of ${JSON.stringify(event)} is ${accepts}, and \`check\` says otherwise`);
    // Also after a refusal: it must have left no trace.
    if (isChanged() || JSON.stringify(definition.save(state)) !== saved)
      throw new Error(`check of ${JSON.stringify(event)} changes the state`);
  }
}

/** Throws unless a refusal is a `PolicyError` with the expected and the given value. */
export function expectClear(error: unknown): void {
  if (!isPolicyError(error)) throw new Error(`it refuses by ${String(error)}, which is no PolicyError`);
  if (error.code === 'internal') throw new Error(`it fails to apply what it had checked: ${error.message}`);
  if (error.expected === '' || error.got === '')
    throw new Error(`a refusal does not say what it expected: ${error.message}`);
}

function committed({ definition, config, events }: Case): void {
  const untouched = transcript(newSubject(definition, config), events);
  const subject = newSubject(definition, config);
  const scrambled = events.map((event) => {
    const mine = copy(event);
    const given = answer(subject, mine);
    const text = textOf(given);
    scramble(mine);
    if ('decisions' in given) scramble(given.decisions);
    scramble(subject.snapshot());
    return text;
  });
  expectSame(
    'what was given or answered is shared with the state',
    events,
    ['left alone', untouched],
    ['scrambled', scrambled],
  );
  const heard = newSubject(definition, config);
  let seen: string[] = [];
  heard.on('listener.error', () => undefined);
  heard.on('decision', (decision) => {
    seen.push(JSON.stringify(decision));
    throw new Error('a listener that fails');
  });
  for (const event of events) {
    seen = [];
    const given = answer(heard, event);
    if ('decisions' in given && `[${seen.join(',')}]` !== textOf(given))
      throw new Error('listeners hear other decisions');
  }
}

function restorable({ definition, config, events }: Case): void {
  const whole = newSubject(definition, config);
  let pieces = newSubject(definition, config);
  events.forEach((event, index) => {
    if (index % 3 === 0) pieces = create(definition, { snapshot: copy(pieces.snapshot()) }) as unknown as Subject;
    const [one, two] = [textOf(answer(whole, event)), textOf(answer(pieces, event))];
    expectSame('a restored policy decides otherwise', events, ['not restored', [one]], ['restored', [two]], index);
    if (snapshotText(whole) === snapshotText(pieces)) return;
    throw new Error(
      `a restored policy is in another state after event ${index + 1} ${JSON.stringify(event)}:\n  not restored: ${snapshotText(whole)}\n  restored: ${snapshotText(pieces)}`,
    );
  });
  for (const change of [
    { policy: 'another/policy' },
    { version: definition.version + 1 },
    { state: { no: 'state' } },
  ]) {
    try {
      create(definition, { snapshot: { ...copy(whole.snapshot()), ...change } });
    } catch (error) {
      if (isPolicyError(error) && error.code === 'snapshot_mismatch') continue;
    }
    throw new Error(`it takes a snapshot with ${JSON.stringify(change)}`);
  }
}

function ordered({ definition, config, events }: Case): void {
  const straight = newSubject(definition, config);
  let turned = newSubject(definition, config);
  events.forEach((event, index) => {
    if (index % 5 === 4)
      turned = create(definition, { snapshot: reversed(copy(turned.snapshot())) }) as unknown as Subject;
    const [one, two] = [answer(straight, event), answer(turned, reversed(event) as AnyEvent)].map(textOf);
    const inReverse: Answers = ['keys of events and snapshots in reverse', [two!]];
    expectSame('decisions depend on the order of keys', events, ['as it came', [one!]], inReverse, index);
  });
}

function reasoned({ definition, config, events }: Case): void {
  const subject = newSubject(definition, config);
  const messages = new Map(
    (definition.decisions as readonly DecisionMessage[]).map((message) => [message.type, message]),
  );
  for (const event of events) {
    const given = answer(subject, event);
    for (const decision of 'refused' in given ? [] : given.decisions) expectReason(messages, decision);
  }
}

/** Throws unless a decision is one of the messages, fits its schema, and has a reason from the closed set. */
export function expectReason(messages: ReadonlyMap<string, DecisionMessage>, decision: AnyDecision): void {
  const message = messages.get(decision.type);
  if (message === undefined) throw new Error(`it answers with ${decision.type}, which it does not declare`);
  if (!message.reasons.includes(decision.reason?.code))
    throw new Error(`${decision.type} has no reason of its closed set`);
  const parsed = message.schema.safeParse(decision);
  if (!parsed.success) throw new Error(`${JSON.stringify(decision)} does not fit its schema: ${parsed.error.message}`);
}

function spoken({ definition, config, events }: Case): void {
  createRegistry([definition]);
  const strict = definition.config.safeParse({ ...(config as object), unknownKey: 1 });
  if (strict.success) throw new Error('its configuration takes unknown keys');
  const { properties = {} } = z.toJSONSchema(definition.config, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, { description?: string }>;
  };
  for (const [name, property] of Object.entries(properties)) {
    if (property.description === undefined) throw new Error(`its setting ${name} has no description`);
  }
  const subject = newSubject(definition, config);
  for (const event of events) {
    answer(subject, event);
    const saved = subject.snapshot().state;
    const parsed = definition.state.safeParse(saved);
    if (!parsed.success) throw new Error(`its state does not fit its schema: ${parsed.error.message}`);
  }
}

/**
 * The laws that can be checked on a run of events, each independently; `checkLaws` searches for runs that break them.
 *
 * @example
 * ```ts
 * const law = laws.find(({ number }) => number === 5)!;
 * law.check({ definition, config, events }); // throws an Error that says what is broken
 * ```
 */
export const laws: readonly Law[] = Object.freeze([
  { number: 1, title: 'deterministic: no clock, no randomness, no timer, no shared state', check: deterministic },
  { number: 2, title: 'nothing is lost: every ledger adds up after every event', check: conserved },
  { number: 3, title: 'atomic: a refused event changes nothing', check: atomic },
  { number: 4, title: 'decisions are committed before they are heard, and never alias state', check: committed },
  { number: 5, title: 'a snapshot can be restored anywhere', check: restorable },
  { number: 6, title: 'total order: nothing depends on the order of keys', check: ordered },
  { number: 7, title: 'every decision has a reason from a closed set, and fits its schema', check: reasoned },
  { number: 8, title: 'one vocabulary, no unknown keys, everything described', check: spoken },
  { number: 11, title: 'drained means empty: after source.drained no ledger holds anything', check: drainedIsEmpty },
  { number: 12, title: 'a host with no memory finishes what it is told of', check: forgetfulHostFinishes },
  { number: 13, title: 'bounded answer: what an event may lead to is known before it is applied', check: bounded },
  {
    number: 14,
    title: 'whatever a ledger holds has a why, what it names changes the state, and no wait is too old',
    check: waitsAreNamed,
  },
  { number: 17, title: 'every report is kept or named: no end and no version vanishes', check: reportsAreKept },
  {
    number: 18,
    title: 'whatever lives can be restored, and no lost timer holds it up',
    check: whateverLivesIsRestored,
  },
  {
    number: 19,
    title: 'a shared fault costs no prompt, and few tries',
    check: sharedFaultsCostNothing,
    smallest: smallestDay,
  },
  { number: 20, title: 'no busy loop: what brings no progress is bounded, and named', check: noBusyLoop },
]);
