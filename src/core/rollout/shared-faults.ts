/**
 * Tells faults that tries share from faults of their own. A try of an item (a prompt, a sample) runs in domains: a part (an engine, a
 * reward worker), if it is known, and the whole of its scope. A failure stays open until a try that was launched after it succeeds in
 * the same domains. Then what the item has failed for the first time is forgotten: it may have been a short outage that hit this item
 * alone. What it fails after that is forgotten if these domains are not healthy, or if the item itself has succeeded; else it is the
 * item's own, after four successes of others. Where different items fail one after
 * the other, a domain is suspended: there are only single tries, until one succeeds that was launched since.
 */
import { z } from 'zod';
import { faultScope } from '../../schemas/faults.ts';
import type { Message } from '../../schemas/messages.ts';
import { count, seconds } from '../../schemas/units.ts';
import { given } from '../collections/given.ts';
import type { Context } from '../machine/definition.ts';
import { byHand } from '../machine/state.ts';

/**
 * Numbers of remembered tries of good items and of items that have failed in a row: enough to tell a share from chance, few
 * enough to forget soon.
 */
const remembered = 16;
/** Number of items whose forgotten failures are remembered: more than can fail by themselves in a round, in all known cases. */
const mostForgiven = 256;
/**
 * A domain is healthy while at most this share of tries of good items fails in it: six failures in a row are then not chance (1
 * of 4,096).
 */
const healthyShare = 1 / 4;
/**
 * A domain is suspended after failures of so many different items in a row: at a failure rate of 10 %, chance does this once in
 * 10⁸ tries.
 */
export const itemsToSuspend = 8;
/** Where other tries are in flight, a suspension takes more failures in a row: these few at least, and some per try in flight. */
const leastFailures = 4;
const failuresPerTry = 1.5;
/**
 * A failure counts as the item's own after so many later successes of other items: where 90 % fail, chance does this once in 10⁴.
 */
const successesToJudge = 4;
/** The longest pause, in seconds: an outage that has ended costs no more. */
export const longestPauseSeconds = 60;

/** Returns the pause before a try after this many failures in a row, in seconds: 0, 1, 2, 4 … 60. */
export function pauseAfter(failures: number): number {
  return failures <= 1 ? 0 : Math.min(2 ** Math.min(failures - 2, 6), longestPauseSeconds);
}

const where = { scope: faultScope, id: z.string().nullable() };
const savedDomain = z.strictObject({
  ...where,
  /** Results of the latest tries of items that have shown that they can succeed, oldest first: whether each has failed. */
  recent: z.array(z.boolean()),
  /** Items that have failed, with the part, oldest first; no try has succeeded since. */
  failing: z.array(z.tuple([z.string(), z.string().nullable()])),
  /** Items whose failures were forgotten when a row of failures of different items ended. Absent if there are none. */
  forgiven: z.array(z.string()).optional(),
  /** Tries that have failed, none having succeeded since. */
  failures: count,
  /** Launch number of the first of these failures. */
  since: count,
  suspension: z
    .strictObject({
      at: seconds,
      /** Tries with this launch number or a later one were launched after the suspension. */
      order: count,
      /** So many different items have to fail before items that have failed are tried again, after pauses. */
      items: count,
      /** Single tries in a row that have failed since the suspension. */
      failures: count,
      lastTryAt: seconds,
      /** Number of items that were requested for comparison. */
      asked: count,
      /** Earliest time of the next single try, in seconds. */
      retryAt: seconds,
    })
    .nullable(),
  /** Single tries in flight, each with its item. */
  tries: z.array(z.tuple([z.string(), z.string()])),
});
const savedFailure = z.strictObject({
  ...where,
  item: z.string(),
  place: count,
  kind: z.string(),
  order: count,
  /** Whether a try of the item had succeeded before: then the failure has counted against the domains at once. */
  isGood: z.boolean(),
  /** Number of successful tries that were launched after the failure. Absent: none. */
  successes: count.optional(),
});
const savedFaults = z.strictObject({ domains: z.array(savedDomain), open: z.array(savedFailure) });

/** Place of tries: a part of a scope, or `null` for the whole scope or an unknown part. */
export interface Where {
  readonly scope: Message<'tries.suspended'>['scope'];
  readonly id: string | null;
}

