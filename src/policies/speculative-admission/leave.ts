/** How a prompt leaves: final, deferred, returned, filtered, quarantined or carried; never silently. */
import type { Context } from '../../core/definition.ts';
import { copyDeferral, copyPrompt, type DroppedResponse, type FinalPrompt } from '../../schemas/prompts.ts';
import type { AdmissionDecision } from './decisions.ts';
import { type AbortReason, abort, abortAll, keptResponses } from './requests.ts';
import type { AdmissionState, DeferReason, PromptState } from './state.ts';

type Ctx = Context<AdmissionDecision>;

/** Takes a prompt out of the round. */
export function remove(state: AdmissionState, prompt: PromptState): void {
  if (state.prompts.get(prompt.spec.promptId) === prompt) state.prompts.delete(prompt.spec.promptId);
  prompt.lane?.members.delete(prompt);
  prompt.lane = null;
  prompt.status = 'gone';
}

/** The held responses of a prompt, as given up for a cause. */
export function dropHeld(prompt: PromptState, cause: DroppedResponse['cause']): DroppedResponse[] {
  return prompt.slots
    .filter((slot) => slot.status === 'held')
    .map((slot) => ({ requestId: slot.requestId, tokens: slot.tokens, cause }));
}

/** The prompt as a completed round hands it over. */
export function finalPrompt(prompt: PromptState): FinalPrompt {
  const { promptId, ref, domain, deferral } = prompt.spec;
  const responses: FinalPrompt['responses'] = [];
  for (const slot of prompt.slots) {
    if (slot.status !== 'held') continue;
    const { requestId, index, tokens, reward } = slot;
    const weightVersions = slot.weightVersions.slice();
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

/** Whether anything of a prompt was ever started in this round. */
function wasStarted(prompt: PromptState): boolean {
  return prompt.slots.some((slot) => slot.requestId !== '' && (slot.status !== 'held' || slot.resume === null));
}

/** Hands a prompt back as it came. */
export function giveBack(
  state: AdmissionState,
  prompt: PromptState,
  roundId: string,
  code: 'not_started' | 'round_failed',
  ctx: Ctx,
): void {
  // What was kept from earlier rounds goes back inside the prompt; only what this round added is dropped.
  const kept = new Set(prompt.spec.kept?.map((one) => one.requestId));
  const dropped = dropHeld(prompt, 'round_failed').filter((one) => !kept.has(one.requestId));
  remove(state, prompt);
  ctx.emit({
    type: 'prompt.returned',
    at: ctx.at,
    prompt: copyPrompt(prompt.spec),
    roundId,
    dropped,
    reason: { code },
  });
}

/** Sends an unfinished prompt away, to be tried again in a later round. */
export function defer(
  state: AdmissionState,
  prompt: PromptState,
  roundId: string,
  reason: DeferReason,
  ctx: Ctx,
): void {
  if (prompt.status === 'standby' || !wasStarted(prompt)) {
    giveBack(state, prompt, roundId, 'not_started', ctx);
    return;
  }
  const why = abortReason(state, reason);
  remove(state, prompt);
  prompt.settling = { roundId, reason };
  if (state.config.keepPartial && reason.code !== 'stale_weights') {
    for (const slot of prompt.slots) {
      if (slot.status !== 'live') continue;
      slot.status = 'abandoned';
      const request = state.requests.get(slot.requestId)!;
      abort(state, request, { ...why }, ctx);
      // Its tokens are known when the abort is confirmed; until then the prompt waits.
      request.prompt = prompt;
      prompt.unsettled += 1;
    }
  } else {
    abortAll(state, prompt, why, ctx);
  }
  prompt.status = 'settling';
  state.settling.add(prompt);
  if (prompt.unsettled === 0) finishDeferral(state, prompt, ctx);
}

function abortReason(state: AdmissionState, reason: DeferReason): AbortReason {
  if (reason.code === 'stale_weights') {
    return { code: 'stale_weights', startVersion: reason.startVersion, weightVersion: reason.weightVersion };
  }
  const counted = state.round?.counted ?? 0;
  return reason.code === 'quota_filled' ? { code: 'quota_filled', counted } : { code: 'round_completed', counted };
}

/** Everything about the prompt is known: it leaves. */
export function finishDeferral(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { roundId, reason } = prompt.settling!;
  const keep = state.config.keepPartial && reason.code !== 'stale_weights';
  const kept = keep ? keptResponses(prompt) : [];
  const longest = Math.max(prompt.spec.expectedTokens ?? 0, ...prompt.slots.map((slot) => slot.tokens));
  const { deferral } = prompt.spec;
  const deferred = copyPrompt({
    ...prompt.spec,
    expectedTokens: longest > 0 ? longest : undefined,
    deferral:
      deferral === undefined
        ? { count: 1, sinceRound: state.rounds - 1, sinceSeconds: ctx.at }
        : { ...deferral, count: deferral.count + 1 },
    kept: kept.length > 0 ? kept : undefined,
  });
  state.settling.delete(prompt);
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
