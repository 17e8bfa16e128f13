/** Starting prompts: what was kept of them is taken up, the rest of their responses is put in line. */
import type { Context } from '../../core/definition.ts';
import type { KeptResponse } from '../../schemas/prompts.ts';
import { newResponse } from './create.ts';
import type { AdmissionDecision } from './decisions.ts';
import { enqueue } from './launch.ts';
import { askReward } from './owed.ts';
import { collect } from './progress.ts';
import type { AdmissionState, Lane, PromptState, Round } from './state.ts';

type Ctx = Context<AdmissionDecision>;

/** Starts prompts of a lane until it has as many as it wants. */
export function takeIn(state: AdmissionState, round: Round, lane: Lane, ctx: Ctx): void {
  while (lane.admitted < lane.target && lane.counted < lane.quota) {
    const prompt = lane.standby.shift();
    if (prompt === undefined) return;
    startPrompt(state, prompt, lane, round, ctx);
  }
}

function startPrompt(state: AdmissionState, prompt: PromptState, lane: Lane, round: Round, ctx: Ctx): void {
  const { responses } = prompt;
  prompt.status = 'active';
  prompt.attemptBase = state.nextAttempt;
  lane.admitted += 1;
  lane.members.add(prompt);
  const kept = usableKept(state, prompt, round, ctx);
  if (prompt.spec.kept !== undefined) prompt.spec = { ...prompt.spec, kept: kept.length > 0 ? kept : undefined };
  for (const one of kept) placeKept(state, prompt, one, ctx);
  const taken = new Set(kept.map((one) => one.index));
  for (let index = 0; responses.length < round.responses; index += 1) {
    if (!taken.has(index)) responses.push(newResponse(prompt, index));
  }
  if (kept.length > 0) responses.sort((a, b) => a.index - b.index);
  if (prompt.held >= state.config.responsesPerPrompt) {
    collect(state, prompt, ctx);
    return;
  }
  for (const response of responses) if (response.status === 'pending') enqueue(state, response, 'planned');
}

/** Responses kept from earlier rounds that may still be used: fresh enough, finished ones first, then the longest. */
function usableKept(state: AdmissionState, prompt: PromptState, round: Round, ctx: Ctx): KeptResponse[] {
  const { maxStaleness, responsesPerPrompt } = state.config;
  const { weightVersion } = round;
  const usable: KeptResponse[] = [];
  const sorted = [...(prompt.spec.kept ?? [])].sort(
    (a, b) => Number(b.finished) - Number(a.finished) || b.tokens - a.tokens || a.index - b.index,
  );
  for (const one of sorted) {
    const oldestVersion = Math.min(...one.weightVersions);
    const drop = (reason: Extract<AdmissionDecision, { type: 'response.dropped' }>['reason']) => {
      const { requestId, tokens, finished } = one;
      const { promptId } = prompt.spec;
      ctx.emit({ type: 'response.dropped', at: ctx.at, requestId, promptId, tokens, finished, reason });
    };
    const repeated = usable.some((other) => other.index === one.index);
    const limit = one.finished ? responsesPerPrompt : round.responses;
    if (weightVersion - oldestVersion > maxStaleness) {
      drop({ code: 'stale_weights', oldestVersion, weightVersion, maxStaleness });
    } else if (repeated || usable.length >= limit) drop({ code: 'beyond_round', needed: limit });
    else usable.push(one);
  }
  return usable;
}

function placeKept(state: AdmissionState, prompt: PromptState, kept: KeptResponse, ctx: Ctx): void {
  const response = newResponse(prompt, kept.index);
  response.resume = kept;
  response.tokens = kept.tokens;
  response.weightVersions = kept.weightVersions.slice();
  prompt.startVersion = Math.min(prompt.startVersion, ...kept.weightVersions);
  prompt.responses.push(response);
  if (!kept.finished) return;
  response.status = 'held';
  response.requestId = kept.requestId;
  state.elsewhere.set(kept.requestId, response);
  prompt.held += 1;
  if (kept.reward !== undefined) {
    response.reward = kept.reward;
    prompt.rewards += 1;
  } else if (state.config.filter === 'zero-variance') {
    askReward(response, 'kept_without_reward', ctx);
  }
}
