/** An obedient host on a bad day: in simulated time, with tries that fail by an outage or by themselves. */
import type { Choices } from '../../core/generators/choices.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition, Ledger } from '../../core/machine/definition.ts';
import { answer, type Subject } from '../runs/run.ts';
import type { BadDay } from './bad-day.ts';
import type { HostHints, Report } from './obedience.ts';
import { specialAnswers } from './obedient-answers.ts';
import { ObedientHost } from './obedient-host.ts';
import { choicesOf } from './play-to-end.ts';
import { begins, type FaultScope, givenUpBy, type Try, tries } from './tries.ts';

/** A try under way, or over. */
export interface Flight extends Pick<Try, 'where'> {
  /** The prompt, sample or other item that is tried. */
  readonly item: string;
  readonly scopes: readonly FaultScope[];
  readonly from: number;
  /** Time at which the try ends, in seconds. */
  until: number;
  /** How the try ends; unknown while the try waits for a place. */
  end: 'success' | 'outage' | 'poison' | 'aborted' | 'denied' | undefined;
}

/** How an item has left the policy. */
export type Outcome = 'done' | 'given up';

/** Most events of a run. A policy that keeps working needs fewer. */
const mostEvents = 10_000;
/** Number of further prompts that the host supplies for comparison while a prompt that fails by itself is there. */
const mostToCompare = 256;
/** Times that the host begins work. */
const mostBegins = 400;
/** Seconds after which a host that is not asked for work begins more, while a prompt that fails by itself is there. */
const pace = 60;

/** Decisions by which successful things leave. */
const successes = new Set(['round.completed', 'round.rewarded', 'round.trained', 'reward.scored']);

type Admitted = PromptDecision & { requestId: string; promptId: string; roundId: string; index: number };
type PromptDecision = AnyDecision & {
  readonly requestId?: string;
  readonly promptId?: string;
  readonly prompt?: Supplied;
};

type Heard = (event: AnyEvent, decisions: readonly AnyDecision[]) => boolean | undefined;

/** One host on one day. */
export class BadDayHost {
  readonly host: ObedientHost;
  /** Tries that the policy has asked for, in order. */
  readonly flights: Flight[] = [];
  /** Time at which an outage first refused something, in seconds. */
  firstRefusal = Number.POSITIVE_INFINITY;
  /** By item: how it has left the policy. */
  readonly outcomes = new Map<string, Outcome>();
  readonly #subject: Subject;
  readonly #day: BadDay;
  readonly #ledger: Ledger<unknown, AnyEvent> | undefined;
  readonly #choices: Choices;
  readonly #numbers = new Map<string, number>();
  readonly #requests = new Map<string, Flight>();
  readonly #reportsOf = new Map<Flight, readonly Report[]>();
  readonly #voided = new WeakSet<Report>();
  readonly #refused: Flight[] = [];
  readonly #waitsForSlots: boolean;
  /** Things that have failed by themselves. */
  readonly #struck = new Set<string>();
  readonly #rewards = new Map<string, number>();
  readonly #putOff: Supplied[] = [];
  /** By prompt: the pool of the environment in which the prompt runs. */
  readonly #pools = new Map<string, string>();
  /** Launched requests that wait for a place in a frontier. */
  readonly #waiting = new Set<string>();
  readonly #asks: boolean;
  #isDry = false;
  #sent = 0;
  #begunAt = 0;
  #isBeside = false;

