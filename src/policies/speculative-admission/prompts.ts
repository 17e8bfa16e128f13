/**
 * Handles a prompt in its round: it is started, with the responses that it brings along, and collected; it is judged by its rewards
 * or by the host, and then counted or filtered.
 */
import { given } from '../../core/collections/given.ts';
import type { Failure } from '../../core/rollout/shared-faults.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { requestIds } from '../../schemas/moves.ts';
import type { CountedResponse, DroppedResponse, KeptResponse, Prompt } from '../../schemas/prompts.ts';
import { faultIn, giveUpProven, replace, rewards, setAside, settleSuccess } from './faults.ts';
import { abortAll, abortControl, checkRequestId, checkRound, heldResponse, late } from './requests.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  begunOf,
  currentRoundId,
  type DomainQuota,
  doubtOf,
  enqueue,
  heldOf,
  isLive,
  isQueued,
  isSpent,
  join,
  leaveQuota,
  newResponse,
  type PromptState,
  type ResponseState,
  type Round,
} from './state.ts';
import { isBeyond, leaveLines } from './tries.ts';

type Owed = 'round_opened' | 'host_restarted';

export function startPrompt(
  state: AdmissionState,
  prompt: PromptState,
  quota: DomainQuota,
  round: Round,
  ctx: Ctx,
): void {
  const { responses, spec } = prompt;
  prompt.status = 'active';
  prompt.attemptBase = state.nextAttempt;
  quota.admitted += 1;
  const kept = spec.kept === undefined ? [] : usableKept(state, spec.promptId, spec.kept, round, ctx);
  if (spec.kept !== undefined) prompt.spec = { ...spec, kept: kept.length > 0 ? kept : undefined };
  for (const one of kept) placeKept(state, prompt, one, ctx);
  join(state, prompt, quota, round);
  const taken = new Set(kept.map((one) => one.index));
  for (let index = 0; responses.length < round.responses; index += 1) {
    if (!taken.has(index)) responses.push(newResponse(prompt, index));
  }
  if (kept.length > 0) responses.sort((a, b) => a.index - b.index);
  if (prompt.held >= state.config.responsesPerPrompt) collect(state, prompt, ctx);
  else enqueueAll(state, prompt, ctx);
}

