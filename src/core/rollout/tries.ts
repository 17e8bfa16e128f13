/**
 * What the policies have in common that try items again (responses, samples, slices) where tries may share faults: which domains
 * are suspended after an event, and what follows for an item from a failure or from its judgement. An item whose unjudged failures
 * exceed its budget is set aside: it is tried again only rarely, until others have shown whose the failures were.
 */
import type { Message } from '../../schemas/messages.ts';
import type { Context } from '../machine/definition.ts';
import type { FaultDomain, SharedFaults, Verdict, Where } from './shared-faults.ts';

type Ctx = Context<Message<'tries.suspended' | 'tries.recovered'>>;

/** What a policy knows of the tries that share faults, in its state, and what it does where they fail. */
export interface TriesOf<State, C extends Ctx = Ctx> {
  /** Returns the number of the next launch. */
  order(state: State): number;
  /** Returns how many tries are in flight in a domain. */
  inFlight(state: State, domain: FaultDomain): number;
  /** Whether an item that has not failed in a domain is tried there, or is next in line. */
  hasOther(state: State, domain: FaultDomain): boolean;
  /** The parts that take tries. */
  parts(state: State): Iterable<Where>;
  /** Follows a suspension, before failures are judged: moves what is queued for the domain. */
  suspended(state: State, domain: FaultDomain, ctx: C): void;
  /** Charges a failure to its item, or forgets it. */
  judge(state: State, verdict: Verdict, ctx: C): void;
}

/** Suspends one domain. */
export function suspend<State, C extends Ctx>(
  faults: SharedFaults,
  tries: TriesOf<State, C>,
  state: State,
  domain: FaultDomain,
  ctx: C,
): void {
  const verdicts = faults.suspend(domain, tries.order(state), tries.inFlight(state, domain), ctx);
  tries.suspended(state, domain, ctx);
  for (const one of verdicts) tries.judge(state, one, ctx);
}

/**
 * Suspends the domains in which different items fail in a row, and the whole scope if all of its parts are suspended.
 *
 * @returns whether any was suspended: later tries may then show other failures
 */
export function suspendFailing<State, C extends Ctx>(
  faults: SharedFaults,
  tries: TriesOf<State, C>,
  state: State,
  ctx: C,
): boolean {
  const isAny = faults.suspendFailing(
    (one) => tries.hasOther(state, one),
    (one) => suspend(faults, tries, state, one, ctx),
  );
  return suspendWhole(faults, tries, state, ctx) || isAny;
}

/** Suspends the whole scope if all of its parts are suspended. Returns whether it was suspended now. */
export function suspendWhole<State, C extends Ctx>(
  faults: SharedFaults,
  tries: TriesOf<State, C>,
  state: State,
  ctx: C,
): boolean {
  return faults.suspendWhole(tries.parts(state), (whole) => suspend(faults, tries, state, whole, ctx));
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
