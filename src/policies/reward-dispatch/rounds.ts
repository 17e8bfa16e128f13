/** What is not needed any more because its prompt or its round is over (slime #2176: nothing waits for a slow judge). */
import type { Context } from '../../core/definition.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { Group } from './group.ts';
import { cancel, detach } from './samples.ts';
import type { RewardState, Sample } from './state.ts';
import type { CancelCode, RewardDecision, RewardEvent } from './words.ts';

type Ctx = Context<RewardDecision>;
type EventOf<T extends RewardEvent['type']> = Extract<RewardEvent, { type: T }>;

/** What the round trains on is needed whatever happens next; the rest of the round is not. */
export function roundCompleted(state: RewardState, event: EventOf<'round.completed'>, ctx: Ctx): void {
  for (const prompt of event.prompts) {
    for (const { requestId } of prompt.responses) {
      const sample = state.samples.get(requestId);
      if (sample !== undefined) detach(state, sample);
    }
  }
  cancelGroup(state, state.rounds.get(event.roundId), 'round_completed', ctx);
}

export function roundFailed(state: RewardState, roundId: string, ctx: Ctx): void {
  cancelGroup(state, state.rounds.get(roundId), 'round_failed', ctx);
}

/** A prompt leaves a round: what was asked for it in another round stays. */
export function promptLeft(
  state: RewardState,
  { promptId, roundId }: { promptId: string; roundId: string },
  code: CancelCode,
  ctx: Ctx,
): void {
  for (const sample of state.prompts.get(promptId)?.members() ?? []) {
    if (sample.round === null || sample.round.id === roundId) cancel(state, sample, code, ctx);
  }
}

/** Where the prompt of a notice goes with it. */
export function wholePromptLeft(
  state: RewardState,
  { prompt, roundId }: { prompt: Prompt; roundId: string },
  code: CancelCode,
  ctx: Ctx,
): void {
  promptLeft(state, { promptId: prompt.promptId, roundId }, code, ctx);
}

/** Single responses that are given up by name. */
export function responsesDropped(
  state: RewardState,
  dropped: readonly { readonly requestId: string }[],
  code: CancelCode,
  ctx: Ctx,
): void {
  for (const { requestId } of dropped) {
    const sample = state.samples.get(requestId);
    if (sample !== undefined) cancel(state, sample, code, ctx);
  }
}

function cancelGroup(state: RewardState, group: Group<Sample> | undefined, code: CancelCode, ctx: Ctx): void {
  for (const sample of group?.members() ?? []) cancel(state, sample, code, ctx);
}
