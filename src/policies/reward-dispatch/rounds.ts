/** Cancels rewards whose prompt or round is over (slime #2176), so that nothing waits for a slow judge. */
import type { Message } from '../../schemas/messages.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { Ctx } from './messages.ts';
import { cancel, keep } from './samples.ts';
import type { RewardState } from './state.ts';

type CancelCode = Message<'reward.cancelled'>['reason']['code'];
type Named = readonly { readonly requestId: string }[];

/** Keeps the rewards of responses on which the round trains, and cancels the other rewards of the round. */
export function completeRound(state: RewardState, event: Message<'round.completed'>, ctx: Ctx): void {
  for (const prompt of event.prompts) {
    for (const { requestId } of prompt.responses) {
      const sample = state.samples.get(requestId);
      if (sample !== undefined) keep(state, sample);
    }
  }
  cancelRound(state, event.roundId, 'round_completed', ctx);
}

/** Cancels every reward that was requested in this round. */
export function cancelRound(state: RewardState, roundId: string, code: CancelCode, ctx: Ctx): void {
  for (const sample of state.rounds.get(roundId)?.members() ?? []) cancel(state, sample, code, ctx);
}

/** Cancels the listed responses, except those on which a completed round trains. */
export function cancelNamed(state: RewardState, named: Named, code: CancelCode, ctx: Ctx): void {
  for (const { requestId } of named) {
    const sample = state.samples.get(requestId);
    if (sample !== undefined && !sample.final) cancel(state, sample, code, ctx);
  }
}

/**
 * Handles a prompt that leaves a round: cancels the responses that the event names, and the responses that were requested for the
 * prompt in that round. Other responses are not cancelled, because the prompt may have been drawn again while it was still in an
 * earlier round.
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

/** Does the same for a prompt that leaves with kept responses, whose rewards are requested again when the prompt comes back. */
export function promptAway(
  state: RewardState,
  { prompt, roundId, dropped }: { prompt: Prompt; roundId: string; dropped: Named },
  code: CancelCode,
  ctx: Ctx,
): void {
  const named = prompt.kept === undefined ? dropped : [...dropped, ...prompt.kept];
  promptLeft(state, { promptId: prompt.promptId, roundId, dropped: named }, code, ctx);
}
