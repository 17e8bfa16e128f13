/** Law 19: a shared fault costs no prompt. */
import type { AnyDecision } from '../../core/machine/definition.ts';
import { type BadDay, drawDay, type Outage, scopesOf, smallerDays } from '../hosts/bad-day.ts';
import { BadDayHost } from '../hosts/bad-day-host.ts';
import { type FaultScope, triesEnough } from '../hosts/tries.ts';
import { newSubject } from '../runs/run.ts';
import { messageOf, textOfRun } from '../runs/search.ts';
import type { Case } from './law.ts';
import { onTheDay } from './no-busy-loop.ts';

/** Latest time after the outage at which all work must be over, in seconds. */
const overAfterSeconds = 7200;

/**
 * Throws if an outage does lasting harm: an item that does not fail by itself is given up or lost, an item leaves twice, an item
 * that fails by itself is not given up, or there are more tries during the outage than needed to notice its end. The run is only
 * the seed of the bad day.
 *
 * @returns events that were sent; 0 for a policy that tries nothing
 */
export function sharedFaultsCostNothing(one: Case): number {
  const day = dayOf(one);
  return day === undefined ? 0 : live(one, day);
}

function dayOf({ definition, config, events }: Case): BadDay | undefined {
  const scopes = scopesOf(definition, definition.config.parse(config) as Readonly<Record<string, unknown>>);
  return scopes.length === 0 ? undefined : drawDay(JSON.stringify(events).length, scopes);
}

/** Shrinks the bad day of a failing case, and returns its message. */
export function smallestDay(one: Case): string | undefined {
  let day = dayOf(one);
  if (day === undefined) return undefined;
  let message = failureOn(one, day);
  if (message === undefined) return undefined;
  for (let left = 200; left > 0; ) {
    let found: BadDay | undefined;
    for (const smaller of smallerDays(day)) {
      if (left-- <= 0) break;
      const says = failureOn(one, smaller);
      if (says === undefined) continue;
      [found, message] = [smaller, says];
      break;
    }
    if (found === undefined) break;
    day = found;
  }
  return message;
}

function failureOn(one: Case, day: BadDay): string | undefined {
  try {
    live(one, day);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Plays a policy through a bad day. */
export function live(one: Case, day: BadDay): number {
  const { definition, config, hints } = one;
  const subject = newSubject(definition, config);
  const host = new BadDayHost(definition, config, day, subject, hints);
  try {
    let known = 0;
    let waiting: number | undefined;
    let most = 0;
    let isSuspended = false;
    host.play(({ at }, decisions) => {
      expectSoon(host, day, at);
      isSuspended ||= at >= host.firstRefusal && decisions.some((one) => suspends(one, day.outage));
      if (day.outage === undefined || host.flights.length === known) return undefined;
      known = host.flights.length;
      // Before tries are suspended, and if some succeed, more tries may be in flight than at the first refusal.
      if ((day.outage.ofTen < 10 || !isSuspended) && at >= day.outage.from) most = Math.max(most, inFlightAt(host, at));
      if (at < host.firstRefusal) return undefined;
      waiting ??= host.waiting;
      expectFewTries(host, day.outage, at, { most, waiting });
      return undefined;
    });
    expectEnds(host);
  } catch (error) {
    throw new Error(
      `${messageOf(error)}${advice(definition)}${onTheDay(day, config)}${textOfRun(host.host.log, 'events and decisions')}`,
      {
        cause: error,
      },
    );
  }
  return host.sent;
}

/** What a policy of one's own may do in place of telling faults apart itself. */
const advice = ({ id }: Case['definition']): string =>
  id.includes('/')
    ? ' (a policy that takes reports of failures has to tell a fault that all tries share from one of the prompt itself; ' +
      'where the host tries again by itself, take no response.failed: docs/writing-a-policy.md)'
    : '';

const suspends = (decision: AnyDecision, outage: Outage | undefined): boolean =>
  decision.type === 'tries.suspended' && (decision as AnyDecision & { scope: string }).scope === outage?.scope;

/** Throws if the policy still holds things long after the outage. */
function expectSoon(host: BadDayHost, { outage }: BadDay, at: number): void {
  const end = outage === undefined ? 0 : outage.from + outage.seconds;
  if (at < end + overAfterSeconds) return;
  const { pending } = host;
  const poisoned = pending.filter((one) => host.isPoisoned(one));
  const says = poisoned.length > 0 ? `, ${poisoned.slice(0, 10).join(', ')} of which fail by themselves` : '';
  throw new Error(
    `${at - end} s after the outage ${pending.length} are still there: ${pending.slice(0, 10).join(', ')}${says}`,
  );
}

function expectEnds(host: BadDayHost): void {
  const { pending } = host;
  if (pending.length > 0)
    throw new Error(`in the end ${pending.slice(0, 10).join(', ')} have neither left nor been given up`);
}

const inFlightAt = ({ flights }: BadDayHost, at: number): number =>
  flights.filter((one) => one.from <= at && one.until >= at).length;

/** Throws if there were more tries in an outage than suffice. */
function expectFewTries(
  host: BadDayHost,
  { scope, from, seconds }: Outage,
  now: number,
  before: { most: number; waiting: number },
): void {
  const { flights, firstRefusal } = host;
  const during = flights.filter(
    (one) => one.scopes.includes(scope as FaultScope) && one.from >= from && one.from < from + seconds,
  );
  const inFlight = Math.max(before.most, inFlightAt(host, firstRefusal)) + before.waiting;
  const successes = during.filter((one) => one.end === 'success' && one.until <= now).length;
  const domains = 1 + new Set(during.flatMap((one) => one.where)).size;
  const lasted = Math.min(now, from + seconds) - from;
  const most = triesEnough(inFlight, domains, lasted, successes);
  if (during.length <= most) return;
  throw new Error(
    `${during.length} tries in ${lasted} s of the outage, of ${domains} domains, with ${inFlight} in flight at first and ${successes} successes: at most ${Math.floor(most)} tell of its end`,
  );
}
