/** A bad day: an outage for all tries, with its time, and the prompts that fail by themselves. */
import type { Choices } from '../../core/generators/choices.ts';
import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { choicesOf } from './play-to-end.ts';
import { begins, type FaultScope, tries } from './tries.ts';

/** An outage: all tries that need the scope fail. */
export interface Outage {
  /** The scope that fails; `data` means the prompts themselves. */
  readonly scope: FaultScope | 'data';
  /** Start of the outage, in seconds. */
  readonly from: number;
  /** Duration of the outage, in seconds. */
  readonly seconds: number;
  /** Tries of ten that fail. */
  readonly ofTen: number;
  /** After how long a try is refused, in seconds. */
  readonly refusedAfter: number;
  /** Whether the outage ends tries that are in flight when it begins. */
  readonly kills: boolean;
}

/** The outage and the bad prompts that a policy meets. */
export interface BadDay {
  /** Number of prompts, or of other items that the host asks for. */
  readonly items: number;
  readonly outage: Outage | undefined;
  /** Items that fail by themselves, whoever tries them, by their numbers from 0. */
  readonly poisoned: readonly number[];
  /** The scope as which their failures are reported. */
  readonly poison: FaultScope | 'data';
  /** Seeds how long tries take. */
  readonly seed: number;
  /** Whether a policy may give up items that fail only together with all others. */
  readonly isLenient?: boolean;
}

/** Returns the scopes that may fail for all tries that a policy requests; an empty list if it requests none. */
export function scopesOf(definition: AnyPolicyDefinition, config: Readonly<Record<string, unknown>>): FaultScope[] {
  const takes = new Set(definition.events.map(({ type }) => type));
  const decides = new Set(definition.decisions.map(({ type }) => type));
  // Another response replaces one without a reward, if a round waits for rewards and the host computes them.
  const waitsForRewards =
    config.filter === 'zero-variance' && decides.has('request.launch') && takes.has('reward.failed');
  // A host that makes the requests itself tries again by itself.
  const retries = !takes.has('request.arrived') || config.awaitRetries === true;
  const scopes = [...decides].flatMap((type) => {
    const rule = tries[type];
    if (rule === undefined || !takes.has(rule.failsBy) || (!rule.isMade && !waitsForRewards)) return [];
    return begins.has(type) && !retries ? [] : rule.scopes;
  });
  return [...new Set(scopes)];
}

const oneOf = <T>(choices: Choices, values: readonly T[]): T => values[choices.below(values.length)]!;

/** Seconds that an outage may last: from one to an hour. */
const lengths = [1, 10, 60, 600, 3600];

/** Draws an outage of one of these scopes. */
function drawOutage(choices: Choices, scopes: readonly FaultScope[]): Outage {
  return {
    scope: oneOf(choices, scopes),
    from: choices.below(60),
    seconds: oneOf(choices, lengths) + choices.below(3),
    ofTen: oneOf(choices, [10, 10, 9]),
    refusedAfter: oneOf(choices, [0.02, 0.005, 1, 5]),
    kills: choices.below(2) === 0,
  };
}

/** Draws a bad day for a policy whose tries have these scopes. */
export function drawDay(seed: number, scopes: readonly FaultScope[]): BadDay {
  const choices = choicesOf(seed);
  const items = 64;
  const count = oneOf(choices, [0, 0, 1, 7, 1 + choices.below(7)]);
  const poisoned = new Set(Array.from({ length: count }, () => choices.below(items)));
  const outage = count > 0 && choices.below(4) === 0 ? undefined : drawOutage(choices, scopes);
  const poison = oneOf(choices, [...scopes.filter((one) => one !== 'reward' || scopes.length === 1), 'data' as const]);
  return { items, outage, poisoned: [...poisoned].sort((a, b) => a - b), poison, seed };
}

/** Draws a day on which nothing succeeds from some moment on, for half an hour or longer. */
export function drawStandstill(seed: number, scopes: readonly FaultScope[]): BadDay & { readonly outage: Outage } {
  const choices = choicesOf(seed);
  const scope = oneOf(choices, scopes.includes('engine') ? [...scopes, 'data' as const] : scopes);
  const outage = { scope, from: choices.below(40), seconds: 1800 * (1 + choices.below(2)), ofTen: 10, kills: true };
  const refusedAfter = oneOf(choices, [0.02, 0.005, 1, 5]);
  const rest = { poisoned: [], poison: 'data' as const, isLenient: true };
  return { items: Number.MAX_SAFE_INTEGER, outage: { ...outage, refusedAfter }, ...rest, seed };
}

/** Returns smaller bad days, which may show the same fault, the smallest first. */
export function* smallerDays(day: BadDay): Generator<BadDay> {
  const { outage, poisoned, items } = day;
  if (outage !== undefined && poisoned.length > 0) {
    yield { ...day, outage: undefined };
    yield { ...day, poisoned: [] };
  }
  for (const one of poisoned) if (poisoned.length > 1) yield { ...day, poisoned: [one] };
  for (const one of poisoned)
    if (poisoned.length > 1) yield { ...day, poisoned: poisoned.filter((each) => each !== one) };
  for (const fewer of [1, 2, 4, 8, 16, 32])
    if (fewer < items && poisoned.every((one) => one < fewer)) yield { ...day, items: fewer };
  for (const one of poisoned)
    if (one > 0 && !poisoned.includes(one >> 1))
      yield { ...day, poisoned: poisoned.map((each) => (each === one ? one >> 1 : each)) };
  if (outage === undefined) return;
  for (const seconds of lengths) if (seconds < outage.seconds) yield { ...day, outage: { ...outage, seconds } };
  for (const from of [0, outage.from >> 1]) if (from < outage.from) yield { ...day, outage: { ...outage, from } };
  if (outage.ofTen < 10) yield { ...day, outage: { ...outage, ofTen: 10 } };
  if (!outage.kills) yield { ...day, outage: { ...outage, kills: true } };
  if (outage.refusedAfter > 0.02) yield { ...day, outage: { ...outage, refusedAfter: 0.02 } };
}
