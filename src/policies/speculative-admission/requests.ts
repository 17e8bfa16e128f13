/** The end of a request: aborts, their confirmation, and what becomes of the round that it belonged to. */
import type { Context } from '../../core/definition.ts';
import { copyKept, type KeptResponse } from '../../schemas/prompts.ts';
import type { AdmissionDecision } from './decisions.ts';
import { freeSlot } from './launch.ts';
import { finishDeferral } from './leave.ts';
import type { AdmissionState, Engine, PromptState, Request, Round } from './state.ts';
import { armAbortGrace } from './timers.ts';

type Ctx = Context<AdmissionDecision>;
export type AbortReason = Extract<AdmissionDecision, { type: 'request.abort' }>['reason'];

/** Decides to abort a request; it stays in flight until that is confirmed. */
export function abort(state: AdmissionState, request: Request, reason: AbortReason, ctx: Ctx): void {
  request.phase = 'aborting';
  request.abortedAt = ctx.at;
  request.order = state.seq++;
  request.prompt = null;
  state.aborting.push(request);
  const engine = engineOf(state, request);
  ctx.emit({
    type: 'request.abort',
    at: ctx.at,
    requestId: request.id,
    promptId: request.promptId,
    ...(engine === null ? undefined : { engineId: engine.id }),
    reason,
  });
  armAbortGrace(state, ctx.at, ctx);
}

/** The engine of a request, unless it is lost. */
export function engineOf(state: AdmissionState, { engine }: Request): Engine | null {
  return engine !== null && state.engines.get(engine.id) === engine ? engine : null;
}

/** Aborts every response of a prompt that is in flight. */
export function abortAll(state: AdmissionState, prompt: PromptState, reason: AbortReason, ctx: Ctx): void {
  for (const slot of prompt.slots) {
    if (slot.status !== 'live') continue;
    const request = state.requests.get(slot.requestId)!;
    slot.status = 'abandoned';
    abort(state, request, { ...reason }, ctx);
  }
}

/** Takes a request out: it is over. The caller reports the drained round afterwards. */
export function endRequest(state: AdmissionState, request: Request): void {
  state.requests.delete(request.id);
  freeSlot(state, request);
  if (request.round !== null) request.round.inFlight -= 1;
}

/** An abort has come to its end: confirmed, expired, or gone with its engine. */
export function endAbort(state: AdmissionState, request: Request, tokens: number | undefined, ctx: Ctx): void {
  endRequest(state, request);
  const { prompt } = request;
  if (prompt !== null) {
    const slot = prompt.slots.find((one) => one.index === request.index)!;
    slot.tokens = tokens ?? request.tokens;
    slot.weightVersions = request.weightVersions;
    prompt.unsettled -= 1;
    if (prompt.unsettled === 0) finishDeferral(state, prompt, ctx);
  }
  reportDrained(state, request.round, ctx);
}

/** Says when nothing of a completed round is in flight any more. */
export function reportDrained(state: AdmissionState, round: Round | null, ctx: Ctx): void {
  if (round === null || round.inFlight > 0) return;
  const index = state.draining.indexOf(round);
  if (index < 0) return;
  state.draining.splice(index, 1);
  ctx.emit({
    type: 'round.drained',
    at: ctx.at,
    roundId: round.id,
    reason: { code: 'all_ended', afterSeconds: ctx.at - round.completedAt },
  });
}

/** What a prompt keeps beyond its round, by index. */
export function keptResponses(prompt: PromptState): KeptResponse[] {
  return prompt.slots.flatMap((slot): KeptResponse[] => {
    if (slot.status === 'pending') return slot.resume === null ? [] : [copyKept(slot.resume)];
    if (slot.tokens === 0 && slot.status !== 'held') return [];
    const { requestId, index, tokens, reward } = slot;
    const kept = {
      requestId,
      index,
      tokens,
      weightVersions: slot.weightVersions.slice(),
      finished: slot.status === 'held',
    };
    return [reward === null ? kept : { ...kept, reward }];
  });
}
