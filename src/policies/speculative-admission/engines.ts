/** Engines and their slots. */
import type { AdmissionState, Engine, ResponseState } from './state.ts';

export function addEngine(state: AdmissionState, id: string): Engine {
  const engine: Engine = { id, active: true, requests: 0, tokens: 0, running: new Set(), heapIndex: -1 };
  state.engines.set(id, engine);
  reheap(state, engine);
  return engine;
}

/** The engine of a request, unless it is lost. */
export function engineOf(state: AdmissionState, { engine }: ResponseState): Engine | null {
  return engine !== null && state.engines.get(engine.id) === engine ? engine : null;
}

/** Keeps the heap of engines with room in step with an engine's load. */
export function reheap(state: AdmissionState, engine: Engine): void {
  const limit = state.config.maxInFlightPerEngine ?? Number.POSITIVE_INFINITY;
  if (engine.active && engine.requests < limit) state.open.update(engine);
  else state.open.remove(engine);
}

/** Takes a slot for a request, on an engine if there is one. */
export function takeSlot(state: AdmissionState, response: ResponseState, engine: Engine | null): void {
  response.holdsSlot = true;
  response.engine = engine;
  state.slotsTaken += 1;
  if (engine === null) return;
  engine.requests += 1;
  engine.tokens += response.load;
  engine.running.add(response);
  reheap(state, engine);
}

/** Gives a request's slot back; it may already have been given back. */
export function freeSlot(state: AdmissionState, response: ResponseState): void {
  if (!response.holdsSlot) return;
  response.holdsSlot = false;
  state.slotsTaken -= 1;
  const { engine } = response;
  if (engine === null) return;
  engine.requests -= 1;
  engine.tokens -= response.load;
  engine.running.delete(response);
  if (engine.active) reheap(state, engine);
}
