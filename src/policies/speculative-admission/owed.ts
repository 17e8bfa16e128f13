/** Rewards and judgements that the host owes: named again where it may have forgotten them. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision } from './decisions.ts';
import { currentRoundId } from './progress.ts';
import type { AdmissionState, PromptState, ResponseState } from './state.ts';

type Ctx = Context<AdmissionDecision>;
type AskCode = Extract<AdmissionDecision, { type: 'reward.request' }>['reason']['code'];

/** Asks for the reward of a held response. */
export function askReward({ requestId, prompt }: ResponseState, code: AskCode, ctx: Ctx): void {
  ctx.emit({ type: 'reward.request', at: ctx.at, requestId, ...named(prompt), reason: { code } });
}

/** Names what prompts that are in wait for: a host that restarts has forgotten it, and one that opens a round may have. */
export function nameOwed(state: AdmissionState, code: 'round_opened' | 'host_restarted', ctx: Ctx): void {
  const { filter } = state.config;
  if (filter === 'none') return;
  for (const prompt of state.prompts.values()) {
    if (filter === 'host') askJudgement(state, prompt, code, ctx);
    else askRewards(prompt, code, ctx);
  }
}

/** Of a prompt that counts all rewards are known. */
function askRewards(prompt: PromptState, code: AskCode, ctx: Ctx): void {
  for (const one of prompt.responses) if (one.status === 'held' && one.reward === null) askReward(one, code, ctx);
}

function askJudgement(
  state: AdmissionState,
  prompt: PromptState,
  code: 'round_opened' | 'host_restarted',
  ctx: Ctx,
): void {
  if (prompt.status !== 'collected') return;
  const requestIds = prompt.responses.filter((one) => one.status === 'held').map((one) => one.requestId);
  const roundId = currentRoundId(state);
  ctx.emit({ type: 'judgement.request', at: ctx.at, ...named(prompt), roundId, requestIds, reason: { code } });
}

function named({ spec: { promptId, domain } }: PromptState): { promptId: string; domain?: string } {
  return domain === undefined ? { promptId } : { promptId, domain };
}
