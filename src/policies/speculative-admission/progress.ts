/**
 * Handles a prompt from its first held response to its end: the prompt is collected, judged by its rewards or by the host, and
 * then counted, filtered or failed.
 */
import { given } from '../../core/collections/given.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import { faultIn, forgiveCollected, isBeyond, setAside, settleSuccess } from './faults.ts';
import { enqueue } from './launch.ts';
import { countedResponses, currentRoundId, dropHeld, isSpent, leaveLines, replace } from './leave.ts';
import { abortAll, abortControl, checkRequestId, checkRound, heldResponse, late } from './requests.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  type DomainQuota,
  isLive,
  isQueued,
  leaveQuota,
  newResponse,
  type PromptState,
  type ResponseState,
} from './state.ts';

/** The scope in which rewards are computed. */
const rewards = { scope: 'reward', id: null } as const;

/** Collects a prompt with its R0-th response: its other responses are aborted, and the prompt is judged as soon as possible. */
export function collect(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { held, responses } = prompt;
  prompt.status = 'collected';
  const requestIds: string[] = [];
  for (const one of responses) if (one.status === 'held') requestIds.push(one.requestId);
  ctx.emit({
    type: 'prompt.collected',
    at: ctx.at,
    promptId: prompt.spec.promptId,
    roundId: currentRoundId(state),
    requestIds,
    reason: { code: 'responses_held', held, launched: responses.length },
  });
  abortAll(state, prompt, { code: 'prompt_collected', held, needed: state.config.responsesPerPrompt }, ctx);
  leaveLines(state, prompt);
  forgiveCollected(state, prompt);
  applyFilter(state, prompt, ctx);
}

/** Takes the word of the host that a prompt is good: it counts as soon as this or a later round has room. */
export function acceptPrompt(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  prompt.status = 'passed';
  count(state, prompt, ctx);
}

/** Counts or rejects a collected prompt as soon as its filter can decide; the filter `host` waits for the host. */
export function applyFilter(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  if (prompt.status === 'passed') count(state, prompt, ctx);
  if (prompt.status !== 'collected') return;
  if (state.config.filter === 'none') count(state, prompt, ctx);
  else if (state.config.filter === 'zero-variance') filterByVariance(state, prompt, ctx);
}

/**
 * Counts prompts that wait for reserved places, as far as the prompts in these places have left without counting; lowest sequence
 * number first.
 */
export function countReady(state: AdmissionState, quota: DomainQuota, ctx: Ctx): void {
  const { ready, expiring } = quota;
  while (ready.size > 0 && quota.counted + expiring.size < quota.prompts) {
    const next = ready.pop()!;
    if (next.status === 'passed' && next.quota === quota) count(state, next, ctx);
  }
}

function filterByVariance(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { responsesPerPrompt, varianceTolerance: tolerance } = state.config;
  if (prompt.rewards < responsesPerPrompt) return;
  const rewards = prompt.responses.flatMap((one) => (one.status === 'held' ? [one.reward!] : []));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const variance = rewards.reduce((sum, reward) => sum + (reward - mean) * (reward - mean), 0) / rewards.length;
  const standardDeviation = Math.sqrt(variance);
  // A single response has no variance, which is not the same as zero variance.
  if (rewards.length === 1 || standardDeviation > tolerance) count(state, prompt, ctx);
  else reject(state, prompt, { code: 'zero_variance', standardDeviation, tolerance }, ctx);
}

/**
 * Counts a prompt. Between rounds, or with its quota full, the prompt waits for the next round to open (it is carried). Where
 * every remaining place is reserved for prompts that would become too old, it waits for the end of this round, or until one of
 * these leaves without counting.
 */
export function count(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { round } = state;
  const { quota } = prompt;
  const { promptId, domain, promptTokens } = prompt.spec;
  if (round === null || quota === null || quota.counted === quota.prompts) return;
  const { expiring } = quota;
  if (!expiring.has(prompt) && quota.counted + expiring.size >= quota.prompts) {
    prompt.status = 'passed';
    quota.ready.push(prompt);
    return;
  }
  prompt.status = 'counted';
  leaveQuota(prompt, quota);
  quota.counted += 1;
  round.counted += 1;
  state.futile.filtered = 0;
  state.unsettled ??= 'counted';
  ctx.emit({
    type: 'prompt.counted',
    at: ctx.at,
    promptId,
    roundId: round.id,
    ...(domain === undefined ? undefined : { domain }),
    ...(promptTokens === undefined ? undefined : { promptTokens }),
    responses: countedResponses(prompt, round.weightVersion),
    reason: {
      code: state.config.filter === 'none' ? 'no_filter' : 'passed',
      counted: round.counted,
      needed: state.config.promptsPerRound,
    },
  });
}

/** Removes and replaces a filtered prompt, unless its round has filtered as many prompts as it may. */
export function reject(
  state: AdmissionState,
  prompt: PromptState,
  reason: Message<'prompt.filtered'>['reason'],
  ctx: Ctx,
): void {
  const { promptId, ref } = prompt.spec;
  abortControl(state, prompt, ctx);
  ctx.emit({
    type: 'prompt.filtered',
    at: ctx.at,
    promptId,
    roundId: currentRoundId(state),
    ...given({ ref }),
    dropped: dropHeld(prompt, 'filtered'),
    reason,
  });
  const { futile, round } = state;
  if (futile.filtered === 0) futile.since = ctx.at;
  futile.filtered += 1;
  if (round !== null && prompt.quota !== null) {
    round.filtered += 1;
    if (isSpent(state, round)) for (const quota of round.quotas) quota.awaiting = 0;
  }
  replace(state, prompt, 'filtered');
}

