/**
 * What the policies have in common that try items again (responses, samples, slices) where tries may share faults: which domains
 * are suspended after an event, and what follows for an item from a failure or from its judgement. An item whose unjudged failures
 * exceed its budget is set aside: it is tried again only rarely, until others have shown whose the failures were.
 */
import type { Message } from '../../schemas/messages.ts';
import type { Context } from '../machine/definition.ts';
import type { FaultDomain, SharedFaults, Verdict, Where } from './shared-faults.ts';

/** What a policy knows of the tries that share faults. */
export interface TriesInFlight {
  /** Number of the next launch. */
  readonly order: number;
  /** Returns how many tries are in flight in a domain. */
  inFlight(domain: FaultDomain): number;
  /** Whether an item that has not failed in a domain is tried there, or is next in line. */
  hasOther(domain: FaultDomain): boolean;
  /** The parts that take tries. */
  parts(): Iterable<Where>;
  /** Follows a suspension, before failures are judged: moves what is queued for the domain. */
  suspended(domain: FaultDomain): void;
  /** Charges a failure to its item, or forgets it. */
  judge(verdict: Verdict): void;
}

type Ctx = Context<Message<'tries.suspended' | 'tries.recovered'>>;

/** Suspends one domain. */
export function suspend(faults: SharedFaults, tries: TriesInFlight, domain: FaultDomain, ctx: Ctx): void {
  const verdicts = faults.suspend(domain, tries.order, tries.inFlight(domain), ctx);
  tries.suspended(domain);
  for (const one of verdicts) tries.judge(one);
}

/**
 * Suspends the domains in which different items fail in a row, and the whole scope if all of its parts are suspended.
 *
 * @returns whether any was suspended: later tries may then show other failures
 */
export function suspendFailing(faults: SharedFaults, tries: TriesInFlight, ctx: Ctx): boolean {
  const isAny = faults.suspendFailing(
    (one) => tries.hasOther(one),
    (one) => suspend(faults, tries, one, ctx),
  );
  return suspendWhole(faults, tries, ctx) || isAny;
}

/** Suspends the whole scope if all of its parts are suspended. Returns whether it was suspended now. */
export function suspendWhole(faults: SharedFaults, tries: TriesInFlight, ctx: Ctx): boolean {
  return faults.suspendWhole(tries.parts(), (whole) => suspend(faults, tries, whole, ctx));
}

/** The failures of an item, beside its budget. */
export interface Account {
  /** Failures that are proven to be the item's own. */
  readonly failures: number;
  /** Failures that are not judged yet. */
  readonly open: number;
  /** Most failures after which the item is tried again. */
  readonly budget: number;
  /** Time since which the item has been set aside, in seconds; `null` if it is not. */
  readonly asideAt: number | null;
  /** Seconds after which an item that is set aside is given up; never if absent. */
  readonly giveUpSeconds?: number | undefined;
}

/** Whether proven failures exceed the budget, so that the item is not tried again. */
export const isSpent = ({ failures, budget }: Account): boolean => failures > budget;

/** Whether failures exceed the budget, those included that are not judged. */
export const isBeyond = ({ failures, open, budget }: Account): boolean => failures + open > budget;

/** Whether an item that is set aside has waited for comparison as long as it may. */
export const isUncompared = ({ asideAt, giveUpSeconds }: Account, at: number): boolean =>
  asideAt !== null && giveUpSeconds !== undefined && at >= asideAt + giveUpSeconds;

/**
 * Says what follows from a failure: the item is `over` its budget, or is given up because it could not be compared, or is tried
 * again; until then it is set aside since `asideAt`, or is not (`null`).
 */
export function afterFailure(one: Account, at: number): 'over' | 'not_compared' | { readonly asideAt: number | null } {
  if (isSpent(one)) return 'over';
  if (!isBeyond(one)) return { asideAt: null };
  return isUncompared(one, at) ? 'not_compared' : { asideAt: one.asideAt ?? at };
}

/** Returns the reason why an item that was set aside is given up. */
export const notCompared = ({ open: failures, asideAt, giveUpSeconds }: Account, at: number) =>
  ({ code: 'not_compared', failures, seconds: at - asideAt!, limitSeconds: giveUpSeconds! }) as const;

/**
 * Says what follows from a verdict for an item that waits: it is `over` its budget, or is tried `again` like others because it need
 * not be set aside any more, or goes on waiting.
 *
 * @param isOwn - whether the failure has proven to be the item's own
 */
export function afterVerdict(one: Account, isOwn: boolean): 'over' | 'again' | 'waits' {
  if (isSpent(one)) return 'over';
  return !isOwn && one.asideAt !== null && !isBeyond(one) ? 'again' : 'waits';
}
