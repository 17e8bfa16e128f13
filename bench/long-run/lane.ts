/**
 * One policy with one configuration on a long run. Two of it get the same events. One is as a host has it, and all that
 * it was given and has answered is scrambled. The other is the bare definition; it also says what event is likely next,
 * gets keys in the opposite order and times that never go back. Either is stopped and restored through JSON, after any
 * event. What they answer must be the same to the byte.
 */

import { createHash, type Hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus, xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import type { Choices } from '../../src/core/generators/choices.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { recogniserOf } from '../../src/core/machine/recognise.ts';
import { SessionClock } from '../../src/core/machine/session-clock.ts';
import { openSnapshot } from '../../src/core/machine/snapshot.ts';
import { create } from '../../src/core/machine/start.ts';
import { parse } from '../../src/core/machine/validate.ts';
import { isPolicyError } from '../../src/errors.ts';
import type { DecisionMessage, EventMessage } from '../../src/schemas/vocabulary.ts';
import { expectClear, expectReason } from '../../src/testing/laws/laws.ts';
import { malformedEvents } from '../../src/testing/runs/malformed.ts';
import { answer, type Subject, textOf } from '../../src/testing/runs/run.ts';
import { type Arbitrary, withEvents } from '../../src/testing/runs/tested.ts';
import { withTraps } from '../../src/testing/runs/traps.ts';
import { copy, reversed, scramble } from '../../src/testing/runs/values.ts';
import { contradicting } from '../../test/support/hosts/contradicting.ts';
import { Books } from './books.ts';
import { count, countDecision } from './coverage.ts';
import type { LaneRecord } from './record.ts';

/** How often what is dear is checked. */
export interface Sampling {
  /** Events between two orderly stops, on average. */
  readonly restoreEvery: number;
  /** Events between two rounds of malformed ones. */
  readonly malformedEvery: number;
  /** Of so many refusals, the snapshots before and after one are compared. */
  readonly refusalEvery: number;
  /** Events after which the policy is begun anew. */
  readonly life: number;
}

/** A policy under way. */
export class Lane {
  readonly record: LaneRecord;
  readonly #definition: AnyPolicyDefinition;
  readonly #sampling: Sampling;
  readonly #events: ReadonlyMap<string, EventMessage['schema']>;
  readonly #messages: ReadonlyMap<string, DecisionMessage>;
  readonly #generator: ReturnType<typeof xoroshiro128plus>;
  readonly #choices: Choices;
  #hash!: Hash;
  #subject!: Subject;
  #twin: unknown;
  #latest = 0;
  #clock!: SessionClock;
  #books!: Books;
  readonly #arbitrary: Arbitrary;

  constructor(definition: AnyPolicyDefinition, config: unknown, seed: number, sampling: Sampling, record: LaneRecord) {
    this.#definition = definition;
    this.#arbitrary = contradicting(withEvents(definition)).arbitrary;
    this.#sampling = sampling;
    this.record = record;
    this.#events = new Map(
      (definition.events as readonly EventMessage[]).map((message) => [message.type, message.schema]),
    );
    this.#messages = new Map(
      (definition.decisions as readonly DecisionMessage[]).map((message) => [message.type, message]),
    );
    const { generator, snapshot } = record;
    this.#generator = generator === undefined ? xoroshiro128plus(seed) : xoroshiro128plusFromState(generator);
    this.#choices = { below: (n) => uniformInt(this.#generator, 0, n - 1) };
    this.config = config;
    if (snapshot === undefined) this.#begin();
    else this.#restore(create(definition, { snapshot: copy(snapshot) }) as unknown as Subject);
  }

  readonly config: unknown;

  /** Runs so many events, and leaves a record from which it can go on. Throws where a law is broken. */
  run(events: number): void {
    this.#hash = createHash('sha256').update(this.record.digest);
    const begun = performance.now();
    const frames = Error.stackTraceLimit;
    // Refusals are many, and nobody reads where they were made.
    Error.stackTraceLimit = 0;
    try {
      const touched = withTraps(() => {
        for (let index = 0; index < events; index += 1) this.#step();
        this.#settle();
      });
      if (touched.length > 0) throw new Error(`law 1: it uses ${touched[0]}`);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      const { policy, configuration, done } = this.record;
      throw new Error(`${policy}, configuration ${configuration}, event ${done}: ${cause}`, { cause: error });
    } finally {
      Error.stackTraceLimit = frames;
    }
    Object.assign(this.record, {
      seconds: this.record.seconds + (performance.now() - begun) / 1000,
      digest: this.#hash.digest('hex'),
      generator: this.#generator.getState(),
      snapshot: this.#subject.snapshot(),
    });
  }

  #begin(): void {
    this.#restore(create(this.#definition, this.config) as unknown as Subject);
  }

  /** Goes on with this policy, and with a twin of it that is made from its snapshot. */
  #restore(subject: Subject): void {
    const opened = openSnapshot(this.#definition, copy(subject.snapshot()));
    this.#subject = subject;
    this.#twin = opened.state;
    this.#latest = opened.at;
    this.#clock = new SessionClock(opened.aheadSeconds);
    this.#books = new Books(this.#definition, subject.snapshot().state);
  }

  #step(): void {
    const { record } = this;
    const { restoreEvery, malformedEvery, life } = this.#sampling;
    const event = this.#draw();
    const mine: AnyEvent = copy(event);
    // A clock that begins anew, or has, shows it by times that go back.
    const isClamped = this.#clock.aheadSeconds === 0 && event.type !== 'host.restarted';
    const turned = reversed(isClamped ? { ...event, at: Math.max(this.#latest, event.at) } : event) as AnyEvent;
    if (record.done % malformedEvery === 0) this.#refuseMalformed(mine);
    const refusal = this.#refusalByTwin(turned, record.done % malformedEvery === 0);
    if (refusal === undefined) this.#accept(event, mine, turned);
    else this.#refuse(mine, refusal);
    record.done += 1;
    if (record.done % life === 0) {
      this.#settle();
      record.lives += 1;
      this.#begin();
    } else if (this.#choices.below(restoreEvery) === 0) this.#settle();
  }

  /** Draws the next event. In every third life all timers are lost. */
  #draw(): AnyEvent {
    const isLost = ({ type }: AnyEvent): boolean => type === 'timer.fired' && this.record.lives % 3 === 0;
    let event = this.#arbitrary(this.#twin, this.#choices);
    for (let tries = 0; tries < 20 && isLost(event); tries += 1) event = this.#arbitrary(this.#twin, this.#choices);
    // Likely times are those of the state.
    return { ...event, at: Math.max(0, event.at - this.#clock.aheadSeconds) };
  }

  #refusalByTwin(event: AnyEvent, isCompared: boolean): unknown {
    const save = (): string => (isCompared ? JSON.stringify(this.#definition.save(this.#twin)) : '');
    const before = save();
    let refusal: unknown;
    try {
      const schema = this.#events.get(event.type)!;
      if (!recogniserOf(schema)(event)) parse(schema, event, 'invalid_event');
      this.#definition.check(this.#twin, event);
    } catch (error) {
      expectClear(error);
      refusal = error;
    }
    if (save() !== before) throw new Error(`law 3: check of ${JSON.stringify(event)} changes the state`);
    return refusal;
  }

  #accept(event: AnyEvent, mine: AnyEvent, turned: AnyEvent): void {
    const given = answer(this.#subject, mine);
    if ('refused' in given)
      throw new Error(`laws 1, 5, 6: only the twin takes ${JSON.stringify(event)}: ${given.refused}`);
    const emitted: AnyDecision[] = [];
    const at = this.#clock.timeOf(turned, this.#latest, this.#definition.id);
    const emit = (one: AnyDecision) => void emitted.push(this.#clock.onHostClock(one));
    this.#latest = at;
    this.#definition.apply(this.#twin, turned, { at, emit });
    const text = JSON.stringify(given.decisions);
    const other = JSON.stringify(emitted);
    if (text !== other)
      throw new Error(`laws 1, 4, 5, 6: twins decide otherwise on ${JSON.stringify(event)}:\n  ${text}\n  ${other}`);
    this.#hash.update(text);
    this.record.decisions += emitted.length;
    count(this.record.seen.events, event.type);
    for (const decision of emitted) {
      this.#expectFits(decision);
      countDecision(this.record.seen, decision);
    }
    this.#books.enter(event, emitted);
    scramble(mine);
    scramble(given.decisions);
  }

  /** As the law does, which is asked where something does not fit; without zod for each decision. */
  #expectFits(decision: AnyDecision): void {
    const message = this.#messages.get(decision.type);
    const fits = message?.reasons.includes(decision.reason?.code) === true && recogniserOf(message.schema)(decision);
    if (!fits) expectReason(this.#messages, decision);
  }

  #refuse(event: AnyEvent, refusal: unknown): void {
    const { record } = this;
    const isCompared = record.refused % this.#sampling.refusalEvery === 0;
    const before = isCompared ? JSON.stringify(this.#subject.snapshot()) : '';
    const given = answer(this.#subject, event);
    const [text, other] = [textOf(given), textOf({ refused: refusal })];
    if (text !== other)
      throw new Error(`laws 1, 5, 6: ${JSON.stringify(event)} is answered otherwise:\n  ${text}\n  ${other}`);
    if (isCompared && JSON.stringify(this.#subject.snapshot()) !== before)
      throw new Error(`law 3: a refused ${JSON.stringify(event)} changes the state`);
    this.#hash.update(text);
    record.refused += 1;
    count(record.seen.refusals, `${event.type} ${isPolicyError(refusal) ? refusal.code : ''}`);
  }

  #refuseMalformed(event: AnyEvent): void {
    const before = JSON.stringify(this.#subject.snapshot());
    const wrongs = malformedEvents(event);
    for (const { what, event: wrong } of wrongs) {
      const given = answer(this.#subject, wrong as AnyEvent);
      if (!('refused' in given))
        throw new Error(`law 3: it takes a malformed event (${what}) ${JSON.stringify(wrong)}`);
      expectClear(given.refused);
    }
    if (JSON.stringify(this.#subject.snapshot()) !== before)
      throw new Error(`law 3: a malformed ${event.type} changes the state`);
    this.record.malformed += wrongs.length;
  }

  /** Compares the states of the two and the books, and restores one of them through JSON, with its keys turned now and then. */
  #settle(): void {
    const { record } = this;
    const snapshot = this.#subject.snapshot();
    const text = JSON.stringify(snapshot.state);
    const saved: unknown = this.#definition.save(this.#twin);
    // A state may keep an object of an event, with its keys in the order in which they came.
    if (JSON.stringify(saved) !== text && !isDeepStrictEqual(copy(saved), copy(snapshot.state)))
      throw new Error(`laws 1, 4, 5, 6: twins are in other states:\n  ${text}\n  ${JSON.stringify(saved)}`);
    this.#books.compareWith(snapshot.state);
    const through = copy(snapshot);
    const stopped = record.restores % 2 === 0 ? through : reversed(through);
    if (this.#choices.below(4) === 0)
      this.#subject = create(this.#definition, { snapshot: stopped }) as unknown as Subject;
    else this.#twin = openSnapshot(this.#definition, stopped).state;
    record.restores += 1;
    record.snapshotBytes = text.length;
  }
}