export function checkReward(state: AdmissionState, event: Message<'reward.ready' | 'reward.failed'>): void {
  const { requestId } = event;
  if (heldResponse(state, requestId) !== undefined) return;
  const response = checkRequestId(state, event);
  if (response === undefined || !isLive(response)) return;
  refuse('out_of_order', 'requestId', 'a reward after response.completed', requestId);
}

export function rewarded(state: AdmissionState, event: Message<'reward.ready'>, ctx: Ctx): void {
  const response = heldResponse(state, event.requestId);
  if (response === undefined || response.reward !== null) {
    late(event.requestId, ctx);
    return;
  }
  response.reward = event.reward;
  response.prompt.rewards += 1;
  if (!state.faults.isQuiet) {
    settleSuccess(state, rewards, response.prompt.spec.promptId, response.launched, ctx);
  }
  if (state.config.filter === 'zero-variance') applyFilter(state, response.prompt, ctx);
}

/** Handles a response that will never have a reward. Only a filter that reads rewards waits for it. */
export function unrewarded(state: AdmissionState, { requestId }: { requestId: string }, ctx: Ctx): void {
  const response = heldResponse(state, requestId);
  if (response === undefined || response.reward !== null || state.config.filter !== 'zero-variance') {
    late(requestId, ctx);
    return;
  }
  const { prompt } = response;
  const successor = giveUpHeld(state, response, ctx);
  if (prompt.status === 'settling') return;
  if (prompt.status === 'collected') needMore(state, prompt, ctx);
  const possible = prompt.responses.filter(
    ({ status, cause }) => status !== 'abandoned' && status !== 'aborting' && cause !== 'control',
  ).length;
  // Another response is generated, within the fault budget of its environment.
  if (possible < state.config.responsesPerPrompt) faultIn(state, successor, 'environment', rewards, ctx);
}

/** Drops a held response without a reward; returns the response that takes its place. */
function giveUpHeld(state: AdmissionState, response: ResponseState, ctx: Ctx): ResponseState {
  const { prompt, requestId, tokens, index, failures } = response;
  const { promptId, kept } = prompt.spec;
  ctx.emit({
    type: 'response.dropped',
    at: ctx.at,
    requestId,
    promptId,
    tokens,
    finished: true,
    reason: { code: 'no_reward' },
  });
  prompt.held -= 1;
  state.elsewhere.delete(requestId);
  if (kept !== undefined) {
    const others = kept.filter((one) => one.requestId !== requestId);
    prompt.spec = { ...prompt.spec, kept: others.length > 0 ? others : undefined };
  }
  response.status = 'abandoned';
  response.tokens = 0;
  // A response that its prompt has brought along was never launched here, so another response takes its place.
  const successor = response.resume?.finished ? { ...newResponse(prompt, index), failures } : response;
  successor.status = 'abandoned';
  successor.resume = null;
  prompt.responses[prompt.responses.indexOf(response)] = successor;
  return successor;
}

/** Makes a collected prompt active again; its queued responses have lost their places in the queues meanwhile. */
function needMore(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  prompt.status = 'active';
  prompt.responses.forEach((one, at) => {
    if (!isQueued(one) || one.cause === 'control') return;
    const again = { ...one };
    one.status = 'abandoned';
    prompt.responses[at] = again;
    if (isBeyond(state, again)) setAside(state, again, ctx.at);
    else enqueue(state, again, again.cause);
  });
}

export function checkJudgement(state: AdmissionState, { roundId, promptId }: Message<'prompt.judged'>): void {
  if (state.config.filter !== 'host') refuse('invalid_event', 'keep', 'filter `host`', state.config.filter);
  checkRound(state, roundId);
  const status = state.prompts.get(promptId)?.status;
  if (status !== 'active' && status !== 'standby') return;
  refuse('out_of_order', 'promptId', 'a judgement after prompt.collected', promptId);
}

export function judged(state: AdmissionState, event: Message<'prompt.judged'>, ctx: Ctx): void {
  const { promptId, roundId } = event;
  const prompt = state.prompts.get(promptId);
  if (prompt?.status !== 'collected') {
    ctx.emit({ type: 'judgement.late', at: ctx.at, promptId, roundId, reason: { code: 'not_waiting' } });
  } else if (event.keep) acceptPrompt(state, prompt, ctx);
  else reject(state, prompt, { code: 'host' }, ctx);
}

const named = ({ promptId, domain }: Prompt) => ({ promptId, ...given({ domain }) });
type AskCode = Message<'reward.request'>['reason']['code'];

/** Requests the reward of a held response. */
export function askReward({ requestId, prompt }: ResponseState, code: AskCode, ctx: Ctx): void {
  ctx.emit({ type: 'reward.request', at: ctx.at, requestId, ...named(prompt.spec), reason: { code } });
}

/**
 * Names the rewards and verdicts for which present prompts wait: a restarted host has forgotten them, and a host that opens a
 * round may have.
 */
export function nameOwed(state: AdmissionState, code: 'round_opened' | 'host_restarted', ctx: Ctx): void {
  const { filter } = state.config;
  if (filter === 'none') return;
  for (const prompt of state.prompts.values()) {
    if (filter === 'host') askJudgement(state, prompt, code, ctx);
    else askRewards(prompt, code, ctx);
  }
}

/** Asks for the missing rewards of a prompt that counts. */
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
  ctx.emit({ type: 'judgement.request', at: ctx.at, ...named(prompt.spec), roundId, requestIds, reason: { code } });
}
