/**
 * A host that knows only the decisions. The host answers each decision with events of the vocabulary, in a random order, and
 * begins work of its own only on request.
 */

import type { Choices } from '../../core/generators/choices.ts';
import { eventWith, sharedFields } from '../../core/generators/sample-value.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { isPolicyError } from '../../errors.ts';
import { RoundBook } from '../host-checks/round-book.ts';
import { copy } from '../runs/values.ts';
import { answersTo } from './contract.ts';
import { freshWork } from './fresh-work.ts';
import { machines } from './machines.ts';
import type { AnswerRule, Desk, HostHints, Pace, Plan, Report } from './obedience.ts';
import { specialAnswers } from './obedient-answers.ts';

/** Initial values of a host. */
export interface Beginning {
  /** Prefix of all ids that the host makes. */
  readonly prefix: string;
  readonly choices: Choices;
  readonly weightVersion: number;
  readonly hints?: HostHints | undefined;
  /** Whether the host leaves decisions of this type unanswered. */
  readonly holds?: (type: string) => boolean;
  /** Whether events of the host may be refused, because the policy has also received other events. */
  readonly isLenient?: boolean;
  /** Times of the host's reports; if absent, reports come in any order, timers last. */
  readonly pace?: Pace;
}

const ends = new Set(['response.completed', 'response.failed', 'request.aborted']);

export class ObedientHost {
  readonly desk: Desk;
  readonly rounds: RoundBook;
  /** Number of unanswered decisions by type, for types that the host holds back. */
  readonly held = new Map<string, number>();
  /** Events and decisions of the host and the policy, in order. */
  readonly log: (AnyEvent | AnyDecision)[] = [];
  /** Types of commands without a rule for an answer. */
  readonly unanswered = new Set<string>();
  readonly #definition: AnyPolicyDefinition;
  readonly #schemas: ReadonlyMap<string, never>;
  readonly #rules: Readonly<Record<string, AnswerRule>>;
  readonly #beginning: Beginning;
  #owed: Report[] = [];
  /** All answers to decisions, including sent ones. */
  readonly #answers: Report[] = [];
  /** Reports that were refused as out of order, and are sent again after another event. */
  #postponed: Report[] = [];
  #postponedFor: unknown;
  readonly #plans: Plan[number][][] = [];
  readonly #timers = new Map<string, number>();
  readonly #announced = new Set<string>();
  #sent: Report | undefined;
  #minted = 0;
  #turn = 0;

  constructor(definition: AnyPolicyDefinition, config: unknown, beginning: Beginning) {
    const { prefix, choices, weightVersion, hints } = beginning;
    this.#definition = definition;
    this.#beginning = beginning;
    this.#schemas = new Map(definition.events.map((message) => [message.type, message.schema as never]));
    this.#rules = { ...specialAnswers, ...hints?.answers };
    this.rounds = new RoundBook(definition);
    this.desk = {
      takes: new Set(this.#schemas.keys()),
      config: config as Desk['config'],
      answer: (type, decision, more) => this.#answer(type, decision, more),
      mint: (what) => `${prefix}${what}${this.#minted++}`,
      engines: new Map(),
      arranged: new Set(),
      gone: new Set(),
      weightVersion,
      supplies: 3,
      choices,
      later: (plan) => void this.#plans.push([...plan]),
    };
  }

  /** Whether the policy has reported a drained source since the source was last reopened. */
  hasDrained = false;
  /** Called after the event that drains the source. */
  onDrained: (event: AnyEvent) => void = () => undefined;

  /** Whether the source has no more prompts. */
  isDry = false;

  /** Begins planned work: all steps, or only the first ones. */
  begin(steps?: number): void {
    if (!this.isDry) this.desk.supplies = 3;
    const { hints } = this.#beginning;
    const plan = hints?.work === undefined ? freshWork(this.desk) : hints.work(this.desk);
    this.desk.later(plan.slice(0, steps));
  }

  /** Begins planned work beside running work: only steps after the first wait until all work has ended. */
  beginBeside(): void {
    this.begin();
    const first = this.#plans.at(-1)?.shift();
    if (first !== undefined) this.#take(first);
  }

  /** Forgets answers that do not come any more, because the machine is gone that owes them. */
  lose(isGone: (report: Report) => boolean): void {
    this.#owed = this.#owed.filter((one) => !isGone(one));
  }

  /** Records an event that the policy has accepted, with its decisions. */
  heard(event: AnyEvent, decisions: readonly AnyDecision[]): void {
    this.log.push(event, ...decisions);
    this.rounds.sent(event);
    const { type, requestId } = event as AnyEvent & { requestId?: string };
    if (requestId !== undefined && ends.has(type)) this.desk.engines.delete(requestId);
    if (this.#beginning.isLenient) this.#owed = this.#owed.filter((one) => !isSame(one, event));
    this.#owed.push(...this.#postponed);
    this.#postponed = [];
    this.#sent = undefined;
    for (const decision of decisions) this.#told(decision);
    if (type === 'source.reopened') this.hasDrained = false;
    if (!decisions.some(({ type }) => type === 'source.drained')) return;
    this.hasDrained = true;
    this.onDrained(event);
  }

  #told(decision: AnyDecision): void {
    this.rounds.told(decision);
    const { holds = () => false } = this.#beginning;
    if (decision.type === 'timer.set') {
      const { timerId, fireAtSeconds } = decision as AnyDecision & { timerId: string; fireAtSeconds: number };
      this.#timers.set(timerId, fireAtSeconds);
      return;
    }
    const usual = this.#answersTo(decision);
    const reports = this.#beginning.pace?.reports(decision, usual) ?? usual;
    this.#answers.push(...reports);
    if (reports.length > 0 && holds(decision.type)) {
      this.held.set(decision.type, (this.held.get(decision.type) ?? 0) + 1);
      return;
    }
    for (const report of reports) if (this.desk.takes.has(report.type)) this.#owed.push(report);
  }

  #answersTo(decision: AnyDecision): readonly Report[] {
    const rule = this.#rules[decision.type];
    if (typeof rule === 'function') return rule(decision, this.desk);
    const names = rule === undefined ? answersTo(decision.type) : [rule];
    if (names === undefined && this.#isCommand(decision)) this.unanswered.add(decision.type);
    const type = names?.find((name) => this.desk.takes.has(name));
    return type === undefined ? [] : [this.#answer(type, decision)];
  }

  #isCommand({ type }: AnyDecision): boolean {
    return this.#definition.decisions.some((message) => message.type === type && message.kind === 'command');
  }

  #answer(type: string, decision: object, more: object = {}): Report {
    const schema = this.#schemas.get(type);
    const { at: _, reason: __, ...shared } = schema === undefined ? ({} as Report) : sharedFields(schema, decision);
    return { ...shared, ...more, type };
  }

