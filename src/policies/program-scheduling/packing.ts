/**
 * Frees engines at the end of a rollout. Where the remaining programs fit on fewer engines, and take their turns there nearly as
 * fast as alone, the emptiest engine gets no more turns, and is named when it runs none. It gets turns again when something waits
 * for room, or when turns have become too slow.
 */
import { budgetOf, heldTokens } from './cost.ts';
import type { Ctx } from './messages.ts';
import { ratesOf } from './pace.ts';
import { countOut, type Engine, isOpen, type ProgramState } from './state.ts';

/** Before an engine is freed, contexts are assumed to grow by this factor: what has run for long has on average as long to go. */
const ahead = 2;

interface Engines {
  readonly open: readonly Engine[];
  /** Engines that get no turns, so that they become free. */
  readonly spare: readonly Engine[];
  /** Mean tokens of the contexts that count. */
  readonly contextTokens: number;
}

function enginesOf(state: ProgramState): Engines {
  const open: Engine[] = [];
  const spare: Engine[] = [];
  let members = 0;
  let held = 0;
  for (const engine of state.engines.values()) {
    members += engine.members.size;
    held += heldTokens(state, engine);
    if (isOpen(state, engine)) open.push(engine);
    else if (engine.status === 'emptying' || engine.status === 'free') spare.push(engine);
  }
  return { open, spare, contextTokens: members === 0 ? 0 : held / members };
}

/** Seconds of one among so many parallel turns: the time of its steps, and of the reading for all of them. */
function turnSeconds({ pace, config }: ProgramState, turns: number, contextTokens: number): number {
  const { stepSeconds, sequenceSeconds, contextTokenSeconds } = config.decode;
  const { readSeconds, decodeFactor } = ratesOf(pace, config);
  const step = stepSeconds + turns * (sequenceSeconds + contextTokenSeconds * contextTokens);
  const readTokens = Math.max(0, pace.growthTokens - pace.turnTokens);
  return turns * readTokens * readSeconds + Math.max(1, pace.turnTokens) * decodeFactor * step;
}

/** Whether turns take longer than allowed if all programs run at once, spread evenly over so many engines. */
function areSlow(state: ProgramState, engines: number, contextTokens: number): boolean {
  const turns = Math.max(1, state.programs.size / engines);
  const alone = turnSeconds(state, 1, contextTokens);
  return turnSeconds(state, turns, contextTokens) > state.config.tailSlowdown! * alone;
}

/** Frees engines, emptiest first, as long as all programs have room on the others and are fast enough there. */
export function pack(state: ProgramState): void {
  if (state.config.tailSlowdown === undefined) return;
  // With one more engine, waiting programs would be let in sooner.
  while (state.waitsEnd.size === 0) {
    const { open, contextTokens } = enginesOf(state);
    if (open.length < 2 || areSlow(state, open.length - 1, ahead * contextTokens)) return;
    const emptiest = open.reduce((least, one) => (heldTokens(state, one) < heldTokens(state, least) ? one : least));
    const budget = open.reduce((sum, one) => sum + (one === emptiest ? 0 : budgetOf(state, one)), 0);
    if (state.programs.size * ahead * contextTokens > budget) return;
    emptiest.status = 'emptying';
    leaveEngine(state, emptiest);
  }
}

/** Removes the programs of an engine from its budget; programs with a running turn leave after the turn. */
export function leaveEngine(state: ProgramState, engine: Engine): void {
  for (const one of [...engine.members]) if (one.phase !== 'running') countOut(state, one);
}

/** Gives engines turns again while no other engine takes any, or while turns are too slow. */
export function unpack(state: ProgramState): void {
  if (state.config.tailSlowdown === undefined) return;
  for (let all = enginesOf(state); all.spare.length > 0; all = enginesOf(state)) {
    // Without any engine, turns take for ever.
    if (!areSlow(state, all.open.length, all.contextTokens)) return;
    reopen(state);
  }
}

/** Gives an engine turns again, preferably one that still runs some; returns whether there was such an engine. */
export function reopen(state: ProgramState): boolean {
  const { spare } = enginesOf(state);
  const engine = spare.find(({ status }) => status === 'emptying') ?? spare[0];
  if (engine === undefined) return false;
  engine.status = 'open';
  return true;
}

/** Names the engines that have become free. */
export function nameFreed(state: ProgramState, ctx: Ctx): void {
  if (state.config.tailSlowdown === undefined) return;
  for (const engine of state.engines.values()) {
    if (engine.status !== 'emptying' || engine.members.size > 0) continue;
    engine.status = 'free';
    const { open } = enginesOf(state);
    const sumOf = (tokens: (state: ProgramState, one: Engine) => number): number =>
      open.reduce((sum, one) => sum + tokens(state, one), 0);
    const [usedTokens, budgetTokens] = [sumOf(heldTokens), sumOf(budgetOf)];
    const { size: programs } = state.programs;
    const reason = { code: 'packed', programs, engines: open.length, usedTokens, budgetTokens } as const;
    ctx.emit({ type: 'engine.freed', at: ctx.at, engineId: engine.engineId, reason });
  }
}
