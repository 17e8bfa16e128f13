/** Engines that come and go, and a host that restarts. */
import type { Context } from '../../core/definition.ts';
import { replacePrefix } from '../../core/minted-ids.ts';
import type { AdmissionDecision } from './decisions.ts';
import { addEngine, freeSlot, reheap } from './engines.ts';
import { enqueue } from './launch.ts';
import { endAbort, finishDeferral } from './leave.ts';
import { rememberLaunched } from './minted.ts';
import { nameOwed } from './owed.ts';
import { endRequest, inFlight, reportDrained } from './requests.ts';
import { fault } from './responses.ts';
import { type AdmissionState, isLive } from './state.ts';

type Ctx = Context<AdmissionDecision>;

export function engineAdded(state: AdmissionState, id: string): void {
  const engine = state.engines.get(id);
  if (engine === undefined) addEngine(state, id);
  else {
    engine.active = true;
    reheap(state, engine);
  }
}

export function engineDrained(state: AdmissionState, id: string): void {
  const engine = state.engines.get(id)!;
  engine.active = false;
  reheap(state, engine);
}

/** Other engines than before take requests. */
export function enginesChanged(state: AdmissionState, ids: readonly string[]): void {
  const named = new Set(ids);
  for (const id of state.engines.keys()) if (!named.has(id)) engineDrained(state, id);
  for (const id of ids) engineAdded(state, id);
}

/** Whatever ran on a lost engine is launched elsewhere, as after any infrastructure fault. */
export function engineLost(state: AdmissionState, id: string, ctx: Ctx): void {
  const engine = state.engines.get(id)!;
  engineDrained(state, id);
  state.engines.delete(id);
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
export function hostRestarted(state: AdmissionState, idPrefix: string, ctx: Ctx): void {
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
