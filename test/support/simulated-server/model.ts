/** What a session must be: the bare policy, fed with the steps of the session one after the other. */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { openSnapshot, type Snapshot } from '../../../src/core/machine/snapshot.ts';
import { create } from '../../../src/core/machine/start.ts';
import type { WhyAll } from '../../../src/core/why/why.ts';
import { isPolicyError } from '../../../src/errors.ts';
import type { SavedSession } from '../../../src/rpc/journal/entries.ts';

/** Who has sent an event: a producer by its name, some client, or the server's own timer. */
export type Origin = { readonly producer: string } | 'client' | 'timer';

/** An event that a session has applied. */
export interface ModelStep {
  /** Its place among all steps of all sessions; infinite while its call has paused, because no write has it then. */
  place: number;
  readonly event: AnyEvent;
  readonly text: string;
  /** Who sent it: a producer, a client without one, or a timer of the server. */
  readonly origin: Origin;
  /** Its decisions, as text. */
  readonly decisions: readonly string[];
  /** Number of the last decision of the session after it. */
  readonly decisionSeq: number;
}

const textOf = (value: unknown): string => JSON.stringify(value);

/** One session from its opening to its end, whatever its id was used for before and after. */
export class ModelSession {
  readonly id: string;
  readonly definition: AnyPolicyDefinition;
  /** What it was opened with. */
  readonly start: SavedSession;
  /** Place of its opening, and of its end, among all steps. */
  opened: number;
  closed = Number.POSITIVE_INFINITY;
  readonly steps: ModelStep[] = [];
  /** All its decisions as text; the first has the number `firstDecision + 1`. */
  readonly decisions: string[] = [];
  readonly firstDecision: number;
  /** Events that each producer has had applied. */
  readonly producers = new Map<string, number>();
  /** Timers that run, with their times. */
  readonly armed = new Map<string, number>();
  /** Highest number of `acknowledged` that was told, and kept. */
  acknowledged: number;
  /** What was refused: the code, and the number of events before it. */
  readonly refusals = new Set<string>();
  #state: unknown;
  #at = 0;
  #seq = 0;

  /** @param start - what the server has opened, before any event */
  constructor(definition: AnyPolicyDefinition, start: SavedSession, place: number) {
    this.id = start.session;
    this.definition = definition;
    this.start = JSON.parse(textOf(start)) as SavedSession;
    this.opened = place;
    const { stream } = this.start;
    this.firstDecision = stream === undefined ? 0 : stream.acknowledged + stream.backlog.length;
    this.acknowledged = stream?.acknowledged ?? 0;
    this.#begin();
  }

  get firstSeq(): number {
    return this.start.snapshot.seq;
  }

  get seq(): number {
    return this.#seq;
  }

  get state(): unknown {
    return this.#state;
  }

  /** Number of the last decision. */
  get decisionSeq(): number {
    return this.firstDecision + this.decisions.length;
  }

  /** A decision by its number; nothing if it is older than the session. */
  decision(number: number): string | undefined {
    const { stream } = this.start;
    if (number > this.firstDecision) return this.decisions[number - this.firstDecision - 1];
    return textOf(stream?.backlog[number - (stream?.acknowledged ?? 0) - 1]);
  }

  /** Why the policy refuses an event now; nothing if it does not. */
  refusal(event: AnyEvent): string | undefined {
    try {
      this.definition.check(this.#state, event);
    } catch (error) {
      if (isPolicyError(error)) return error.code;
      throw error;
    }
    return undefined;
  }

  /** Whether the policy still waits for a timer. */
  takesTimer(timerId: string, at: number): boolean {
    return this.refusal({ type: 'timer.fired', at, timerId } as AnyEvent) === undefined;
  }

  /** Applies an event, and returns its decisions as text. */
  apply(event: AnyEvent, origin: Origin, place: number): readonly string[] {
    const { timerId } = event as AnyEvent & { timerId?: string };
    if (origin === 'timer') this.armed.delete(timerId!);
    const decisions: AnyDecision[] = [];
    this.#at = Math.max(this.#at, event.at);
    this.definition.apply(this.#state, JSON.parse(textOf(event)), {
      at: this.#at,
      emit: (one: AnyDecision) => void decisions.push(one),
    });
    this.#seq += 1;
    const texts = decisions.map(textOf);
    for (const one of texts) this.decisions.push(one);
    const step = { place, event, text: textOf(event), origin, decisions: texts, decisionSeq: this.decisionSeq };
    this.steps.push(step);
    this.#account(step, decisions);
    return texts;
  }

