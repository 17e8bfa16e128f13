/** Engines that come and go, and a host that restarts. */
import type { Context } from '../../core/definition.ts';
import type { AdmissionDecision } from './decisions.ts';
import { addEngine, freeSlot, reheap } from './engines.ts';
import { enqueue } from './launch.ts';
import { finishDeferral } from './leave.ts';
import { inFlight, reportDrained } from './requests.ts';
import { failRequest } from './responses.ts';
import type { AdmissionState } from './state.ts';

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

/** Whatever ran on a lost engine is launched elsewhere, as after any infrastructure fault. */
export function engineLost(state: AdmissionState, id: string, ctx: Ctx): void {
  const engine = state.engines.get(id)!;
  engineDrained(state, id);
  state.engines.delete(id);
  for (const response of [...engine.running].sort((a, b) => a.order - b.order)) {
    // One before it may have taken its prompt out; it is aborted then, and ends here all the same.
    failRequest(state, response, 'infrastructure', ctx);
  }
}

/** All that was in flight is gone; what the open round still needs is issued again under the new prefix. */
export function hostRestarted(state: AdmissionState, idPrefix: string, ctx: Ctx): void {
  state.oldPrefixes.push(state.prefix);
  state.prefix = idPrefix;
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
}