  /** Returns the next event to send; nothing when no event is left. */
  next(at: number): AnyEvent | undefined {
    this.#announce();
    const { pace } = this.#beginning;
    for (;;) {
      const timer = [...this.#timers].sort((a, b) => a[1] - b[1])[0];
      if (pace !== undefined) this.#owed = inTime(this.#owed, pace);
      const isFirst = pace === undefined || timer === undefined || (this.#owed[0]?.dueAt ?? at) <= timer[1];
      if (this.#owed.length > 0 && isFirst) return this.#event(this.#takeOwed(), at);
      if (timer !== undefined && this.#beginning.holds === undefined) {
        this.#timers.delete(timer[0]);
        return this.#event({ type: 'timer.fired', timerId: timer[0] }, Math.max(at, timer[1]));
      }
      if (this.#postponed.length > 0) {
        if (this.#beginning.isLenient !== true) throw this.#refusal(this.#postponed[0]!, this.#postponedFor);
        this.#postponed = [];
      }
      const plan = this.#plans[0];
      if (plan === undefined) return undefined;
      const step = plan.shift();
      if (step === undefined) this.#plans.shift();
      else this.#take(step);
    }
  }

  #take(step: Plan[number]): void {
    const reports = typeof step === 'function' ? step() : step;
    // Work that the host begins itself keeps its planned order.
    for (const one of reports) if (this.desk.takes.has(one.type)) this.#owed.push({ ...one, first: true });
  }

  /** Removes and returns any report that is due; reports of the host's own work keep their order. */
  #takeOwed(): Report {
    const isInOrder = this.#owed[0]!.first === true || this.#beginning.pace !== undefined;
    const index = isInOrder ? 0 : this.desk.choices.below(Math.min(4, this.#owed.length));
    return this.#owed.splice(index, 1)[0]!;
  }

  #announce(): void {
    for (const report of machines(this.desk)) {
      const key = JSON.stringify(report);
      if (this.#announced.has(key) || !this.desk.takes.has(report.type)) continue;
      this.#announced.add(key);
      this.#owed.unshift({ ...report, first: true, isMachine: true });
    }
  }

  /** Returns the host's last answer to a decision with these fields, sent or not. */
  answerTo(awaited: Report): Report | undefined {
    return this.#answers.findLast((one) => Object.keys(awaited).every((key) => one[key] === awaited[key]));
  }

  #event(report: Report, at: number): AnyEvent {
    this.#sent = report;
    this.#turn += 1;
    const { first: _, isMachine: __, dueAt = at, type, ...given } = report;
    // A copy through JSON has no undefined fields, and shares no object with a decision.
    return copy(
      eventWith(this.#schemas.get(type)!, { type, at: Math.max(at, dueAt), ...given }, this.#turn),
    ) as unknown as AnyEvent;
  }

  /** Handles a refusal of the last event. */
  refused(error: unknown): void {
    const report = this.#sent!;
    this.#sent = undefined;
    if (!isPolicyError(error) || error.code === 'internal') throw error;
    // The policy may not know the machine, or may know another machine.
    if (report.isMachine === true) return;
    if (error.code === 'out_of_order') {
      this.#postponed.push(report);
      this.#postponedFor = error;
      return;
    }
    if (this.#beginning.isLenient !== true) throw this.#refusal(report, error);
  }

  #refusal({ first, isMachine: _, dueAt: __, ...report }: Report, error: unknown): Error {
    const what = first === true ? 'what a host may begin' : 'the answer to what it has named';
    return new Error(`${this.#definition.id} refuses ${what}: ${JSON.stringify(report)}: ${(error as Error).message}`);
  }
}

/** Returns the reports that still hold, ordered by time. */
const inTime = (reports: readonly Report[], pace: Pace): Report[] =>
  reports.filter((one) => pace.holds(one)).sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));

/** Whether an event is the expected answer: it has the same type and the same ids. */
function isSame(owed: Report, event: AnyEvent): boolean {
  if (owed.type !== event.type) return false;
  const given = event as unknown as Report;
  return Object.keys(owed).every((key) => !key.endsWith('Id') || owed[key] === given[key]);
}
