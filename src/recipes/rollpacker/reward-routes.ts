/** Routes of rewards: a reward is requested, given a timeout, computed, and passed to the part that waits for it. */
import type { AnyEvent } from '../../core/machine/definition.ts';
import type { Delivery } from '../../core/recipe/spec.ts';
import type { RollpackerConfig } from '../../generated/settings/rollpacker.ts';
import { kindOfDomain } from '../../policies/reward-dispatch/schema.ts';
import type { Message } from '../../schemas/messages.ts';

/** Addresses an event to a part. */
export const to = (part: string, event: Message): Delivery => ({ part, event: event as AnyEvent });

/** Requests a reward; the reward of code in a sandbox is requested only after its timeout is known. */
export function wanted(
  { at, requestId, promptId, domain }: { at: number; requestId: string; promptId: string; domain?: string | undefined },
  config: RollpackerConfig,
): Delivery[] {
  const { rewardKindByDomain: kindByDomain, defaultRewardKind: defaultKind } = config;
  const kind = kindOfDomain({ kindByDomain, defaultKind }, domain);
  if (kind === 'sandbox' && config.adaptiveTimeout) {
    return [to('timeouts', { type: 'sandbox.requested', at, runId: requestId, testCaseId: promptId })];
  }
  return [to('rewards', { type: 'reward.requested', at, requestId, promptId, kind })];
}

/**
 * Asks again for rewards whose first computation may still be remembered. A reward that is only named again, after a restart or
 * with a new round, is already being computed.
 */
export function wantedAgain(decision: Message<'reward.request'>, config: RollpackerConfig): Delivery[] {
  if (decision.reason.code !== 'kept_without_reward') return [];
  return wanted(decision, { ...config, adaptiveTimeout: false });
}

/** Reports that the computation of a reward has ended; returns nothing for a reward without an adaptive timeout. */
function ran(
  { at, requestId, kind }: { at: number; requestId: string; kind: string },
  end: { outcome: 'correct' | 'wrong' | 'timeout' | 'infrastructure'; seconds: number },
  config: RollpackerConfig,
): Delivery[] {
  if (kind !== 'sandbox' || !config.adaptiveTimeout) return [];
  return [{ ...to('timeouts', { type: 'sandbox.finished', at, runId: requestId, ...end }), otherwise: [] }];
}

/** Passes on a reward that is known. */
export function scored(decision: Message<'reward.scored'>, config: RollpackerConfig): Delivery[] {
  const { at, requestId, reward, reason } = decision;
  const solved = reward > 0 ? 'correct' : 'wrong';
  const outcome = reason.code === 'timeout' ? 'timeout' : solved;
  const ready = { type: 'reward.ready', at, requestId, reward } as const;
  const toAdmission = { ...to('admission', { ...ready }), otherwise: [] };
  return [
    to('assembly', ready),
    // An event inside the recipe cannot be refused, and a forgotten response needs no reward: so the delivery may be skipped.
    ...(config.filter === 'zero-variance' ? [{ ...to('queue', { ...ready }), otherwise: [toAdmission] }] : []),
    ...ran(decision, { outcome, seconds: reason.seconds }, config),
  ];
}

/** Passes on that a response gets no reward. */
export function unscored(decision: Message<'reward.failed'>, config: RollpackerConfig): Delivery[] {
  return [
    to('assembly', decision),
    ...(config.filter === 'zero-variance' ? [{ ...to('admission', decision), otherwise: [] }] : []),
    ...ran(decision, { outcome: 'infrastructure', seconds: 0 }, config),
  ];
}

/** Passes on that a reward is no longer computed. */
export function cancelled({ at, requestId, kind }: Message<'reward.cancelled'>, config: RollpackerConfig): Delivery[] {
  if (kind !== 'sandbox' || !config.adaptiveTimeout) return [];
  return [{ ...to('timeouts', { type: 'sandbox.cancelled', at, runId: requestId }), otherwise: [] }];
}
