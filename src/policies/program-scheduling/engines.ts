/** Handles engines: they join, are drained or lost, and report their load. */

import { IndexedHeap } from '../../core/collections/heap.ts';
import { removeEngine } from '../../core/rollout/engines.ts';
import type { Message } from '../../schemas/messages.ts';
import { enforce, wait } from './admission.ts';
import { PrefixCache } from './cache.ts';
import { trim } from './cost.ts';
import type { Ctx } from './messages.ts';
import { leaveEngine } from './packing.ts';
import { countOut, type Engine, type Program, type ProgramState, pausesFirst } from './state.ts';

export function addEngine(state: ProgramState, { engineId }: { readonly engineId: string }): void {
  const known = state.engines.get(engineId);
  if (known !== undefined) {
    if (known.status === 'drained') known.status = 'open';
    return;
  }
  state.engines.set(engineId, {
    engineId,
    status: 'open',
    capacityTokens: state.config.kvCapacityTokens,
    unreadTokens: 0,
    unreadAt: 0,
    givenTokens: 0,
    preemptions: 0,
    cache: new PrefixCache(),
    members: new Set(),
    usedTokens: 0,
    prompts: new Map(),
    running: 0,
    runningTokens: 0,
    leaving: 0,
    leavingTokens: 0,
    busy: new IndexedHeap(pausesFirst),
    resting: new IndexedHeap(pausesFirst),
  });
}

/** Drains an engine: its programs continue elsewhere, those with running turns after these turns. */
export function drainEngine(state: ProgramState, { engineId }: { readonly engineId: string }): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  engine.status = 'drained';
  leaveEngine(state, engine);
  removeIfEmpty(state, engine);
}

/** Forgets an engine that takes no turns and runs none. */
export function removeIfEmpty(state: ProgramState, engine: Engine): void {
  if (engine.status === 'drained' && engine.members.size === 0) removeEngine(state, engine.engineId);
}

/** Routes the turns of a lost engine again. */
export function loseEngine(state: ProgramState, { engineId }: Message<'engine.lost'>, ctx: Ctx): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  const members = [...engine.members].sort((a, b) => a.seq - b.seq);
  for (const one of members) {
    if (one.phase === 'running') askAgain(state, one, 'engine_lost', ctx.at);
    else countOut(state, one);
  }
  removeEngine(state, engineId);
}

/** Gives up the turn of a program, so that the turn is routed again. */
export function askAgain(state: ProgramState, one: Program, cause: NonNullable<Program['cause']>, at: number): void {
  countOut(state, one);
  one.phase = 'asked';
  one.since = at;
  one.cause = cause;
  wait(state, one, at);
}

/**
 * Takes what an engine says about itself. A lower number of preemptions means that the engine has restarted with an empty cache.
 * A report of an unknown engine changes nothing.
 */
export function engineReported(state: ProgramState, event: Message<'engine.reported'>, ctx: Ctx): void {
  const engine = state.engines.get(event.engineId);
  if (engine === undefined) return;
  const { kvCapacityTokens, cachedTokens, preemptions, waiting } = event;
  engine.capacityTokens = kvCapacityTokens;
  if (preemptions < engine.preemptions) engine.cache.shrink(0);
  engine.preemptions = preemptions;
  // No turn waits for its first token, so everything has been read.
  if (waiting === 0) engine.unreadTokens = 0;
  if (cachedTokens !== undefined) engine.cache.shrink(cachedTokens + promptsOf(engine));
  trim(engine);
  if (engine.status === 'open') enforce(state, engine, ctx);
}

/** Prompt tokens of the engine's members, which an engine does not report as cached while a member runs a turn. */
function promptsOf({ prompts }: Engine): number {
  let sum = 0;
  for (const { tokens } of prompts.values()) sum += tokens;
  return sum;
}
