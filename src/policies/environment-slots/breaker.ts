/** Stops starting a kind of environment that fails again and again, and makes trials at growing intervals. */

import { deny } from './endings.ts';
import type { Ctx } from './messages.ts';
import type { Kind, Slot, SlotsState } from './state.ts';

/** After so many doublings, the time between two trials stops growing. */
const mostDoublings = 20;

/** Counts the failure of an environment, unless the environment has worked before. */
export function broke(state: SlotsState, { kind, health, isTrial }: Slot, ctx: Ctx): void {
  if (health !== 'new') return;
  kind.failures += 1;
  if (kind.suspendedAt === null ? kind.failures >= state.config.suspendAfter : isTrial) {
    suspend(state, kind, isTrial, ctx);
  }
}

/** Programs that have waited for a trial in vain are told so: none waits for ever for environments that cannot start. */
function suspend(state: SlotsState, kind: Kind, isAgain: boolean, ctx: Ctx): void {
  const { environment, failures } = kind;
  const doubled = state.config.retrySeconds * (1 << Math.min(kind.suspensions, mostDoublings));
  const retrySeconds = Math.min(state.config.maxRetrySeconds, doubled);
  kind.suspensions += 1;
  kind.suspendedAt ??= ctx.at;
  kind.retryAt = ctx.at + retrySeconds;
  const reason = { code: 'failing', failures, retrySeconds } as const;
  ctx.emit({ type: 'slots.suspended', at: ctx.at, environment, reason });
  if (!isAgain) return;
  for (let next = kind.waiting.peek(); next !== undefined; next = kind.waiting.peek()) {
    deny(state, next, { ...reason }, ctx);
  }
}

/** Notes that an environment has started. Whether it works is unknown: after one more failure the kind is suspended again. */
export function started(state: SlotsState, kind: Kind, ctx: Ctx): void {
  if (kind.suspendedAt === null) return;
  kind.failures = state.config.suspendAfter - 1;
  recover(kind, 'started', ctx);
}

/** Starts environments of a kind again. */
export function recover(kind: Kind, code: 'started' | 'host_restarted', ctx: Ctx): void {
  if (kind.suspendedAt === null) return;
  const reason = { code, suspendedSeconds: ctx.at - kind.suspendedAt };
  kind.suspendedAt = null;
  ctx.emit({ type: 'slots.recovered', at: ctx.at, environment: kind.environment, reason });
}

/**
 * Notes that an environment works: a tool has answered in it, or its program has ended. An environment that has worked for long
 * says nothing about those that are started now, so only its first success counts, and only while the kind is not suspended.
 */
export function proved(one: Slot): void {
  const { health, kind } = one;
  one.health = 'proven';
  if (health !== 'new' || kind.suspendedAt !== null) return;
  kind.failures = 0;
  kind.suspensions = 0;
}
