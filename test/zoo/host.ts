/**
 * A host in simulated time: engines, reward workers, a trainer and a data source with plausible times, which answer the commands of
 * one or several policies, and lose some of their reports. Policies that are told what others decide make a chain.
 */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../src/core/definition.ts';
import { Heap } from '../../src/core/heap.ts';
import type { Policy } from '../../src/core/policy.ts';
import { create, isPolicyError } from '../../src/index.ts';
import { answers } from '../../src/schemas/answers.ts';
import { normal, uniform } from '../../src/sim/random.ts';
import type { Desk, Report } from '../../src/testing/obedience.ts';
import { specialAnswers } from '../../src/testing/obedient-answers.ts';
import { eventWith, sharedFields } from '../../src/testing/sample-value.ts';
import { copy } from '../../src/testing/values.ts';
import { type Manner, secondsOf } from './times.ts';

// biome-ignore lint/suspicious/noExplicitAny: a host does not depend on the shape of its policies
type AnyPolicy = Policy<any, any, any, any, any>;
type Told = AnyDecision & Readonly<Record<string, unknown>>;

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
const ofRequests = new Set(['response.completed', 'environment.waiting', 'environment.resumed', 'request.started']);

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
  readonly #desk: Desk;
  readonly #due = new Heap<Due>((a, b) => a.at - b.at || a.order - b.order);
  readonly #waiting = new Set<Due>();
  readonly #timers = new Map<string, Due | undefined>();
  readonly #bytes = new Map<string, number>();
  readonly #schemas: ReadonlyMap<string, never>;
  readonly #manner: Manner;
  readonly #work: Work;
  /** The longest time that a report of a type has taken. */
  readonly #longest = new Map<string, number>();
  /** Updates that the trainer has, one after the other: the first one is being trained. */
  readonly #updates: Told[] = [];
  #order = 0;
  #draws = 0;

  constructor(members: readonly Member[], manner: Manner, work: Work) {
    this.#manner = manner;
    this.#work = work;
    this.policies = members.map(([definition, config]) => create(definition, config) as AnyPolicy);
    this.#schemas = new Map(
      members.flatMap(([definition]) => definition.events.map(({ type, schema }) => [type, schema as never])),
    );
    const counts = new Map<string, number>();
    this.#desk = {
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
    return this.#desk.takes.has(type);
  }

  mint(what: string): string {
    return this.#desk.mint(what);
  }

  get weightVersion(): number {
    return this.#desk.weightVersion;
  }

  set weightVersion(version: number) {
    this.#desk.weightVersion = version;
  }

  /** The next random number of the host. */
  draw(): number {
    return uniform(this.#manner.seed, this.#draws++);
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
    const { fault = (one) => one } = this.#manner;
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

  #send({ first: _, ...report }: Report): void {
    const schema = this.#schemas.get(report.type)!;
    // Rounded up, because a timer does not fire early.
    const at = Math.ceil(this.now * 1000) / 1000;
    const event = copy(eventWith(schema, { type: report.type, at, ...report }, 0)) as unknown as AnyEvent;
    if (report.type === 'response.completed' || report.type === 'request.aborted') {
      this.#desk.engines.delete(report.requestId as string);
    }
    this.#deliver(event, undefined);
    if (report.type !== 'optimizer.stepped' || this.#updates.length === 0) return;
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
    if (decision.type === 'sample.placeholder') this.#bytes.set(decision.sampleId as string, 6e7);
    if (decision.type === 'train.dispatch' && this.#updates.push(decision) > 1) return;
    this.#answer(decision);
  }

  /** What a command stops reports nothing but that it has stopped. */
  #forget(id: string, decision: Told): void {
    for (const one of this.#waiting) if (one.report[id] === decision[id]) this.#waiting.delete(one);
  }

  #answer(decision: Told): void {
    for (const report of this.#answersTo(decision)) {
      const seconds = secondsOf(report, decision, this.#manner, this);
      this.later(seconds, this.#whole(report, decision, seconds), decision);
    }
  }

  #answersTo(decision: Told): readonly Report[] {
    const { type } = decision;
    if (['request.launch', 'request.admit', 'request.resume'].includes(type)) return this.#runs(decision);
    if (type === 'progress.query') return [this.answer('progress.reported', decision, { requests: this.#progress() })];
    if (type === 'reward.scored') return [this.answer('reward.ready', decision)];
    if (type === 'response.accepted' && this.takes('reward.finished')) return [];
    if (type === 'round.planned') return [this.answer('round.opened', decision, { prompts: decision.queued })];
    const rule = specialAnswers[type];
    if (typeof rule === 'function') return rule(decision, this.#desk) as readonly Report[];
    const names = rule === undefined ? (answers[type as never] ?? ([] as readonly string[])) : [rule as string];
    const name = names.find((one) => this.takes(one));
    return name === undefined ? [] : [this.answer(name, decision)];
  }

  /** A request starts on an engine: that of the decision, or the one with the fewest. */
  #runs(decision: Told): Report[] {
    const { requestId, promptId } = decision as unknown as { requestId: string; promptId: string };
    // Behind a frontier a launched request waits until it is admitted.
    if (decision.type === 'request.launch' && this.policies.some((one) => 'width' in one.config)) return [];
    const { engines, seed } = this.#manner;
    const load = (id: string): number => [...this.running.values()].filter((one) => one.engineId === id).length;
    const least = (): string => engines.reduce((best, one) => (load(one) < load(best) ? one : best));
    const engineId = (decision.engineId as string | undefined) ?? this.running.get(requestId)?.engineId ?? least();
    const prompt = [...promptId].reduce((sum, one) => sum * 31 + one.charCodeAt(0), 7) % 1e9;
    const { tail = 0.6, responseSeconds = 60 } = this.#manner;
    const spread = tail * (0.7 * normal(seed, prompt) + 0.7 * normal(seed, this.#draws++));
    const seconds = Math.min(responseSeconds * Math.exp(spread), 8 * responseSeconds);
    this.running.set(requestId, { promptId, since: this.now, seconds, engineId });
    this.#desk.engines.set(requestId, engineId);
    const started = this.answer('request.started', { requestId, engineId });
    const waits = decision.type !== 'request.resume' && this.draw() < (this.#manner.turns ?? 0);
    const end: Report[] = waits
      ? [this.answer('environment.waiting', decision), this.answer('environment.resumed', decision)]
      : [this.answer('response.completed', decision)];
    return decision.engineId === undefined && decision.type !== 'request.resume' ? [started, ...end] : end;
  }

  /** Fills in what only the machine knows that reports. */
  #whole(report: Report, decision: Told, seconds: number): Report {
    const rounded = Math.round(seconds * 100) / 100;
    if (report.type === 'response.completed') return { ...report, tokens: Math.round(40 * seconds) };
    if (report.type === 'reward.ready') return { reward: Math.floor(this.draw() * 2), ...report };
    if (report.type === 'sample.preprocessed') {
      return { ...report, bytes: this.#bytes.get(decision.sampleId as string) ?? 6e7 };
    }
    const timed = ['reward.finished', 'sandbox.finished', 'update.consumed', 'train.consumed', 'train.finished'];
    return timed.includes(report.type) ? { ...report, seconds: rounded } : report;
  }

  #progress(): object[] {
    return [...this.running].map(([requestId, { since, engineId }]) => ({
      requestId,
      engineId,
      tokens: Math.round(40 * (this.now - since)),
      promptTokens: 200,
    }));
  }
}
