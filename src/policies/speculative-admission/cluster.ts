/** Engines that come and go, and a host that restarts. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision } from './decisions.ts';
import { enqueue, freeSlot, pump, reheap } from './launch.ts';
import { finishDeferral } from './leave.ts';
import { reportDrained } from './requests.ts';
import { addEngine, failRequest } from './responses.ts';
import type { AdmissionState } from './state.ts';
import { requestMore } from './supply.ts';

type Ctx = Context<AdmissionDecision>;

export function engineAdded(state: AdmissionState, id: string, ctx: Ctx): void {
  const engine = state.engines.get(id);
  if (engine === undefined) addEngine(state, id);
  else {
    engine.active = true;
    reheap(state, engine);
  }
  pump(state, ctx);
}

export function engineDrained(state: AdmissionState, id: string): void {
  const engine = state.engines.get(id)!;
  engine.active = false;
  reheap(state, engine);
}

/** Whatever ran on a lost engine is launched elsewhere, as after any infrastructure fault. */
export function engineLost(state: AdmissionState, id: string, ctx: Ctx): void {
  const engine = state.engines.get(id)!;
  engineDrained(state, id);
  state.engines.delete(id);
  for (const request of [...engine.running].sort((a, b) => a.order - b.order)) {
    failRequest(state, request, 'infrastructure', ctx);
  }
  pump(state, ctx);
}

/** All that was in flight is gone; what the open round still needs is issued again under the new prefix. */
export function hostRestarted(state: AdmissionState, idPrefix: string, ctx: Ctx): void {
  state.oldPrefixes.push(state.prefix);
  state.prefix = idPrefix;
  state.timers.abortGrace = null;
  state.timers.responseTimeout = null;
  const requests = [...state.requests.values()];
  state.requests.clear();
  for (const request of requests) {
    freeSlot(state, request);
    if (request.round !== null) request.round.inFlight -= 1;
    const slot = request.prompt?.slots.find((one) => one.index === request.index);
    if (slot === undefined) continue;
    if (request.phase !== 'aborting') enqueue(state, slot, 'host_restarted');
    else slot.tokens = request.tokens;
  }
  for (const prompt of [...state.settling]) {
    prompt.unsettled = 0;
    finishDeferral(state, prompt, ctx);
  }
  for (const round of [...state.draining]) reportDrained(state, round, ctx);
  for (const lane of state.round?.lanes ?? []) lane.awaiting = 0;
  requestMore(state, 'host_restarted', ctx);
  pump(state, ctx);
}