/** Returns the kept responses that are fresh enough to be used: finished ones first, then the longest. */
function usableKept(
  { config: { maxStaleness, responsesPerPrompt } }: AdmissionState,
  promptId: string,
  all: readonly KeptResponse[],
  { weightVersion, responses }: Round,
  ctx: Ctx,
): KeptResponse[] {
  const usable: KeptResponse[] = [];
  const sorted = [...all].sort(
    (a, b) => Number(b.finished) - Number(a.finished) || b.tokens - a.tokens || a.index - b.index,
  );
  for (const one of sorted) {
    const { requestId, tokens, finished } = one;
    const oldestVersion = Math.min(...one.weightVersions);
    const needed = finished ? responsesPerPrompt : responses;
    const isTooOld = weightVersion - oldestVersion > maxStaleness;
    if (!isTooOld && usable.length < needed && usable.every(({ index }) => index !== one.index)) {
      usable.push(one);
      continue;
    }
    const reason: Message<'response.dropped'>['reason'] = isTooOld
      ? { code: 'stale_weights', oldestVersion, weightVersion, maxStaleness }
      : { code: 'beyond_round', needed };
    ctx.emit({ type: 'response.dropped', at: ctx.at, requestId, promptId, tokens, finished, reason });
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
  state.requests.set(kept.requestId, response);
  prompt.held += 1;
  if (kept.reward !== undefined) {
    response.reward = kept.reward;
    prompt.rewards += 1;
  } else if (state.config.filter === 'zero-variance') {
    askReward(response, 'kept_without_reward', ctx);
  }
}

/** Queues the responses of a started prompt, with their earlier failures. */
function enqueueAll(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { promptId } = prompt.spec;
  const before = state.recalled.get(promptId);
  state.recalled.delete(promptId);
  for (const response of [...prompt.responses]) {
    if (response.status !== 'pending') continue;
    const failures = before?.responses.find(({ index }) => index === response.index)?.failures;
    if (failures !== undefined) response.failures = failures;
    if (!isBeyond(state, response)) enqueue(state, response, 'planned');
    else {
      // It is compared with others where its latest unjudged failure was.
      let last: Failure | undefined;
      for (const one of state.faults.openOf(promptId))
        if (one.place === response.index && one.order >= (last?.order ?? 0)) last = one;
      response.lastFault = { scope: last?.scope ?? 'engine', id: last?.id ?? null, at: ctx.at };
      setAside(state, response, ctx.at);
    }
  }
  if (before === undefined) return;
  for (const response of [...prompt.responses]) if (response.status === 'aside') giveUpProven(state, response, ctx);
}

/** Collects a prompt with its R0-th response: its other responses are aborted, and the prompt is judged as soon as possible. */
export function collect(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { held, responses, spec } = prompt;
  const { promptId } = spec;
  prompt.status = 'collected';
  const ids = requestIds(heldOf(prompt));
  const reason = { code: 'responses_held', held, launched: responses.length } as const;
  const roundId = currentRoundId(state);
  ctx.emit({ type: 'prompt.collected', at: ctx.at, promptId, roundId, requestIds: ids, reason });
  abortAll(state, prompt, { code: 'prompt_collected', held, needed: state.config.responsesPerPrompt }, ctx);
  leaveLines(state, prompt);
  // It needs no more tries; its rewards may still fail.
  if (!state.faults.isQuiet) state.faults.forget(promptId, 'reward');
  applyFilter(state, prompt, ctx);
}

/** Counts or rejects a collected prompt as soon as its filter can decide; the filter `host` waits for the host. */
export function applyFilter(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  if (prompt.status === 'passed') count(state, prompt, ctx);
  if (prompt.status !== 'collected') return;
  if (state.config.filter === 'none') count(state, prompt, ctx);
  else if (state.config.filter === 'zero-variance') filterByVariance(state, prompt, ctx);
}

function filterByVariance(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { responsesPerPrompt, varianceTolerance: tolerance } = state.config;
  if (prompt.rewards < responsesPerPrompt) return;
  const all = heldOf(prompt).map((one) => one.reward!);
  const mean = all.reduce((sum, reward) => sum + reward, 0) / all.length;
  const variance = all.reduce((sum, reward) => sum + (reward - mean) * (reward - mean), 0) / all.length;
  const standardDeviation = Math.sqrt(variance);
  // A single response has no variance, which is not the same as zero variance.
  if (all.length === 1 || standardDeviation > tolerance) count(state, prompt, ctx);
  else reject(state, prompt, { code: 'zero_variance', standardDeviation, tolerance }, ctx);
}

/**
 * Counts a prompt. Between rounds, or with its quota full, the prompt waits for the next round to open (it is carried). Where
 * every remaining place is reserved for prompts that would become too old, it waits for the end of this round, or until one of
 * these leaves without counting.
 */
export function count(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { round, config } = state;
  const { quota } = prompt;
  const { promptId, domain, promptTokens } = prompt.spec;
  if (round === null || quota === null || quota.counted === quota.prompts) return;
  const { expiring } = quota;
  if (!expiring.has(prompt) && quota.counted + expiring.size >= quota.prompts) {
    prompt.status = 'passed';
    quota.ready.push(prompt);
    return;
  }
  quota.target -= doubtOf(prompt);
  prompt.status = 'counted';
  leaveQuota(prompt, quota);
  quota.counted += 1;
  round.counted += 1;
  state.futile.filtered = 0;
  state.unsettled ??= 'counted';
  const code = config.filter === 'none' ? 'no_filter' : 'passed';
  ctx.emit({
    type: 'prompt.counted',
    at: ctx.at,
    promptId,
    roundId: round.id,
    ...(domain === undefined ? undefined : { domain }),
    ...(promptTokens === undefined ? undefined : { promptTokens }),
    responses: countedResponses(prompt, round.weightVersion),
    ...begunOf(state, prompt),
    reason: { code, counted: round.counted, needed: config.promptsPerRound },
  });
}

/** Returns the held responses of a prompt that counts; those with other versions than that of its round name their versions. */
function countedResponses(prompt: PromptState, roundVersion: number): CountedResponse[] {
  return heldOf(prompt).map(({ requestId, tokens, weightVersions, reward }) => {
    const response: CountedResponse = reward === null ? { requestId, tokens } : { requestId, tokens, reward };
    const isOfRound = weightVersions.length === 1 && weightVersions[0] === roundVersion;
    if (!isOfRound) response.weightVersions = weightVersions.slice();
    return response;
  });
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

/** Removes and replaces a filtered prompt, unless its round has filtered as many prompts as it may. */
function reject(
  state: AdmissionState,
  prompt: PromptState,
  reason: Message<'prompt.filtered'>['reason'],
  ctx: Ctx,
): void {
  const { futile, round } = state;
  const { promptId, ref } = prompt.spec;
  abortControl(state, prompt, ctx);
  const dropped = heldOf(prompt).map(({ requestId, tokens, reward }): DroppedResponse => {
    const one = { requestId, tokens, cause: 'filtered' } as const;
    return reward === null ? one : { ...one, reward };
  });
  const roundId = currentRoundId(state);
  const all = { promptId, roundId, ...given({ ref }), dropped, ...begunOf(state, prompt) };
  ctx.emit({ type: 'prompt.filtered', at: ctx.at, ...all, reason });
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

export function rewarded(state: AdmissionState, { requestId, reward }: Message<'reward.ready'>, ctx: Ctx): void {
  const response = heldResponse(state, requestId);
  if (response === undefined || response.reward !== null) {
    late(requestId, ctx);
    return;
  }
  const { prompt, launched } = response;
  response.reward = reward;
  prompt.rewards += 1;
  if (!state.faults.isQuiet) settleSuccess(state, rewards, prompt.spec.promptId, launched, ctx);
  if (state.config.filter === 'zero-variance') applyFilter(state, prompt, ctx);
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
  );
  // Another response is generated, within the fault budget of its environment.
  if (possible.length < state.config.responsesPerPrompt) faultIn(state, successor, 'environment', rewards, ctx);
}

/** Drops a held response without a reward; returns the response that takes its place. */
function giveUpHeld(state: AdmissionState, response: ResponseState, ctx: Ctx): ResponseState {
  const { prompt, requestId, tokens, index, failures } = response;
  const { promptId, kept } = prompt.spec;
  const reason = { code: 'no_reward' } as const;
  ctx.emit({ type: 'response.dropped', at: ctx.at, requestId, promptId, tokens, finished: true, reason });
  prompt.held -= 1;
  state.requests.delete(requestId);
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

/** Takes the word of the host: a good prompt counts as soon as this or a later round has room. */
export function judged(state: AdmissionState, event: Message<'prompt.judged'>, ctx: Ctx): void {
  const { promptId, roundId } = event;
  const prompt = state.prompts.get(promptId);
  if (prompt?.status !== 'collected') {
    ctx.emit({ type: 'judgement.late', at: ctx.at, promptId, roundId, reason: { code: 'not_waiting' } });
  } else if (event.keep) {
    prompt.status = 'passed';
    count(state, prompt, ctx);
  } else reject(state, prompt, { code: 'host' }, ctx);
}

const named = ({ promptId, domain }: Prompt) => ({ promptId, ...given({ domain }) });

/** Requests the reward of a held response. */
function askReward({ requestId, prompt }: ResponseState, code: Owed | 'kept_without_reward', ctx: Ctx): void {
  ctx.emit({ type: 'reward.request', at: ctx.at, requestId, ...named(prompt.spec), reason: { code } });
}

/**
 * Names the rewards and verdicts for which present prompts wait: a restarted host has forgotten them, and a host that opens a
 * round may have.
 */
export function nameOwed(state: AdmissionState, code: Owed, ctx: Ctx): void {
  const { filter } = state.config;
  if (filter === 'none') return;
  for (const prompt of state.prompts.values()) {
    if (filter === 'zero-variance') {
      for (const one of heldOf(prompt)) if (one.reward === null) askReward(one, code, ctx);
    } else if (prompt.status === 'collected') {
      const asked = { roundId: currentRoundId(state), requestIds: requestIds(heldOf(prompt)) };
      ctx.emit({ type: 'judgement.request', at: ctx.at, ...named(prompt.spec), ...asked, reason: { code } });
    }
  }
}
