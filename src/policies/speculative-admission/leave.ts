/** Ends a prompt: final, deferred, returned, filtered, failed or carried; always with a decision. */
import { given } from '../../core/collections/given.ts';
import { copyDeferral, copyKept, copyPrompt } from '../../core/rollout/prompts.ts';
import type { CountedResponse, DroppedResponse, FinalPrompt, KeptResponse } from '../../schemas/prompts.ts';
import { rememberFailures } from './recall.ts';
import {
  type AbortReason,
  abort,
  abortAll,
  abortControl,
  endRequest,
  rememberLaunched,
  reportDrained,
} from './requests.ts';
import type { Ctx } from './schema.ts';
import {
  type AdmissionState,
  budgetOf,
  type DeferReason,
  type FaultKind,
  isLive,
  isQueued,
  leaveQuota,
  type PromptState,
  type ResponseState,
  type Round,
} from './state.ts';

/** Takes a prompt out of the round. */
export function remove(state: AdmissionState, prompt: PromptState, mayReturn = false): void {
  state.prompts.delete(prompt.spec.promptId);
  rememberLaunched(state, prompt);
  forgetElsewhere(state, prompt);
  leaveLines(state, prompt);
  if (mayReturn) rememberFailures(state, prompt);
  else if (!state.faults.isQuiet) state.faults.forget(prompt.spec.promptId);
  state.suspects.delete(prompt);
  if (prompt.quota !== null) leaveQuota(prompt, prompt.quota);
  prompt.quota = null;
  prompt.status = 'gone';
}

/** Removes a prompt that needs no more responses from the prompts that wait until tries succeed. */
export function leaveLines({ parked, asides }: AdmissionState, prompt: PromptState): void {
  parked.delete(prompt);
  if (asides.size > 0) for (const one of prompt.responses) asides.delete(one);
}

/** Removes the held responses of a leaving prompt from the index `elsewhere`. */
function forgetElsewhere({ elsewhere }: AdmissionState, { responses }: PromptState): void {
  if (elsewhere.size === 0) return;
  for (const one of responses) if (elsewhere.get(one.requestId) === one) elsewhere.delete(one.requestId);
}

/** Returns the held responses of a prompt as dropped for a cause. */
export function dropHeld(prompt: PromptState, cause: DroppedResponse['cause']): DroppedResponse[] {
  return prompt.responses
    .filter((one) => one.status === 'held')
    .map((one) => ({ requestId: one.requestId, tokens: one.tokens, cause }));
}

/**
 * Returns the held responses of a prompt that counts in a round with this version; responses with other versions name their
 * versions.
 */
export function countedResponses(prompt: PromptState, roundVersion: number): CountedResponse[] {
  const responses: CountedResponse[] = [];
  for (const { status, requestId, tokens, weightVersions, reward } of prompt.responses) {
    if (status !== 'held') continue;
    const response: CountedResponse = reward === null ? { requestId, tokens } : { requestId, tokens, reward };
    const isOfRound = weightVersions.length === 1 && weightVersions[0] === roundVersion;
    if (!isOfRound) response.weightVersions = weightVersions.slice();
    responses.push(response);
  }
  return responses;
}

/** Returns the prompt in the form of a completed round. */
export function finalPrompt(prompt: PromptState): FinalPrompt {
  const { promptId, ref, domain, deferral } = prompt.spec;
  const responses: FinalPrompt['responses'] = [];
  for (const one of prompt.responses) {
    if (one.status !== 'held') continue;
    const { requestId, index, tokens, reward } = one;
    const weightVersions = one.weightVersions.slice();
    responses.push(
      reward === null
        ? { requestId, index, tokens, weightVersions }
        : { requestId, index, tokens, weightVersions, reward },
    );
  }
  return {
    promptId,
    ...(ref === undefined ? undefined : { ref }),
    ...(domain === undefined ? undefined : { domain }),
    ...(deferral === undefined ? undefined : { deferral: copyDeferral(deferral) }),
    responses,
  };
}

/** Whether any response of a prompt was started in this round; responses that it brought along complete do not count. */
function wasStarted(prompt: PromptState): boolean {
  return prompt.responses.some((one) => one.requestId !== '' && !one.resume?.finished);
}

/** Hands a prompt back in its original form. */
export function giveBack(
  state: AdmissionState,
  prompt: PromptState,
  roundId: string,
  code: 'not_started' | 'round_failed',
  ctx: Ctx,
): void {
  // Responses kept from earlier rounds go back inside the prompt; only responses that this round added are dropped.
  const kept = new Set(prompt.spec.kept?.map((one) => one.requestId));
  const dropped = dropHeld(prompt, 'round_failed').filter((one) => !kept.has(one.requestId));
  remove(state, prompt, true);
  ctx.emit({
    type: 'prompt.returned',
    at: ctx.at,
    prompt: copyPrompt(prompt.spec),
    roundId,
    dropped,
    reason: { code },
  });
}