  #account({ origin }: ModelStep, decisions: readonly AnyDecision[]): void {
    if (typeof origin === 'object') this.producers.set(origin.producer, (this.producers.get(origin.producer) ?? 0) + 1);
    if (this.start.timers === 'host') return;
    for (const one of decisions as readonly (AnyDecision & { timerId: string; fireAtSeconds: number })[]) {
      if (one.type === 'timer.set') this.armed.set(one.timerId, one.fireAtSeconds);
    }
  }

  /** Forgets the steps from a place on: a crash has lost them. */
  rewind(place: number): void {
    if (this.closed >= place) this.closed = Number.POSITIVE_INFINITY;
    const kept = this.steps.filter((one) => one.place < place);
    if (kept.length === this.steps.length) return;
    this.steps.length = 0;
    this.#begin();
    for (const { event, origin, place: at } of kept) this.apply(event, origin, at);
  }

  /** The answer to a call from before its opening, if it was opened with such answers. */
  answeredBefore(producer: string | undefined, firstSeq: number | undefined, events: number): string | undefined {
    const known = this.start.producers.find(({ name }) => name === producer);
    if (known === undefined || firstSeq === undefined || firstSeq >= known.nextSeq) return undefined;
    const kept = known.kept.find((one) => one.firstSeq === firstSeq && one.events === events);
    if (kept === undefined) return 'not kept';
    return textOf('error' in kept.answer ? kept.answer.error : kept.answer.result);
  }

  /** Number of the last decision after so many events. */
  decisionSeqAt(seq: number): number {
    return seq === this.firstSeq ? this.firstDecision : this.steps[seq - this.firstSeq - 1]!.decisionSeq;
  }

  /** Place of the last of so many events among all steps; of the opening if there is none. */
  placeOf(seq: number): number {
    return seq === this.firstSeq ? this.opened : this.steps[seq - this.firstSeq - 1]!.place;
  }

  /** The snapshot after so many events. */
  snapshotAt(seq: number): Snapshot {
    const other = new ModelSession(this.definition, this.start, this.opened);
    for (const { event, origin, place } of this.steps.slice(0, seq - this.firstSeq)) other.apply(event, origin, place);
    return other.snapshot();
  }

  /** What is owed after so many events. */
  whyAt(seq: number): WhyAll {
    return create(this.definition, { snapshot: this.snapshotAt(seq) }).why();
  }

  snapshot(): Snapshot {
    const { policy, version, config } = this.start.snapshot;
    const { save } = this.definition;
    return { policy, version, config, state: save(this.#state), seq: this.#seq, at: this.#at };
  }

  /** What a session on the server has that it must not have, or the other way round. */
  differenceTo(saved: SavedSession, now: number): string | undefined {
    const producers = new Map(saved.producers.map(({ name, nextSeq }) => [name, nextSeq]));
    const differences: [what: string, expected: unknown, got: unknown][] = [
      ['snapshot', this.snapshot(), saved.snapshot],
      ['producers', [...this.producers].sort(), [...producers].sort()],
      ['timers', this.#timers(this.armed, now), this.#timers(armedIn(saved), now)],
    ];
    if (saved.stream !== undefined) {
      const { acknowledged, backlog } = saved.stream;
      const expected = Array.from({ length: this.decisionSeq - acknowledged }, (_, at) =>
        this.decision(acknowledged + 1 + at),
      );
      differences.push(['backlog', expected, backlog.map(textOf)]);
      if (acknowledged < this.acknowledged) differences.push(['acknowledged', this.acknowledged, acknowledged]);
    }
    const wrong = differences.find(([, expected, got]) => textOf(expected) !== textOf(got));
    if (wrong === undefined) return undefined;
    return `${wrong[0]}: expected ${textOf(wrong[1])}, got ${textOf(wrong[2])}`;
  }

  /** The timers that must run: without those that are due and that the policy refuses, which a server tries once. */
  #timers(armed: ReadonlyMap<string, number>, now: number): [string, number][] {
    const mayBeGone = ([timerId, at]: [string, number]): boolean => at <= now && !this.takesTimer(timerId, now);
    return [...armed].filter((one) => !mayBeGone(one)).sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #begin(): void {
    const { snapshot, producers, armed = [] } = this.start;
    const opened = openSnapshot(this.definition, JSON.parse(textOf(snapshot)));
    [this.#state, this.#at, this.#seq] = [opened.state, opened.at, opened.seq];
    this.decisions.length = 0;
    this.producers.clear();
    for (const { name, nextSeq } of producers) this.producers.set(name, nextSeq);
    this.armed.clear();
    for (const { timerId, fireAtSeconds } of armed) this.armed.set(timerId, fireAtSeconds);
  }
}

const armedIn = ({ armed = [] }: SavedSession): Map<string, number> =>
  new Map(armed.map(({ timerId, fireAtSeconds }) => [timerId, fireAtSeconds]));
