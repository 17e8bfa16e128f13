/** Handles engines: they join, are drained or lost, and report their load. */
import { removeEngine } from '../../core/rollout/engines.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './messages.ts';
import { giveUp } from './placing.ts';
import { type DividedState, type Engine, newYoung } from './state.ts';

export function addEngine(state: DividedState, { engineId }: { readonly engineId: string }): void {
  const known = state.engines.get(engineId);
  if (known !== undefined) {
    known.active = true;
    return;
  }
  const capacityTokens = state.config.kvCapacityTokens;
  const sums = { running: new Set<never>(), young: newYoung(), heldTokens: 0, contextTokens: 0, aheadTokens: 0 };
  state.engines.set(engineId, { engineId, active: true, capacityTokens, ...sums });
}

/** Drains an engine: its responses continue elsewhere after their chunks. */
export function drainEngine(state: DividedState, { engineId }: { readonly engineId: string }): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  engine.active = false;
  if (state.nextOn === engineId) state.nextOn = null;
  removeIfEmpty(state, engine);
}

/** Forgets an engine that takes no chunks and runs none. */
export function removeIfEmpty(state: DividedState, engine: Engine): void {
  if (!engine.active && engine.running.size === 0) removeEngine(state, engine.engineId);
}

/** The chunks of a lost engine are lost: their responses continue elsewhere from the last finished chunks. */
export function loseEngine(state: DividedState, { engineId }: Message<'engine.lost'>, ctx: Ctx): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  const lost = [...engine.running].sort((a, b) => a.seq - b.seq);
  for (const one of lost) giveUp(state, one, 'engine_lost', ctx.at);
  removeEngine(state, engineId);
  if (state.nextOn === engineId) state.nextOn = null;
}

/** Takes the size of a KV cache. A report of an unknown engine changes nothing. */
export function engineReported(state: DividedState, event: Message<'engine.reported'>): void {
  const engine = state.engines.get(event.engineId);
  if (engine !== undefined) engine.capacityTokens = event.kvCapacityTokens;
}
