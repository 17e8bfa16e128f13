/** Law 20: no busy loop. */
import type { AnyDecision, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { type BadDay, drawStandstill, type Outage, scopesOf } from '../hosts/bad-day.ts';
import { BadDayHost } from '../hosts/bad-day-host.ts';
import { heldBy } from '../hosts/play-to-end.ts';
import { type FaultScope, triesEnough } from '../hosts/tries.ts';
import { newSubject } from '../runs/run.ts';
import { messageOf, textOfRun } from '../runs/search.ts';
import type { Case } from './law.ts';

/**
 * Decisions about a try: the try is begun and given up, timers are set, its environment starts and ends, its prompt leaves, and
 * another prompt is requested.
 */
const decisionsPerTry = 16;

/**
 * Throws if a policy is busy while nothing succeeds: it makes more decisions than the tries in flight and one try per minute lead
 * to; or it holds waiting things, and no notice names what fails. The run is only the seed of the outage.
 *
 * @returns events that were sent; 0 for a policy that tries nothing
 */
export function noBusyLoop(one: Case): number {
  const { definition, config, events, hints } = one;
  const scopes = scopesOf(definition, definition.config.parse(config) as Readonly<Record<string, unknown>>);
  // Tries that the host makes on its own do not count.
  if (scopes.length === 0 || definition.events.some(({ type }) => type === 'request.arrived')) return 0;
  const day = drawStandstill(JSON.stringify(events).length, scopes);
  const subject = newSubject(definition, config);
  const host = new BadDayHost(definition, config, day, subject, hints);
  const notices: AnyDecision[] = [];
  let decided = 0;
  try {
    host.playUntilRest(({ at }, decisions) => {
      if (at < host.firstRefusal) return undefined;
      decided += decisions.length;
      notices.push(...decisions.filter((decision) => isNotice(definition, decision)));
      expectCalm(host, day.outage, at, decided);
      return at >= day.outage.from + day.outage.seconds;
    });
    const { outage } = day;
    if (
      host.firstRefusal < Number.POSITIVE_INFINITY &&
      heldBy(definition, subject).length > 0 &&
      !notices.some((notice) => names(notice, outage))
    )
      throw new Error(`no notice names what fails (${outage.scope}), and ${heldBy(definition, subject)[0]} waits`);
  } catch (error) {
    throw new Error(`${messageOf(error)}${onTheDay(day, config)}${textOfRun(host.host.log, 'events and decisions')}`, {
      cause: error,
    });
  }
  return host.sent;
}

/** Describes the day and the configuration of a failure, for its message. */
export const onTheDay = (day: BadDay, config: unknown): string =>
  `\n  on the day ${JSON.stringify(day)}, with ${JSON.stringify(config)}`;

function isNotice({ decisions }: AnyPolicyDefinition, { type }: AnyDecision): boolean {
  return decisions.some((message) => message.type === type && message.kind === 'notice');
}

/** Whether a notice names the failing scope; faults of data count as faults of prompts. */
function names(notice: AnyDecision, { scope }: Outage): boolean {
  if (notice.type === 'slots.suspended') return scope === 'environment';
  const { scope: named } = notice as AnyDecision & { scope?: string };
  return named === (scope === 'data' ? 'prompt' : scope);
}

function expectCalm(
  { flights, firstRefusal: first }: BadDayHost,
  { scope, from }: Outage,
  now: number,
  decided: number,
): void {
  const needs = scope === 'data' ? 'engine' : scope;
  const inFlight = flights.filter((one) => one.from <= first && one.until >= first).length;
  const domains =
    1 + new Set(flights.filter((one) => one.scopes.includes(needs as FaultScope)).flatMap((one) => one.where)).size;
  const most = decisionsPerTry * triesEnough(inFlight, domains, now - from);
  if (decided <= most) return;
  throw new Error(
    `${decided} decisions in ${now - first} s without a success, with ${inFlight} tries in flight at first and ${domains} domains: at most ${Math.floor(most)} are needed`,
  );
}
