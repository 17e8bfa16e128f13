/** Engines that come and go, and a host that restarts. */
import { replacePrefix } from '../../core/minted-ids.ts';
import type { Message } from '../../schemas/messages.ts';
import { addEngine, enqueue, freeSlot, reheap } from './launch.ts';
import { endAbort, finishDeferral } from './leave.ts';
import { nameOwed } from './progress.ts';
import { fault } from './reports.ts';
import { endRequest, inFlight, rememberLaunched, reportDrained } from './requests.ts';
import type { Ctx } from './schema.ts';
import { type AdmissionState, isLive } from './state.ts';

export function engineAdded(state: AdmissionState, { engineId }: { engineId: string }): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) addEngine(state, engineId);
  else {
    engine.active = true;
    reheap(state, engine);
  }
}

export function engineDrained(state: AdmissionState, { engineId }: { engineId: string }): void {
  const engine = state.engines.get(engineId)!;
  engine.active = false;
  reheap(state, engine);
}

/** Other engines than before take requests. */
export function enginesChanged(state: AdmissionState, { engineIds }: Message<'engines.changed'>): void {
  const named = new Set(engineIds);
  for (const engineId of state.engines.keys()) if (!named.has(engineId)) engineDrained(state, { engineId });
  for (const engineId of engineIds) engineAdded(state, { engineId });
}

/** Whatever ran on a lost engine is launched elsewhere, as after any infrastructure fault. */
export function engineLost(state: AdmissionState, event: Message<'engine.lost'>, ctx: Ctx): void {
  const engine = state.engines.get(event.engineId)!;
  engineDrained(state, event);
  engine.isLost = true;
  state.engines.delete(event.engineId);
  const lost = [...engine.running].sort((a, b) => a.order - b.order);
  // All of them have ended before any fault has its consequences: what is gone cannot be aborted.
  const faulty = lost.filter(isLive);
  const rounds = new Set(faulty.map((response) => endRequest(state, response)));
  for (const response of lost) if (response.status === 'aborting') endAbort(state, response, undefined, ctx);
  for (const response of faulty) response.status = 'pending';
  for (const response of faulty) {
    if (response.prompt.status === 'active') fault(state, response, 'infrastructure', ctx);
  }
  for (const round of rounds) reportDrained(state, round, ctx);
}

/** All that was in flight is gone; what the open round still needs is issued again under the new prefix. */
export function hostRestarted(state: AdmissionState, { idPrefix }: Message<'host.restarted'>, ctx: Ctx): void {
  changePrefix(state, idPrefix);
  state.timers.abortGrace = null;
  state.timers.responseTimeout = null;
  for (const response of inFlight(state)) {
    freeSlot(state, response);
    if (response.round !== null) response.round.inFlight -= 1;
    response.round = null;
    if (response.status !== 'aborting') enqueue(state, response, 'host_restarted');
    else Object.assign(response, { status: 'abandoned', awaited: false });
  }
  state.aborting.clear();
  for (const prompt of [...state.settling]) {
    prompt.unsettled = 0;
    finishDeferral(state, prompt, ctx);
  }
  for (const round of [...state.draining]) reportDrained(state, round, ctx);
  for (const lane of state.round?.lanes ?? []) lane.awaiting = 0;
  state.unsettled = 'host_restarted';
  nameOwed(state, 'host_restarted', ctx);
}

/** Ids are minted under another prefix; what is held keeps its own. */
function changePrefix(state: AdmissionState, idPrefix: string): void {
  const isForgotten = replacePrefix(state, idPrefix);
  for (const prompt of state.prompts.values()) {
    for (const one of prompt.responses) if (one.status === 'held') state.elsewhere.set(one.requestId, one);
    if (!isForgotten) continue;
    // The forgotten prefix may come again: no attempt that was minted under it may.
    rememberLaunched(state, prompt);
    prompt.attemptBase = state.nextAttempt;
  }
  state.restarts += 1;
}
