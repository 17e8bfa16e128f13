/**
 * The books of a simulated server: what it did, step by step, and what must be true of all that it says. A broken rule ends the
 * world, with its number:
 *
 * 1. What a client was told is kept: no crash of the process, and with `fsync: always` none of the machine, takes it back.
 * 2. Every applied event was sent by somebody, and is applied once: events of a producer in the order of their numbers, a timer
 *    of the server once for each time it was set, and not before its time.
 * 3. A session decides as the bare policy does that gets the same events: its decisions, refusals and snapshots are the same.
 * 4. Nothing is said before it is written: an answer or a streamed decision leaves the server when all steps that it depends on are
 *    kept.
 * 5. An answer tells what happened to its call, and a call that is sent again gets the same answer.
 * 6. Each call is answered once, and answers come in the order of the calls, except plans.
 * 7. Streamed decisions come without gaps and in order, each number always with the same decision, and what nobody has acknowledged
 *    comes again.
 * 8. After a start the server has what was kept, and nothing else: sessions, snapshots, producers, timers, streams.
 * 9. A damaged store is refused with `snapshot_mismatch`, or costs the sessions alone that it sets aside; one record of a session
 *    costs no other.
 * 10. In the end everything was answered, delivered and fired, and a closed server holds nothing.
 */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import type { PolicyError } from '../../../src/errors.ts';
import { noDecisionLog } from '../../../src/logs/write/decision-log.ts';
import type { DecisionLog, LoggedSession, SessionDecisionLog } from '../../../src/rpc/index.ts';
import type { Session } from '../../../src/rpc/session/session.ts';
import type { Sessions } from '../../../src/rpc/session/sessions.ts';
import type { DiskBooks } from './disk.ts';
import { ModelSession, type Origin } from './model.ts';
import type { World } from './world.ts';

/** What was in memory when a write began. */
export interface Mark {
  /** Steps of all sessions. */
  readonly steps: number;
  readonly acknowledged: ReadonlyMap<ModelSession, number>;
}

/** Events that a client has sent, before it is known whether they are applied. */
export interface Claim {
  readonly session: string;
  readonly producer: string | undefined;
  readonly firstSeq: number;
  readonly events: readonly object[];
}

const nothingKept: Mark = { steps: 0, acknowledged: new Map() };
const keyOf = (session: string, producer: string | undefined): string => JSON.stringify([session, producer ?? null]);

/** Whether an applied event is that which was sent: the server stamps one without a time. */
export function isSent(applied: AnyEvent, text: string, sent: object): boolean {
  const { at, ...rest } = applied;
  return text === JSON.stringify(sent) || (!('at' in sent) && JSON.stringify(rest) === JSON.stringify(sent) && at > 0);
}

/** The books. */
export class Books implements DecisionLog, DiskBooks<Mark> {
  readonly #world: World;
  readonly #definitions: ReadonlyMap<string, AnyPolicyDefinition>;
  /** Every session that there was, as far as crashes have left it. */
  sessions: ModelSession[] = [];
  /** Whether sessions that are made now are those of the store. */
  isRestoring = false;
  /** Whether a server is started that must refuse its store. */
  isIgnored = false;
  /** Rules that are not checked. */
  readonly #blind: readonly number[];
  #steps = 0;
  #written = nothingKept;
  #durable = nothingKept;
  /** The step after the last one of which a client was told. */
  #told = 0;
  /** With `fsync: interval`, what is written counts as kept. */
  fsync: 'always' | 'interval' = 'always';
  readonly #claims = new Map<string, Map<number, object[]>>();
  readonly #loose = new Map<string, object[]>();
  /** Highest number that any subscriber has acknowledged, by session. */
  readonly #acknowledgable = new Map<string, number>();
  readonly #live = new Map<ModelSession, Session>();
  #unknown: (() => void)[] = [];

  constructor(world: World, definitions: readonly AnyPolicyDefinition[], blind: readonly number[]) {
    this.#world = world;
    this.#definitions = new Map(definitions.map((one) => [one.id, one]));
    this.#blind = blind;
  }

