/** Cancels rewards whose prompt or round is over (slime #2176: nothing waits for a slow judge). */
import type { Message } from '../../schemas/messages.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { Ctx } from './messages.ts';
import { cancel, keep } from './samples.ts';
import type { RewardState } from './state.ts';

type CancelCode = Message<'reward.cancelled'>['reason']['code'];
type Named = readonly { readonly requestId: string }[];

/** Keeps the rewards of responses that the round trains on, and cancels the others of the round. */
export function completeRound(state: RewardState, event: Message<'round.completed'>, ctx: Ctx): void {
  for (const prompt of event.prompts) {
    for (const { requestId } of prompt.responses) {
      const sample = state.samples.get(requestId);
      if (sample !== undefined) keep(state, sample);
    }
  }
  cancelRound(state, event.roundId, 'round_completed', ctx);
}

/** Cancels every reward that was asked for in this round. */
export function cancelRound(state: RewardState, roundId: string, code: CancelCode, ctx: Ctx): void {
  for (const sample of state.rounds.get(roundId)?.members() ?? []) cancel(state, sample, code, ctx);
}

/** Cancels responses that are given up by name, but for those that a completed round trains on. */
export function cancelNamed(state: RewardState, named: Named, code: CancelCode, ctx: Ctx): void {
  for (const { requestId } of named) {
    const sample = state.samples.get(requestId);
    if (sample !== undefined && !sample.final) cancel(state, sample, code, ctx);
  }
}

/**
 * Cancels what a prompt that leaves a round names, and what was asked for it in that round. Nothing else: a prompt can
 * be drawn again before an earlier round has let go of it.
 */
export function promptLeft(
  state: RewardState,
  { promptId, roundId, dropped }: { promptId: string; roundId: string; dropped: Named },
  code: CancelCode,
  ctx: Ctx,
): void {
  cancelNamed(state, dropped, code, ctx);
  for (const sample of state.prompts.get(promptId)?.members() ?? []) {
    if (sample.roundId === roundId) cancel(state, sample, code, ctx);
  }
}

/** Does the same for a prompt that carries its kept responses: their rewards are asked for again when it comes back. */
export function promptAway(
  state: RewardState,
  { prompt, roundId, dropped }: { prompt: Prompt; roundId: string; dropped: Named },
  code: CancelCode,
  ctx: Ctx,
): void {
  const named = prompt.kept === undefined ? dropped : [...dropped, ...prompt.kept];
  promptLeft(state, { promptId: prompt.promptId, roundId, dropped: named }, code, ctx);
}