  constructor(definition: AnyPolicyDefinition, config: unknown, day: BadDay, subject: Subject, hints?: HostHints) {
    this.#day = day;
    this.#subject = subject;
    this.#ledger = definition.ledgers[0];
    this.#choices = choicesOf(day.seed);
    this.#asks = definition.decisions.some(({ type }) => type === 'prompts.request');
    const parsed = definition.config.parse(config) as Readonly<Record<string, unknown>>;
    const hasSlots = definition.decisions.some(({ type }) => type === 'slot.assign');
    this.#waitsForSlots = hasSlots && parsed.environment !== undefined;
    this.host = new ObedientHost(definition, parsed, {
      ...{ prefix: '', choices: choicesOf(day.seed + 1), weightVersion: 1 },
      hints: { ...hints, answers: { 'prompts.request': (one, desk) => this.#supply(one, desk), ...hints?.answers } },
      pace: {
        reports: (decision, usual) => this.#reports(decision, usual),
        holds: (report) => !this.#voided.has(report),
      },
    });
  }

  /** Requests that wait for a place in a frontier, now. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Events that were sent. */
  get sent(): number {
    return this.#sent;
  }

  /** Whether a thing fails by itself. */
  isPoisoned(item: string): boolean {
    return this.#day.poisoned.includes(this.#numbers.get(item) ?? -1);
  }

  /** Things that came in, and have not left. */
  get pending(): string[] {
    return [...this.#numbers.keys()].filter((one) => !this.outcomes.has(one));
  }

  /**
   * Plays until no work is left.
   *
   * @param heard - called after each event with its decisions; ends the run by `true`
   * @throws Error if work is left that neither the host nor a timer would do
   */
  play(heard: Heard): void {
    for (let begun = 0; begun < mostBegins; begun += 1) {
      if (this.#playOn(heard) || this.#isOver()) return;
      const { open } = this.host.rounds;
      if (open.length > 0)
        throw new Error(`nothing is left to do ${this.#now}, and rounds are open: ${open.join('; ')}`);
    }
    throw new Error(`it still has things after the host began work ${mostBegins} times`);
  }

  /** Plays until an outage has refused something and no open work is left, so that the policy waits for the host. */
  playUntilRest(heard: Heard): void {
    for (let begun = 0; begun < mostBegins; begun += 1) {
      const wasRefused = this.firstRefusal < Number.POSITIVE_INFINITY;
      if (this.#playOn(heard) || wasRefused || this.host.rounds.open.length > 0) return;
    }
  }

  get #now(): string {
    return `at ${this.#subject.at} s`;
  }

  /** Begins work, and plays until none is left; returns whether the run should end. */
  #playOn(heard: Heard): boolean {
    this.host.isDry = this.#isDry && this.#putOff.length === 0;
    if (this.host.isDry) this.host.desk.supplies = 0;
    this.#begunAt = this.#subject.at;
    this.host.begin();
    this.host.desk.supplies = Number.POSITIVE_INFINITY;
    for (;;) {
      if (this.#goesOn()) {
        this.#begunAt = this.#subject.at;
        this.#isBeside = true;
        this.host.beginBeside();
      }
      const event = this.host.next(this.#subject.at);
      if (event === undefined) return false;
      if (this.#sent++ > mostEvents) throw new Error(`it still asks for more after ${mostEvents} events, ${this.#now}`);
      const given = answer(this.#subject, event);
      if ('refused' in given) {
        // Work that the host begins beside other work may exceed the room.
        if (!this.#isBeside || (given.refused as { code?: string }).code !== 'limit_exceeded')
          this.host.refused(given.refused);
        continue;
      }
      for (const item of this.#ledger?.entered(event) ?? [])
        if (!this.#numbers.has(item)) this.#numbers.set(item, this.#numbers.size);
      this.host.heard(event, given.decisions);
      for (const decision of given.decisions) this.#told(decision);
      if (this.firstRefusal > event.at) this.#noteRefusal(event.at);
      if (heard(event, given.decisions) === true) return true;
    }
  }

  /** Whether the host continues with other work: a last prompt that fails by itself cannot be compared with anything. */
  #goesOn(): boolean {
    const { items, outage } = this.#day;
    const { at } = this.#subject;
    if (this.#asks || at < this.#begunAt + pace || (outage !== undefined && at < outage.from + outage.seconds))
      return false;
    return this.#numbers.size < items + mostToCompare && this.pending.some((one) => this.isPoisoned(one));
  }

  #noteRefusal(now: number): void {
    for (const { end, until } of this.#refused)
      if (end === 'outage' && until <= now) this.firstRefusal = Math.min(this.firstRefusal, until);
  }

  #isOver(): boolean {
    const { outage, items } = this.#day;
    if (this.#asks) return this.host.hasDrained || (this.#isDry && this.pending.length === 0);
    return this.#numbers.size >= items && this.#subject.at > (outage === undefined ? 0 : outage.from + outage.seconds);
  }

  /**
   * Supplies prompts that were put off, then new prompts; after the last one, further prompts as long as a prompt that fails by
   * itself is there.
   */
  #supply(decision: AnyDecision, desk: ObedientHost['desk']): readonly Report[] {
    const { count, roundId, domains } = decision as Asked;
    const again = this.#putOff.filter(fitting(count, domains));
    for (const one of again) this.#putOff.splice(this.#putOff.indexOf(one), 1);
    const rest = Object.entries(domains ?? {}).map(
      ([domain, wanted]) => [domain, wanted - again.filter((one) => one.domain === domain).length] as const,
    );
    const { items } = this.#day;
    const gone = [...this.outcomes.keys()].filter((one) => this.isPoisoned(one)).length;
    const isAwaited = gone < this.#day.poisoned.length;
    const left = Math.max(0, items + (isAwaited ? mostToCompare : 0) - this.#numbers.size);
    const fresh = Math.min(left, count - again.length);
    this.#isDry = fresh + again.length < count;
    const some = { ...decision, count: fresh, ...(domains && { domains: Object.fromEntries(rest) }) } as AnyDecision;
    const [made] = fresh > 0 ? (specialAnswers['prompts.request'] as Supply)(some, desk) : [];
    const pools = Object.keys((desk.config.quotas ?? {}) as object);
    const mixed = (made?.prompts ?? []).map((one, index) =>
      domains === undefined && pools.length > 0
        ? { ...one, domain: pools[(this.#numbers.size + index) % pools.length] }
        : one,
    );
    const prompts = [...again, ...mixed] as Supplied[];
    for (const { promptId, domain } of prompts) if (domain !== undefined) this.#pools.set(promptId, domain);
    return [
      ...(prompts.length > 0 ? [{ type: 'prompts.supplied', roundId, prompts }] : []),
      ...(this.#isDry ? [{ type: 'source.exhausted' }] : []),
    ];
  }

  #reports(decision: PromptDecision, usual: readonly Report[]): readonly Report[] {
    const { type, at, requestId } = decision;
    const rule = tries[type];
    if (type === 'request.deferred') this.#waiting.add(requestId!);
    else if (type === 'request.admit' || type === 'request.dropped') this.#waiting.delete(requestId!);
    const flown = requestId === undefined ? undefined : this.#requests.get(requestId);
    if (type === 'request.abort') this.#end(flown, at + 0.05, 'aborted');
    if (type === 'slot.denied') this.#end(flown, at, 'denied');
    if (rule === undefined || !usual.some((one) => this.host.desk.takes.has(one.type)))
      return usual.map((one) => this.#rewarded({ ...one, dueAt: at + 0.05 }));
    const one = rule.of(decision as never);
    const isMade = rule.isMade && !(type === 'request.admit' && this.host.desk.takes.has('request.arrived'));
    const flight = begins.has(type) && flown !== undefined ? flown : this.#newFlight(one, rule.scopes, at);
    if (isMade && flight !== flown) this.flights.push(flight);
    if (requestId !== undefined && isMade && rule.scopes.includes('engine')) this.#requests.set(requestId, flight);
    if (type === 'request.launch' && this.#waitsForSlots) return [];
    this.#void(flight);
    this.#decide(flight, at, isMade);
    const failed = flight.end === 'poison' ? this.#day.poison : this.#day.outage?.scope;
    const report = flight.end === 'success' ? undefined : one.fails(failed!);
    const hasFailed = report !== undefined && this.host.desk.takes.has(report.type);
    const all = hasFailed ? [report] : usual;
    const reports = all.map((each) => this.#rewarded({ ...each, dueAt: flight.until }));
    if (hasFailed && type === 'request.admit' && !isMade)
      reports.push(this.#triedAgain(decision as Admitted, flight.until));
    this.#reportsOf.set(flight, reports);
    return reports;
  }

  /** A host that makes the requests itself tries again after a pause. */
  #triedAgain({ requestId, promptId, roundId, index }: Admitted, failedAt: number): Report {
    const before = requestId.split('+').length - 1;
    const dueAt = failedAt + Math.min(2 ** before, 60);
    return { type: 'request.arrived', requestId: `${requestId}+`, promptId, roundId, index, dueAt };
  }

  #newFlight({ items, where }: Try, scopes: readonly FaultScope[], from: number): Flight {
    const item = items.find((one) => this.#numbers.has(one)) ?? items[0] ?? '';
    const pool = scopes.includes('environment') ? this.#pools.get(item) : undefined;
    return {
      item,
      where: pool === undefined ? where : [...where, pool],
      scopes,
      from,
      until: Number.POSITIVE_INFINITY,
      end: undefined,
    };
  }

  /** Ends a flight if it is still under way at this time, and cancels its later reports. */
  #end(flight: Flight | undefined, at: number, end: Flight['end']): void {
    if (flight === undefined || flight.until <= at) return;
    this.#void(flight);
    flight.until = at;
    flight.end = end;
  }

  #void(flight: Flight): void {
    for (const one of this.#reportsOf.get(flight) ?? []) this.#voided.add(one);
    this.#reportsOf.delete(flight);
  }

  /** Rewards of a prompt differ. */
  #rewarded(report: Report): Report {
    const { requestId, reward } = report as Report & { requestId?: string };
    const isReward = report.type === 'reward.ready' || reward !== undefined;
    const item = this.#requests.get(requestId ?? '')?.item;
    if (!isReward || item === undefined || !this.host.desk.takes.has(report.type)) return report;
    const before = this.#rewards.get(item) ?? 0;
    this.#rewards.set(item, before + 1);
    return { ...report, reward: before % 2 };
  }

  /** Decides how a flight ends that begins now, and when. */
  #decide(flight: Flight, now: number, isMade: boolean): void {
    const { outage, poison } = this.#day;
    const { scopes } = flight;
    const quarters = isMade && scopes.includes('engine') ? 4 + this.#choices.below(40) : 2 + this.#choices.below(4);
    flight.until = now + quarters / 4;
    flight.end = 'success';
    const canBePoisoned = isMade && (poison === 'data' || scopes.includes(poison));
    if (canBePoisoned && this.isPoisoned(flight.item)) {
      flight.until = now + (1 + this.#choices.below(8)) / 4;
      flight.end = 'poison';
      this.#struck.add(flight.item);
    }
    if (outage === undefined || !scopes.includes(outage.scope === 'data' ? 'engine' : outage.scope)) return;
    const end = outage.from + outage.seconds;
    const fails = this.#choices.below(10) < outage.ofTen;
    const isWithin = now >= outage.from && now < end;
    const isKilled = now < outage.from && flight.until > outage.from && outage.kills;
    if (!fails || !(isWithin || isKilled)) return;
    flight.until = isWithin ? now + outage.refusedAfter : outage.from;
    flight.end = 'outage';
    this.#refused.push(flight);
  }

  #told(decision: PromptDecision): void {
    const given = givenUpBy(decision);
    if (this.#day.isLenient === true) return;
    const left = this.#ledger?.left(decision) ?? [];
    if (given !== undefined) {
      const item = this.#numbers.has(given) ? given : (this.#requests.get(given)?.item ?? given);
      if (!this.#struck.has(item)) {
        const { type, reason } = decision;
        throw new Error(`${item}, which does not fail by itself, is given up: ${type} ${JSON.stringify(reason)}`);
      }
    }
    const isPutOff = decision.type === 'prompt.deferred' || decision.type === 'prompt.returned';
    if (isPutOff && left.length > 0) this.#putOff.push(decision.prompt!);
    else for (const id of left) this.#leave(id, given === undefined ? 'done' : 'given up', decision);
  }

  #leave(id: string, outcome: Outcome, { type }: AnyDecision): void {
    const before = this.outcomes.get(id);
    if (before !== undefined) throw new Error(`${id} leaves a second time, by ${type}: it was ${before}`);
    this.outcomes.set(id, outcome);
    if (outcome === 'done' && successes.has(type) && this.#struck.has(id))
      throw new Error(`${id}, whose every try fails, is taken for good: ${type}`);
  }
}

type Asked = AnyDecision & {
  readonly count: number;
  readonly roundId: string;
  readonly domains?: Readonly<Record<string, number>>;
};
type Supplied = { readonly promptId: string; readonly domain?: string };

/** Returns a test that accepts prompts, one after the other, as long as the request needs them. */
function fitting(count: number, domains: Asked['domains']): (one: Supplied) => boolean {
  const left = new Map(Object.entries(domains ?? {}));
  let all = count;
  return ({ domain }) => {
    const wanted = domains === undefined ? 1 : (left.get(domain ?? '') ?? 0);
    if (all === 0 || wanted === 0) return false;
    if (domain !== undefined) left.set(domain, wanted - 1);
    all -= 1;
    return true;
  };
}

type Supply = (decision: AnyDecision, desk: ObedientHost['desk']) => readonly (Report & { prompts?: object[] })[];
