/**
 * A host in simulated time: engines, reward workers, a trainer and a data source with plausible times, which answer the commands of
 * one or several policies, and lose some of their reports. Policies that are told what others decide make a chain.
 */

import { Heap } from '../../src/core/collections/heap.ts';
import { eventWith, sharedFields } from '../../src/core/generators/sample-value.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import type { Policy } from '../../src/core/machine/policy.ts';
import { create, isPolicyError } from '../../src/index.ts';
import { uniform } from '../../src/sim/workload/random.ts';
import type { Desk, Report } from '../../src/testing/hosts/obedience.ts';
import { copy } from '../../src/testing/runs/values.ts';
import { answersTo, filledIn } from './answers.ts';
import { type Manner, secondsOf } from './times.ts';

// biome-ignore lint/suspicious/noExplicitAny: a host does not depend on the shape of its policies
type AnyPolicy = Policy<any, any, any, any, any>;
/** A decision with all of its fields. */
export type Told = AnyDecision & Readonly<Record<string, unknown>>;

interface Due {
  readonly at: number;
  readonly since: number;
  readonly order: number;
  readonly report: Report;
  readonly cause: Told | undefined;
}

/** A request as the engines know it. */
export interface Running {
  readonly promptId: string;
  readonly since: number;
  readonly seconds: number;
  readonly engineId: string;
}

/** Reports that come soon, and say little of how slow a run is. */
const soon = new Set(['request.started', 'request.aborted', 'prompts.supplied', 'progress.reported', 'reward.ready']);

/** Reports that a request no longer makes when it is over. */
const ofRequests = new Set(['response.completed', 'tool.started', 'tool.finished', 'request.started']);

/** What a host does by itself: beginnings, and what follows on a decision or a report. */
export interface Work {
  begin(host: ZooHost): void;
  told?(decision: Told, host: ZooHost): void;
  sent?(report: Report, host: ZooHost): void;
}

/** A policy that the host runs, with its configuration. */
export type Member = readonly [definition: AnyPolicyDefinition, config: object];

/** One host. */
export class ZooHost {
  readonly policies: readonly AnyPolicy[];
  readonly running = new Map<string, Running>();
  /** Reports that were lost, with the commands that they would have answered. */
  readonly lost: { at: number; report: Report; cause: AnyDecision | undefined }[] = [];
  /** Called before a policy hears an event. */
  before: (policy: AnyPolicy) => void = () => undefined;
  /** Number of the latest round. */
  round = -1;
  now = 0;
  readonly desk: Desk;
  readonly #due = new Heap<Due>((a, b) => a.at - b.at || a.order - b.order);
  readonly #waiting = new Set<Due>();
  readonly #timers = new Map<string, Due | undefined>();
  readonly #schemas: ReadonlyMap<string, never>;
  readonly manner: Manner;
  readonly #work: Work;
  /** The longest time that a report of a type has taken. */
  readonly #longest = new Map<string, number>();
  /** Updates that the trainer has, one after the other: the first one is being trained. */
  readonly #updates: Told[] = [];
  #order = 0;
  #draws = 0;

  constructor(members: readonly Member[], manner: Manner, work: Work) {
    this.manner = manner;
    this.#work = work;
    this.policies = members.map(([definition, config]) => create(definition, config) as AnyPolicy);
    this.#schemas = new Map(
      members.flatMap(([definition]) => definition.events.map(({ type, schema }) => [type, schema as never])),
    );
    const counts = new Map<string, number>();
    this.desk = {
      takes: new Set(this.#schemas.keys()),
      config: this.policies[0]!.config as Desk['config'],
      answer: (type, decision, more) => this.answer(type, decision, more),
      mint: (what) => {
        const n = (counts.get(what) ?? -1) + 1;
        counts.set(what, n);
        return `${what}${n}`;
      },
      engines: new Map(),
      arranged: new Set(),
      gone: new Set(),
      weightVersion: 1,
      supplies: manner.supplies ?? Number.POSITIVE_INFINITY,
      choices: { below: (n) => Math.floor(this.draw() * n) },
      later: (plan) =>
        plan.forEach((step, index) => {
          for (const one of typeof step === 'function' ? step() : step) this.later(index + 1, one);
        }),
    };
  }

  /** Configuration of the last policy of the chain. */
  get config(): Readonly<Record<string, unknown>> {
    return this.policies.at(-1)!.config as Readonly<Record<string, unknown>>;
  }

  takes(type: string): boolean {
    return this.desk.takes.has(type);
  }

  mint(what: string): string {
    return this.desk.mint(what);
  }

  get weightVersion(): number {
    return this.desk.weightVersion;
  }

  set weightVersion(version: number) {
    this.desk.weightVersion = version;
  }

  /** Numbers the draws of random numbers. */
  nextDraw(): number {
    return this.#draws++;
  }

  /** The next random number of the host. */
  draw(): number {
    return uniform(this.manner.seed, this.nextDraw());
  }

  /** An event with the fields that it shares with a decision. */
  answer(type: string, decision: object, more: object = {}): Report {
    const schema = this.#schemas.get(type);
    const { at: _, reason: __, ...shared } = schema === undefined ? ({} as Report) : sharedFields(schema, decision);
    return { ...shared, ...more, type };
  }