/** Returns the place that is a whole scope. */
export const wholeOf = (scope: Where['scope']): Where => ({ scope, id: null });

/** A failed try that is not judged yet: the number of the try among those of its item, and its launch number. */
export interface Failure extends Readonly<Omit<z.output<typeof savedFailure>, 'successes'>> {
  successes?: number | undefined;
}

/** The verdict on a failure: it is forgotten, or is the item's own. */
export interface Verdict {
  readonly failure: Failure;
  readonly isOwn: boolean;
}

/** A place in which tries run and may fail together. */
export interface FaultDomain extends Where {
  readonly recent: boolean[];
  readonly failing: Map<string, string | null>;
  readonly forgiven: Set<string>;
  failures: number;
  since: number;
  suspension: z.output<typeof savedDomain>['suspension'];
  readonly tries: Map<string, string>;
  readonly open: Set<Failure>;
}

/** The reason of a single try: where it is made, the tries in a row that have failed there, and the time since the last one. */
export interface SingleTry {
  readonly code: 'probe';
  readonly scope: Where['scope'];
  readonly id?: string;
  readonly failures: number;
  readonly pauseSeconds: number;
}

type Ctx = Context<Message<'tries.suspended' | 'tries.recovered'>>;

const keyOf = ({ scope, id }: Where): string => (id === null ? scope : `${scope}/${id}`);
const byOrder = (a: Verdict, b: Verdict): number => a.failure.order - b.failure.order;

/** Returns the fields of a decision that name a domain. */
export const namedDomain = ({ scope, id }: Where): { scope: Where['scope']; id?: string } =>
  id === null ? { scope } : { scope, id };

/** The domains in which tries have failed lately, and the failures that await judgement. */
export class SharedFaults {
  readonly #domains = new Map<string, FaultDomain>();
  readonly #byItem = new Map<string, Set<Failure>>();
  /** Id by which decisions name the whole scope, if it has one. */
  readonly #whole: string | null;

  constructor(
    { domains, open }: z.output<typeof savedFaults> = { domains: [], open: [] },
    whole: string | null = null,
  ) {
    this.#whole = whole;
    for (const { recent, failing, forgiven, tries, ...rest } of domains) {
      const maps = { recent, failing: new Map(failing), forgiven: new Set(forgiven), tries: new Map(tries) };
      this.#domains.set(keyOf(rest), { ...rest, ...maps, open: new Set() });
    }
    for (const failure of open) this.#open(failure);
  }

