/** The decisions of divided-rollout, and their context. */
import { type Context, handlersOf } from '../../core/machine/definition.ts';
import type { DividedRolloutDecision } from '../../generated/settings/divided-rollout.ts';
import { chunkAwaited, chunkContinue, chunkLate, requestEnded } from '../../schemas/decisions/chunks.ts';
import type { Message } from '../../schemas/messages.ts';
import type { DividedState } from './state.ts';

export const dividedDecisions = [chunkContinue, chunkAwaited, requestEnded, chunkLate] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<DividedRolloutDecision>;
/** Declares the handler of an event. */
export const on = handlersOf<DividedState, DividedRolloutDecision>();

/** Says that a report changes nothing. */
export function late(requestId: string, code: Message<'chunk.late'>['reason']['code'], ctx: Ctx): void {
  ctx.emit({ type: 'chunk.late', at: ctx.at, requestId, reason: { code } });
}