  broken(rule: number, what: string): void {
    if (!this.#blind.includes(rule)) this.#world.fail(`rule ${rule}: ${what}`);
  }

  get steps(): number {
    return this.#steps;
  }

  /** The open session with an id. */
  open(id: string): ModelSession | undefined {
    return this.sessions.findLast((one) => one.id === id && one.closed === Number.POSITIVE_INFINITY);
  }

  /** The sessions with an id that were open at some time since a step. */
  since(id: string, step: number): ModelSession[] {
    this.#know();
    return this.sessions.filter((one) => one.id === id && one.closed >= step);
  }

  /** A client is about to send events. */
  claim({ session, producer, firstSeq, events }: Claim): void {
    if (producer === undefined) {
      const all = this.#loose.get(session);
      if (all === undefined) this.#loose.set(session, [...events]);
      else all.push(...events);
      return;
    }
    const key = keyOf(session, producer);
    const claims = this.#claims.get(key) ?? new Map<number, object[]>();
    this.#claims.set(key, claims);
    events.forEach((event, at) => {
      const all = claims.get(firstSeq + at);
      if (all === undefined) claims.set(firstSeq + at, [event]);
      else if (!all.includes(event)) all.push(event);
    });
  }

  /** A client is about to acknowledge decisions, or wants only those after a number. */
  acknowledges(session: string, upTo: number): void {
    this.#acknowledgable.set(session, Math.max(this.#acknowledgable.get(session) ?? 0, upTo));
  }

  of(logged: LoggedSession): SessionDecisionLog {
    const session = logged as Session;
    if (this.isIgnored) return noDecisionLog.of(logged);
    let known = this.isRestoring ? this.open(session.id) : undefined;
    if (this.isRestoring && known === undefined) this.broken(8, `${session.id} is back, and was not kept`);
    const place = this.isRestoring ? 0 : this.#steps++;
    const model = (): ModelSession => {
      if (known !== undefined) return known;
      known = new ModelSession(this.#definitions.get(session.policy.id)!, session.save(), place);
      this.sessions.push(known);
      this.#live.set(known, session);
      return known;
    };
    if (known !== undefined) this.#live.set(known, session);
    // It is not whole yet.
    else this.#unknown.push(model);
    return {
      before: () => void model(),
      applied: (event, decisions, producer) => this.#applied(model(), event, decisions, producer),
      decided: () => undefined,
      refused: (error, producer) => this.#refused(model(), error, producer),
      closed: (reason) => {
        const one = model();
        // A server that stops writes on.
        if (reason === 'stopped') return;
        this.#live.delete(one);
        one.closed = this.#steps++;
      },
    };
  }

  /** Sessions that were just opened are whole now. */
  #know(): void {
    for (const know of this.#unknown.splice(0)) know();
  }

  mark(): Mark {
    this.#know();
    for (const [model, session] of this.#live) this.#place(model, session);
    const acknowledged = new Map<ModelSession, number>();
    for (const [model, session] of this.#live) {
      if (session.deliver === 'stream') acknowledged.set(model, session.stream.acknowledged);
    }
    return { steps: this.#steps, acknowledged };
  }

  /** Steps of a call that has paused are in no write; they are made when the call ends. */
  #place({ steps, firstSeq }: ModelSession, { seq, isPaused }: Session): void {
    if (isPaused) this.#world.count('write while a call pauses');
    for (const [at, step] of steps.entries()) {
      if (at >= seq - firstSeq) step.place = Number.POSITIVE_INFINITY;
      else if (step.place === Number.POSITIVE_INFINITY) step.place = this.#steps++;
    }
  }

  kept(mark: Mark, isDurable: boolean): void {
    this.#written = mark;
    if (isDurable) this.#durable = mark;
  }

  /** A crash has left this. Throws by rule 1, unless a loss is allowed: then nothing more may be lost than what was not synced. */
  crashed(left: Mark = nothingKept, mayLose = false): void {
    this.#unknown = [];
    this.#live.clear();
    const least = mayLose ? this.#durable.steps : this.#told;
    if (left.steps < least) this.broken(1, `${least} steps were told or synced, ${left.steps} are left`);
    if (mayLose) this.#told = Math.min(this.#told, left.steps);
    this.#steps = left.steps;
    [this.#written, this.#durable] = [left, left];
    this.sessions = this.sessions.filter((one) => one.opened < left.steps);
    for (const one of this.sessions) {
      one.rewind(left.steps);
      const acknowledged = left.acknowledged.get(one) ?? 0;
      if (one.closed < left.steps) continue;
      if (mayLose) one.acknowledged = Math.min(one.acknowledged, acknowledged);
      else if (one.acknowledged > acknowledged)
        this.broken(1, `${one.id}: ${one.acknowledged} was told as acknowledged, ${acknowledged} is left`);
    }
  }

  /** The server has started, or stops: it must hold what the books say. */
  compare(sessions: Sessions): void {
    this.#know();
    const open = this.sessions.filter(({ closed }) => closed === Number.POSITIVE_INFINITY).map(({ id }) => id);
    const got = [...{ [Symbol.iterator]: () => sessions[Symbol.iterator]() }].map(({ id }) => id);
    // A damaged record may have another name.
    const expected = sessions.aside.size === open.length - got.length ? open.filter((id) => got.includes(id)) : open;
    if (expected.sort().join() !== got.sort().join())
      return this.broken(8, `expected the sessions ${expected}, got ${got}`);
    for (const id of got) {
      const wrong = this.open(id)!.differenceTo(sessions.get(id).save(), this.#world.now);
      if (wrong !== undefined) return this.broken(8, `${id}: ${wrong}`);
    }
  }

  /** A client is told of something that depends on the step at a place. */
  tell(place: number, what: string): void {
    const kept = this.fsync === 'always' ? this.#durable : this.#written;
    if (place >= kept.steps) this.broken(4, `${what}: step ${place} is told, ${kept.steps} steps are kept`);
    this.#told = Math.max(this.#told, place + 1);
  }

  /** A client is told up to where the decisions of a session are acknowledged. */
  tellAcknowledged(model: ModelSession, number: number): void {
    const kept = (this.fsync === 'always' ? this.#durable : this.#written).acknowledged.get(model) ?? 0;
    if (model.closed === Number.POSITIVE_INFINITY && number > Math.max(kept, model.start.stream?.acknowledged ?? 0)) {
      this.broken(4, `${model.id}: ${number} is told as acknowledged, ${kept} is kept`);
    }
    const most = Math.max(this.#acknowledgable.get(model.id) ?? 0, model.start.stream?.acknowledged ?? 0);
    if (number > most) this.broken(7, `${model.id}: ${number} is told as acknowledged, ${most} was asked for`);
    model.acknowledged = Math.max(model.acknowledged, number);
  }

  #applied(
    model: ModelSession,
    event: AnyEvent,
    decisions: readonly AnyDecision[],
    producer: string | undefined,
  ): void {
    const text = JSON.stringify(event);
    const origin = this.#originOf(model, event, text, producer);
    if (origin === undefined) {
      const number = producer === undefined ? '' : ` as number ${model.producers.get(producer) ?? 0} of ${producer}`;
      return this.broken(2, `${model.id} applies ${text}${number}: nobody has sent it, or not so often`);
    }
    const refusal = model.refusal(event);
    if (refusal !== undefined) return this.broken(3, `${model.id} applies ${text}: the policy refuses it: ${refusal}`);
    const expected = model.apply(event, origin, this.#steps++).join();
    const got = decisions.map((one) => JSON.stringify(one)).join();
    if (got !== expected) this.broken(3, `${model.id} decides on ${text}: ${got}; the policy: ${expected}`);
  }

  #originOf(model: ModelSession, event: AnyEvent, text: string, producer: string | undefined): Origin | undefined {
    if (producer !== undefined) {
      const number = model.producers.get(producer) ?? 0;
      const claims = this.#claims.get(keyOf(model.id, producer))?.get(number) ?? [];
      return claims.some((sent) => isSent(event, text, sent)) ? { producer } : undefined;
    }
    const loose = this.#loose.get(model.id) ?? [];
    const at = loose.findIndex((sent) => isSent(event, text, sent));
    if (at !== -1) {
      loose.splice(at, 1);
      return 'client';
    }
    const { timerId } = event as AnyEvent & { timerId?: string };
    const fireAt = event.type === 'timer.fired' ? model.armed.get(timerId!) : undefined;
    if (fireAt === undefined || event.at < fireAt || event.at > Math.max(fireAt, this.#world.now)) return undefined;
    return 'timer';
  }

  #refused(model: ModelSession, { code }: PolicyError, producer: string | undefined): void {
    model.refusals.add(`${model.seq} ${code}`);
    if (code === 'internal') this.broken(3, `${model.id}: an event leads to a defect`);
    if (producer === undefined) return;
    const number = model.producers.get(producer) ?? 0;
    const claims = this.#claims.get(keyOf(model.id, producer))?.get(number) ?? [];
    // A claim without a time is refused for another reason than its time.
    const isRefused = claims.some((sent) => model.refusal({ at: this.#world.now, ...sent } as AnyEvent) === code);
    if (!isRefused)
      this.broken(3, `${model.id} refuses event ${number} of ${producer} with ${code}, the policy does not`);
  }
}