  save(): z.output<typeof savedFaults> {
    const all = [...this.#domains.values()];
    return {
      domains: all.map(({ scope, id, recent, failing, forgiven, failures, since, suspension, tries }) => ({
        ...{ scope, id, recent: [...recent], failing: [...failing], failures, since },
        ...given({ forgiven: forgiven.size === 0 ? undefined : [...forgiven] }),
        ...{ suspension: suspension && { ...suspension }, tries: [...tries] },
      })),
      open: all.flatMap(({ open }) => [...open].map((failure) => ({ ...failure }))),
    };
  }

  /** Whether no try has failed lately, so that there is nothing to judge. */
  get isQuiet(): boolean {
    return this.#domains.size === 0;
  }

  /** The domains in which tries have failed lately. */
  get domains(): Iterable<FaultDomain> {
    return this.#domains.values();
  }

  find(where: Where): FaultDomain | undefined {
    return this.#domains.get(keyOf(where));
  }

  /** Returns the fields of a decision that name a domain. */
  named({ scope, id }: Where): ReturnType<typeof namedDomain> {
    return namedDomain({ scope, id: id ?? this.#whole });
  }

  /** Whether a domain is suspended, so that only single tries are made there. */
  isSuspended(where: Where): boolean {
    return !this.isQuiet && this.find(where)?.suspension != null;
  }

  /** Returns the suspended ones among the domains of a try. */
  suspendedAmong(all: readonly Where[]): FaultDomain[] {
    const suspended: FaultDomain[] = [];
    if (this.isQuiet) return suspended;
    for (const where of all) {
      const domain = this.find(where);
      if (domain?.suspension != null) suspended.push(domain);
    }
    return suspended;
  }

  /** Returns the place of a try in a part; the whole scope if there are no other parts to compare the part with, and never were. */
  placeIn(part: Where, hasOthers: boolean): Where {
    return hasOthers || this.find(part) !== undefined ? part : { scope: part.scope, id: null };
  }

  /** Items whose failures await judgement. */
  get items(): Iterable<string> {
    return this.#byItem.keys();
  }

  /** Returns how many failures of an item are not judged yet. */
  countOpen(item: string): number {
    return this.#byItem.get(item)?.size ?? 0;
  }

  /** Returns the failures of an item that await judgement. */
  openOf(item: string): Iterable<Failure> {
    return this.#byItem.get(item) ?? [];
  }

  /**
   * Notes that a try has failed. Its failure is open from now on.
   *
   * @param tryId - id of the try
   * @param at - time, in seconds
   * @returns whether the failure stays open; otherwise it is forgotten, because its part is suspended while other parts are not
   */
  failed(failure: Failure, tryId: string, at: number): boolean {
    const whole = this.domain({ scope: failure.scope, id: null });
    const own = failure.id === null ? undefined : this.domain(failure);
    if (own !== undefined) note(own, failure, tryId, at);
    if (failure.isGood) for (const one of [own, whole]) if (one !== undefined) remember(one, true);
    // A part that is known to fail says nothing about the whole scope.
    const isOwnSuspended = own?.suspension != null && whole.suspension === null;
    if (isOwnSuspended) return false;
    note(whole, failure, tryId, at);
    this.#open(failure);
    return true;
  }

  /** Notes a failure that is the item's own in any case, so that it is not left open. */
  failedAlone(failure: Failure, tryId: string, at: number): void {
    const own = failure.id === null ? undefined : this.find(failure);
    if (own !== undefined) note(own, failure, tryId, at);
    note(this.domain({ scope: failure.scope, id: null }), failure, tryId, at);
  }

  /**
   * Notes that a try of an item has succeeded, and judges the failures of other items that this try was launched after. The first
   * failure of an item is forgotten; a later failure becomes the item's own after some successes of others, if the domains are
   * healthy. Emits which domains have recovered.
   *
   * @param order - number of the launch
   */
  succeeded(
    { scope, id }: Where,
    item: string,
    order: number,
    ctx: Ctx,
  ): { verdicts: Verdict[]; hasRecovered: boolean } {
    const whole = this.#domains.get(scope);
    const own = id === null ? undefined : this.find({ scope, id });
    const known = [own, whole].filter((one) => one !== undefined);
    let hasRecovered = false;
    this.#countForgone(item, order, known);
    const verdicts = this.#forgetFirst(scope, item, order);
    for (const domain of known) remember(domain, false);
    whole?.forgiven.delete(item);
    const isOwn = known.every((domain) => isHealthy(domain, whole?.forgiven));
    for (const domain of known) {
      const { suspension } = domain;
      if (suspension !== null) {
        // No more items are requested, so only tries that were launched before can show anything.
        if (order < suspension.order && scope !== 'prompt') continue;
        this.#recover(domain, 'succeeded', ctx);
        hasRecovered = true;
      } else if (order >= domain.since) calm(domain);
      // A try that was launched before the first failure says little about tries that are launched now.
      else forgetOldest(domain);
    }
    for (const failure of this.#openIn(scope))
      if (failure.order <= order) failure.successes = (failure.successes ?? 0) + 1;
    const judged: Verdict[] = [];
    for (const { open } of known) {
      for (const failure of open) {
        if (failure.order > order) break;
        const isItsOwn = isOwn && failure.item !== item;
        if (!isItsOwn || (failure.successes ?? 0) >= successesToJudge) judged.push({ failure, isOwn: isItsOwn });
      }
    }
    for (const { failure } of judged) this.#close(failure);
    verdicts.push(...judged);
    for (const domain of known) this.#drop(domain);
    return { verdicts: verdicts.sort(byOrder), hasRecovered };
  }

  /** Returns the pause before the next try of an item, in seconds; where other items fail, too, even the first is a second. */
  pauseBefore(scope: Where['scope'], failures: number): number {
    const isShared = (this.#domains.get(scope)?.failing.size ?? 0) > 1;
    return Math.max(isShared ? 1 : 0, pauseAfter(failures));
  }

  /**
   * Notes that a try begins.
   *
   * @param places - the domains in which it runs
   * @param id - id of the try
   * @param at - time, in seconds
   * @returns the reason, if it is a single try in one of them; `undefined` for a usual try
   */
  begin(places: readonly Where[], id: string, item: string, at: number): SingleTry | undefined {
    const domains = this.suspendedAmong(places);
    const [first] = domains;
    if (first === undefined) return undefined;
    const [pauseSeconds] = domains.map((one) => beginTry(one, id, item, at));
    return { code: 'probe', ...this.named(first), failures: first.failures, pauseSeconds: pauseSeconds! };
  }

  /** The suspended parts of a scope that take a single try now, and in which none is made. */
  *dueParts(scope: Where['scope'], at: number): Generator<string> {
    for (const { scope: its, id, suspension, tries } of this.#domains.values()) {
      if (its !== scope || id === null || suspension === null) continue;
      if (tries.size === 0 && suspension.retryAt <= at) yield id;
    }
  }

  /**
   * Suspends a domain whose tries fail one after the other.
   *
   * @param order - number of the next launch
   * @param inFlight - tries in flight; where these are few, few other items are tried
   * @returns the failures that are forgotten because only a part is suspended
   */
  suspend(domain: FaultDomain, order: number, inFlight: number, ctx: Ctx): Verdict[] {
    const { failing, failures, id, scope } = domain;
    const retrySeconds = scope === 'prompt' ? undefined : 1;
    const at = ctx.at;
    const items = Math.min(itemsToSuspend, failing.size + Math.max(1, inFlight));
    domain.suspension = {
      ...{ at, order, items, failures: 0, lastTryAt: at, asked: 0 },
      retryAt: at + (retrySeconds ?? 0),
    };
    const reason = {
      code: 'failing',
      items: Math.max(1, failing.size),
      failures: Math.max(1, failures),
      ...given({ retrySeconds }),
    } as const;
    ctx.emit({ type: 'tries.suspended', at, ...this.named(domain), reason });
    const whole = this.#domains.get(scope);
    if (id === null || whole === undefined || whole.suspension !== null) return [];
    for (const [item, failedIn] of whole.failing) {
      if (failedIn !== id) continue;
      whole.failing.delete(item);
    }
    whole.failures = Math.min(whole.failures, whole.failing.size);
    const verdicts = [...domain.open].map((failure) => ({ failure, isOwn: false }));
    for (const { failure } of verdicts) {
      this.#forgave(failure);
      this.#close(failure);
    }
    return verdicts;
  }

  /**
   * Suspends domains whose items fail in a row or, if there is only one item, in which this item fails often. The items leave
   * with their first success.
   *
   * @param hasOther - whether a domain has an item, tried now or next in line, that has not failed in it
   * @returns whether there was such a domain: later tries may then show others
   */
  suspendFailing(hasOther: (domain: FaultDomain) => boolean, suspend: (domain: FaultDomain) => void): boolean {
    let isAny = false;
    for (const domain of [...this.#domains.values()]) {
      const { id, scope } = domain;
      if (!mayFail(domain)) continue;
      // While only single tries are made, the few failures in a part say little about it.
      const isDoubtful = this.#domains.get(scope)?.suspension != null || this.countNew(domain) < 2;
      if (id !== null && isDoubtful) continue;
      const fails = isFailing(domain, Number.POSITIVE_INFINITY, hasOther) || (failsAlone(domain) && !hasOther(domain));
      if (!fails) continue;
      suspend(domain);
      isAny = true;
    }
    return isAny;
  }

  /**
   * Suspends a whole scope in which each part is suspended: from then on items that fail are compared with items that have not
   * failed, in whatever part they run.
   *
   * @param domains - the domains in which something can be tried: one alone is no whole
   * @returns whether it was suspended
   */
  suspendWhole(domains: Iterable<Where>, suspend: (whole: FaultDomain) => void): boolean {
    const all: FaultDomain[] = [];
    for (const where of domains) {
      const own = this.find(where);
      if (own?.suspension == null) return false;
      all.push(own);
    }
    if (all.length < 2) return false;
    const whole = this.domain({ scope: all[0]!.scope, id: null });
    if (whole.suspension !== null) return false;
    for (const { failing, failures } of all) {
      for (const [item, id] of failing) whole.failing.set(item, id);
      whole.failures += failures;
    }
    suspend(whole);
    return true;
  }

  /** Ends the suspensions of all domains in a scope, because the host has reported a change. */
  endSuspensions(scope: Where['scope'], ctx: Ctx): void {
    for (const domain of [...this.#domains.values()]) {
      if (domain.scope !== scope) continue;
      if (domain.suspension !== null) this.#recover(domain, 'told', ctx);
      calm(domain);
      this.#drop(domain);
    }
  }

  /**
   * Notes which single tries have ended without a result for their domain, such as a try that an engine refused while
   * environments are suspended. The next try waits as after a failure, because otherwise tries would follow each other at once.
   */
  dropTries(at: number, isOver: (domain: FaultDomain, id: string) => boolean): void {
    for (const domain of this.#domains.values()) {
      const { tries, suspension, failing } = domain;
      for (const id of tries.keys()) {
        if (!isOver(domain, id)) continue;
        tries.delete(id);
        if (suspension === null) continue;
        suspension.items = Math.min(suspension.items, failing.size);
        suspension.failures += 1;
        suspension.retryAt = Math.max(suspension.retryAt, at + pauseAfter(suspension.failures + 1));
      }
    }
  }

  /**
   * Returns the time of the next single try, in seconds, where none is being made.
   *
   * @param isWaitedFor - whether something waits for a try in a domain
   */
  nextTryAt(isWaitedFor: (domain: FaultDomain) => boolean = () => true): number | undefined {
    let next: number | undefined;
    for (const domain of this.#domains.values()) {
      const { suspension, tries } = domain;
      if (suspension === null || suspension.retryAt === 0 || tries.size > 0 || !isWaitedFor(domain)) continue;
      next = Math.min(next ?? suspension.retryAt, suspension.retryAt);
    }
    return next;
  }

  /** Single tries that were due, and could not be made, wait for the next event instead of a timer. */
  dropDue(at: number): void {
    for (const { suspension } of this.#domains.values())
      if (suspension !== null && suspension.retryAt <= at) suspension.retryAt = 0;
  }

  /** Handles a restart of the host: nothing is in flight any more, and suspensions stay. */
  restart(at: number): void {
    for (const { tries, suspension } of this.#domains.values()) {
      tries.clear();
      if (suspension !== null) suspension.retryAt = at + 1;
    }
  }

  /**
   * Forgets first failures of items that happened before the launch of the present successful try. If the try ends an outage of
   * the whole scope, all open failures are forgotten.
   */
  #forgetFirst(scope: Where['scope'], item: string, order: number): Verdict[] {
    const whole = this.#domains.get(scope);
    const { suspension = null, failing, forgiven } = whole ?? {};
    if (suspension !== null && order < suspension.order) return [];
    const isOutage =
      suspension !== null && (failing!.has(item) || [...failing!.keys()].some((one) => !forgiven!.has(one)));
    // Failures during an outage of the whole scope say nothing about a part.
    if (isOutage)
      for (const one of this.#domains.values()) if (one.scope === scope && one.suspension === null) calm(one);
    const all = this.#openIn(scope).filter(
      (one) => isOutage || (one.order <= order && forgiven?.has(one.item) !== true),
    );
    for (const failure of all) {
      this.#forgave(failure);
      this.#close(failure);
    }
    return all.map((failure) => ({ failure, isOwn: false })).sort(byOrder);
  }

  #openIn(scope: Where['scope']): Failure[] {
    return [...this.#domains.values()].flatMap((one) => (one.scope === scope ? [...one.open] : []));
  }

  /** Returns how many items fail in a domain without failures that were forgotten before. */
  countNew({ scope, failing }: FaultDomain): number {
    const forgiven = this.#domains.get(scope)?.forgiven;
    if (forgiven === undefined || forgiven.size === 0) return failing.size;
    let count = 0;
    for (const one of failing.keys()) if (!forgiven.has(one)) count += 1;
    return count;
  }

  /** Notes that a failure of an item was forgotten: a second failure of this item says little about the domain. */
  #forgave({ scope, item }: Failure): void {
    forgive(this.domain({ scope, id: null }), item);
  }

  /**
   * Forgets the oldest unjudged failures like the given one (same try of the item, same kind), and keeps only the latest few.
   * Other tries have succeeded after the later failures, too.
   */
  keepLatest({ item, place, kind }: Pick<Failure, 'item' | 'place' | 'kind'>, most: number): void {
    const all = [...this.openOf(item)].filter((one) => one.place === place && one.kind === kind);
    all.sort((a, b) => b.order - a.order);
    const oldest = all[most - 1];
    for (const failure of all.slice(most)) {
      const { successes } = failure;
      if (successes !== undefined) oldest!.successes = Math.max(oldest!.successes ?? 0, successes);
      this.#close(failure);
    }
  }

  /** Forgets the failures of an item, except those in one scope if it is given. */
  forget(item: string, except?: Where['scope']): void {
    for (const failure of [...this.openOf(item)]) if (failure.scope !== except) this.#close(failure);
    for (const domain of this.#domains.values())
      if (domain.scope !== except && domain.forgiven.delete(item)) this.#drop(domain);
  }

  /** Forgets a domain that has left. Returns the failures that are forgotten with the part. */
  removeDomain(where: Where, ctx: Ctx): Verdict[] {
    const own = this.find(where);
    if (own === undefined) return [];
    if (own.suspension !== null) this.#recover(own, 'told', ctx);
    const verdicts = [...own.open].map((failure) => ({ failure, isOwn: false }));
    for (const { failure } of verdicts) this.#close(failure);
    this.#domains.delete(keyOf(where));
    return verdicts;
  }

  /** Returns a domain, even if nothing has failed in it. */
  domain(where: Where): FaultDomain {
    const key = keyOf(where);
    const known = this.#domains.get(key);
    if (known !== undefined) return known;
    const { scope, id } = where;
    const made: FaultDomain = {
      ...{ scope, id, recent: [], failing: new Map(), forgiven: new Set(), failures: 0, since: 0 },
      ...{ suspension: null, tries: new Map(), open: new Set() },
    };
    this.#domains.set(key, made);
    return made;
  }

  /** Counts earlier failures of an item that has now succeeded: they were no fault of the item. */
  #countForgone(item: string, order: number, known: readonly FaultDomain[]): void {
    for (const failure of this.openOf(item)) {
      if (failure.order > order || failure.isGood) continue;
      for (const one of known) if (one.id === null || one.id === failure.id) remember(one, true);
    }
  }

  #recover(domain: FaultDomain, code: 'succeeded' | 'told', ctx: Ctx): void {
    const suspendedSeconds = ctx.at - domain.suspension!.at;
    domain.suspension = null;
    domain.tries.clear();
    calm(domain);
    ctx.emit({ type: 'tries.recovered', at: ctx.at, ...this.named(domain), reason: { code, suspendedSeconds } });
  }

  #open(failure: Failure): void {
    this.domain(failure).open.add(failure);
    const its = this.#byItem.get(failure.item);
    if (its === undefined) this.#byItem.set(failure.item, new Set([failure]));
    else its.add(failure);
  }

  #close(failure: Failure): void {
    this.find(failure)?.open.delete(failure);
    const its = this.#byItem.get(failure.item);
    its?.delete(failure);
    if (its?.size === 0) this.#byItem.delete(failure.item);
  }

  /** Forgets a domain without open failures. */
  #drop(domain: FaultDomain): void {
    const { suspension, open, failing, forgiven, recent } = domain;
    if (suspension !== null || open.size + failing.size + forgiven.size > 0) return;
    if (!recent.includes(true)) this.#domains.delete(keyOf(domain));
  }
}

/** Makes a state field for the faults that tries share. Decisions name the whole scope by an id, if one is given. */
export const sharedFaultsOf = (whole: string | null) =>
  byHand(savedFaults, {
    decode: (saved) => new SharedFaults(saved, whole),
    encode: (live: SharedFaults) => live.save(),
  });
/** State field for the faults that tries share. */
export const sharedFaults = sharedFaultsOf(null);

/** The value of {@link sharedFaults} in a new state. */
export const noFaults = (): z.input<typeof savedFaults> => ({ domains: [], open: [] });

/** Whether tries of an item have to wait in a domain that is suspended. */
export function mustWait({ suspension, failing, tries }: FaultDomain, item: string, at: number): boolean {
  if (suspension === null) return false;
  // Until enough different items have failed, one try of each other item tells most.
  const others = suspension.items - failing.size;
  if (others > 0 && !failing.has(item)) return tries.size >= others || [...tries.values()].includes(item);
  return tries.size > 0 || suspension.retryAt > at;
}

/** Whether a domain can be failing at all: nearly all are passed over by this, before anything is counted. */
export const mayFail = ({ suspension, failures }: FaultDomain): boolean => suspension === null && failures >= 2;

/**
 * Whether tries fail in a row: tries of enough different items, or of all items in flight, or as many tries as are in flight.
 *
 * @param inFlight - tries in flight
 * @param hasOther - whether one of them is of an item that has not failed
 */
export function isFailing(domain: FaultDomain, inFlight: number, hasOther: (domain: FaultDomain) => boolean): boolean {
  const { failing, failures, id } = domain;
  if (!mayFail(domain)) return false;
  const isMany = failing.size >= itemsToSuspend || failures >= Math.max(leastFailures, failuresPerTry * inFlight);
  if (!isMany && hasOther(domain)) return false;
  // A single item may fail by itself wherever it is tried.
  if (id !== null && failing.size < 2) return false;
  // A part that fails is no fault of the whole.
  const ids = new Set(failing.values());
  return id !== null || ids.has(null) || ids.size > 1;
}

/**
 * Whether tries have failed often enough where there is nothing to compare with: then a part cannot be told from the whole scope.
 */
const failsAlone = ({ id, suspension, failures }: FaultDomain): boolean =>
  id === null && suspension === null && failures >= leastFailures;

/** Whether a suspended domain takes a single try of some item now. */
export function takesTry({ suspension, failing, tries }: FaultDomain, at: number): boolean {
  if (suspension === null) return false;
  return failing.size < suspension.items || (tries.size === 0 && suspension.retryAt <= at);
}

/** Notes that a single try begins, and returns the seconds since the try before. */
export function beginTry({ suspension, tries }: FaultDomain, id: string, item: string, at: number): number {
  const pauseSeconds = at - suspension!.lastTryAt;
  suspension!.lastTryAt = at;
  tries.set(id, item);
  return pauseSeconds;
}

function note(domain: FaultDomain, { item, id, order }: Failure, tryId: string, at: number): void {
  const { failing, suspension, tries } = domain;
  if (suspension !== null && tries.delete(tryId)) {
    if (failing.size >= suspension.items || failing.has(item)) suspension.failures += 1;
    suspension.retryAt = at + pauseAfter(suspension.failures + 2);
  }
  if (domain.failures === 0) domain.since = order;
  domain.failures += 1;
  failing.delete(item);
  failing.set(item, id);
  if (failing.size > remembered) failing.delete(failing.keys().next().value!);
}

function remember({ recent }: FaultDomain, failed: boolean): void {
  recent.push(failed);
  if (recent.length > remembered) recent.shift();
}

/** Notes that a failure of an item was forgotten; of many, the latest. */
function forgive({ forgiven }: FaultDomain, item: string): void {
  forgiven.delete(item);
  forgiven.add(item);
  if (forgiven.size > mostForgiven) forgiven.delete(forgiven.values().next().value!);
}

/**
 * Many different items have failed in a row. The domain is still healthy if each of these items had failed before, was forgiven,
 * and failed again where others succeeded; or after a long series of successes.
 */
function isHealthy({ recent, failing }: FaultDomain, forgiven: ReadonlySet<string> = new Set()): boolean {
  const failed = recent.filter((one) => one).length;
  if (failing.size >= itemsToSuspend) {
    return failed === 0 && (recent.length === remembered || [...failing.keys()].every((one) => forgiven.has(one)));
  }
  return failed <= healthyShare * recent.length;
}

function calm(domain: FaultDomain): void {
  domain.failing.clear();
  domain.failures = 0;
}

function forgetOldest(domain: FaultDomain): void {
  const { failing } = domain;
  const oldest = failing.keys().next().value;
  if (oldest === undefined) return;
  failing.delete(oldest);
  domain.failures = failing.size === 0 ? 0 : Math.max(1, domain.failures - 1);
}