/** Defers an unfinished prompt to a later round. */
export function defer(
  state: AdmissionState,
  prompt: PromptState,
  roundId: string,
  reason: DeferReason,
  ctx: Ctx,
): void {
  if (!wasStarted(prompt)) {
    giveBack(state, prompt, roundId, 'not_started', ctx);
    return;
  }
  const why = abortReason(state, reason);
  abortControl(state, prompt, ctx);
  remove(state, prompt, true);
  prompt.settling = { roundId, reason };
  if (state.config.partialRollout && reason.code !== 'stale_weights') {
    for (const one of prompt.responses) {
      if (!isLive(one)) continue;
      abort(state, one, { ...why }, ctx);
      // The tokens of the response are known when its abort is confirmed; until then the prompt waits.
      one.awaited = true;
      prompt.unsettled += 1;
    }
  } else {
    abortAll(state, prompt, why, ctx);
  }
  prompt.status = 'settling';
  state.settling.add(prompt);
  state.settlingOf.set(prompt.spec.promptId, prompt);
  if (prompt.unsettled === 0) {
    finishDeferral(state, prompt, ctx);
    return;
  }
  // Rewards find the kept responses through `elsewhere` while the prompt settles.
  for (const one of prompt.responses) if (one.status === 'held') state.elsewhere.set(one.requestId, one);
}

function abortReason(state: AdmissionState, reason: DeferReason): AbortReason {
  if (reason.code === 'stale_weights') {
    return { code: 'stale_weights', startVersion: reason.startVersion, weightVersion: reason.weightVersion };
  }
  const counted = state.round?.counted ?? 0;
  return reason.code === 'quota_filled' ? { code: 'quota_filled', counted } : { code: 'round_completed', counted };
}

/** Lets a deferred prompt leave once all its aborts are confirmed. */
export function finishDeferral(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { roundId, reason } = prompt.settling!;
  const keep = state.config.partialRollout && reason.code !== 'stale_weights';
  const kept = keep ? keptResponses(prompt) : [];
  const longest = Math.max(prompt.spec.expectedTokens ?? 0, ...prompt.responses.map((one) => one.tokens));
  const { deferral } = prompt.spec;
  const deferred = copyPrompt({
    ...prompt.spec,
    expectedTokens: longest > 0 ? longest : undefined,
    deferral:
      deferral === undefined
        ? { count: 1, sinceRound: state.rounds - 1, sinceSeconds: ctx.at }
        : // A round of an earlier session may be one that this session has yet to come to.
          { ...deferral, count: deferral.count + 1, sinceRound: Math.min(deferral.sinceRound, state.rounds - 1) },
    kept: kept.length > 0 ? kept : undefined,
  });
  state.settling.delete(prompt);
  if (state.settlingOf.get(prompt.spec.promptId) === prompt) state.settlingOf.delete(prompt.spec.promptId);
  forgetElsewhere(state, prompt);
  prompt.status = 'gone';
  ctx.emit({
    type: 'prompt.deferred',
    at: ctx.at,
    prompt: deferred,
    roundId,
    dropped: keep ? [] : dropHeld(prompt, 'stale_weights'),
    reason: { ...reason },
  });
}

/** Returns the responses that a prompt keeps beyond its round, by index. */
function keptResponses(prompt: PromptState): KeptResponse[] {
  return prompt.responses.flatMap((one): KeptResponse[] => {
    const { status, requestId, index, tokens, reward, resume, cause } = one;
    if (cause === 'control') return [];
    if (isQueued(one)) return resume === null ? [] : [copyKept(resume)];
    if (tokens === 0 && status !== 'held') return [];
    const kept = { requestId, index, tokens, weightVersions: one.weightVersions.slice(), finished: status === 'held' };
    return [reward === null ? kept : { ...kept, reward }];
  });
}

/** Ends an abort: it was confirmed, it expired, the response came first, or the engine was lost. */
export function endAbort(state: AdmissionState, response: ResponseState, tokens: number | undefined, ctx: Ctx): void {
  const round = endRequest(state, response);
  if (response.status === 'aborting') response.status = 'abandoned';
  if (tokens !== undefined) response.tokens = tokens;
  if (response.awaited) {
    response.awaited = false;
    const { prompt } = response;
    prompt.unsettled -= 1;
    if (prompt.unsettled === 0) finishDeferral(state, prompt, ctx);
  }
  reportDrained(state, round, ctx);
}

/** Returns the id of the open round; between rounds, the id of the previous round. */
export function currentRoundId(state: AdmissionState): string {
  return state.round?.id ?? state.recentRounds.newest!;
}

/** Returns why a response is given up: proven failures of a kind, or failures that could not be compared with others. */
export type GivenUp =
  | { readonly kind: FaultKind | 'reward'; readonly failures: number }
  | { readonly failures: number; readonly seconds: number; readonly limitSeconds: number };

/** Removes a prompt that cannot get enough responses; a decision names the prompt, and another prompt replaces it. */
export function failPrompt(state: AdmissionState, prompt: PromptState, why: GivenUp, ctx: Ctx): void {
  const { promptId, ref } = prompt.spec;
  const dropped = dropHeld(prompt, 'failed');
  abortAll(state, prompt, { code: 'prompt_failed', held: prompt.held }, ctx);
  ctx.emit({
    type: 'prompt.failed',
    at: ctx.at,
    promptId,
    roundId: currentRoundId(state),
    ...given({ ref }),
    dropped,
    reason:
      'kind' in why
        ? {
            code: why.kind,
            failures: why.failures,
            budget: budgetOf(state, why.kind === 'reward' ? 'environment' : why.kind),
          }
        : { code: 'not_compared', ...why },
  });
  replace(state, prompt, 'failed');
}

/** Whether a round has filtered so many prompts that it starts no more. */
export function isSpent({ config: { maxFiltered } }: AdmissionState, { filtered }: Round): boolean {
  return maxFiltered !== undefined && filtered >= maxFiltered;
}

export function replace(state: AdmissionState, prompt: PromptState, code: 'filtered' | 'failed'): void {
  const { quota } = prompt;
  remove(state, prompt);
  if (quota === null || state.round === null) return;
  quota.admitted -= 1;
  state.unsettled = code;
}