  /** Sends a report after so many seconds, if it is not lost. */
  later(seconds: number, given: Report, cause?: Told): Due | undefined {
    if (!this.takes(given.type)) return undefined;
    const report = this.#faulty(given, cause);
    if (report === undefined) return undefined;
    const one = { at: this.now + seconds, since: this.now, order: this.#order++, report, cause };
    this.#due.push(one);
    this.#waiting.add(one);
    return one;
  }

  /** What is left of a report; nothing where it is lost. */
  #faulty(report: Report, cause: Told | undefined): Report | undefined {
    const { fault = (one) => one } = this.manner;
    const left = fault(report, cause, this);
    if (left === undefined) this.lost.push({ at: this.now, report, cause });
    return left;
  }

  /**
   * How long the report takes that is overdue most, relative to the longest of its kind so far, of those that take long;
   * infinite where one is the first of its kind, and 0 where none is missing.
   */
  lateness(): number {
    const ages = [...this.#waiting].flatMap(({ report, since, cause }) => {
      if (cause === undefined || report.type === 'timer.fired' || soon.has(report.type)) return [];
      return [(this.now - since) / (this.#longest.get(report.type) ?? 0)];
    });
    return Math.max(0, ...ages);
  }

  /** Sends a report before anything else happens. */
  atOnce(report: Report): void {
    if (this.#faulty(report, undefined) !== undefined) this.#send(report);
  }

  /** Runs until a time. `each` is called after each report. */
  run(until: number, each: () => void = () => undefined): void {
    this.#work.begin(this);
    for (let next = this.#due.pop(); next !== undefined && next.at <= until; next = this.#due.pop()) {
      if (!this.#waiting.delete(next)) continue;
      this.now = Math.max(this.now, next.at);
      if (this.#isOver(next)) continue;
      const { type } = next.report;
      this.#longest.set(type, Math.max(this.#longest.get(type) ?? 0, this.now - next.since));
      this.#send(next.report);
      this.#work.sent?.(next.report, this);
      each();
    }
  }

  /** Whether nothing is left of what this report would say. */
  #isOver(due: Due): boolean {
    const { report } = due;
    const { requestId, timerId } = report as { requestId?: string; timerId?: string };
    if (report.type === 'timer.fired') return this.#timers.get(timerId!) !== due;
    if (!ofRequests.has(report.type)) return false;
    const one = this.running.get(requestId!);
    if (one === undefined) return true;
    if (report.type === 'response.completed') this.running.delete(requestId!);
    return false;
  }

  #send({ first: _, type, ...report }: Report): void {
    const schema = this.#schemas.get(type)!;
    // Rounded up, because a timer does not fire early.
    const milliseconds = Math.ceil(this.now * 1000);
    // Never earlier than a timer was asked for, not even by rounding: it would be set again for the same time, without end.
    const at = (milliseconds / 1000 < this.now ? milliseconds + 1 : milliseconds) / 1000;
    const event = copy(eventWith(schema, { type, at, ...report }, 0)) as unknown as AnyEvent;
    if (type === 'response.completed' || type === 'request.aborted') {
      this.desk.engines.delete(report.requestId as string);
    }
    this.#deliver(event, undefined);
    if (type !== 'optimizer.stepped' || this.#updates.length === 0) return;
    this.#updates.shift();
    if (this.#updates.length > 0) this.#answer(this.#updates[0]!);
  }

  /** Gives an event to every policy that takes it, their decisions to the others, and then carries them out. */
  #deliver(event: AnyEvent, from: AnyPolicy | undefined): void {
    const takers = this.policies.filter((one) => one !== from && one.takes(event.type));
    let refusal: unknown;
    let accepted = from !== undefined;
    for (const policy of takers) {
      let decisions: Told[];
      this.before(policy);
      try {
        decisions = policy.send(copy(event) as never) as unknown as Told[];
        accepted = true;
      } catch (error) {
        // Of a reward or a timer only the policy knows that has asked for it.
        if (!isPolicyError(error) || from !== undefined || takers.length === 1) throw error;
        refusal = error;
        continue;
      }
      for (const decision of decisions) {
        this.#deliver(decision, policy);
        // The admission asks for the missing prompts, because it knows the carried ones.
        if (decision.type === 'prompts.request' && policy.id === 'long-prompt-queue') continue;
        this.#carryOut(decision);
      }
    }
    if (!accepted) throw refusal;
  }

  #carryOut(decision: Told): void {
    this.#work.told?.(decision, this);
    if (decision.type === 'timer.set') {
      const { timerId, fireAtSeconds } = decision as unknown as { timerId: string; fireAtSeconds: number };
      const seconds = Math.max(0, fireAtSeconds - this.now);
      this.#timers.set(timerId, this.later(seconds, { type: 'timer.fired', timerId }, decision));
      return;
    }
    if (decision.type === 'request.abort') {
      this.running.delete(decision.requestId as string);
      this.#forget('requestId', decision);
    }
    if (decision.type === 'reward.cancel') this.#forget('dispatchId', decision);
    if (decision.type === 'train.dispatch' && this.#updates.push(decision) > 1) return;
    this.#answer(decision);
  }

  /** What a command stops reports nothing but that it has stopped. */
  #forget(id: string, decision: Told): void {
    for (const one of this.#waiting) if (one.report[id] === decision[id]) this.#waiting.delete(one);
  }

  #answer(decision: Told): void {
    for (const report of answersTo(decision, this)) {
      const seconds = secondsOf(report, decision, this);
      this.later(seconds, filledIn(report, seconds, this), decision);
    }
  }
}
