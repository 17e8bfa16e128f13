/**
 * Keeps turns away from an engine on which turns of different prompts fail in a row: the engine gets single turns, after pauses,
 * until one of them has finished.
 */
import { beginTry, type FaultDomain, isFailing, mustWait } from '../../core/rollout/shared-faults.ts';
import type { Ctx } from './messages.ts';
import { leaveEngine } from './packing.ts';
import { type Engine, hasOpen, isSuspended, type Program, type ProgramState } from './state.ts';

/** All programs of a prompt may fail because of the prompt; only failures of different prompts say something about the engine. */
const itemOf = ({ promptId, requestId }: Program): string => promptId ?? requestId;

const domainOf = ({ faults }: ProgramState, id: string): FaultDomain | undefined =>
  faults.find({ scope: 'engine', id });

/**
 * Whether an engine that gets only single turns takes a turn of this program now. Where other engines take turns, no prompt is
 * tried twice on this engine.
 */
export function takesSingle(state: ProgramState, one: Program, engine: Engine, at: number): boolean {
  if (one.phase !== 'asked' || engine.status !== 'open' || !isSuspended(state, engine)) return false;
  const item = itemOf(one);
  const domain = domainOf(state, engine.engineId)!;
  return !mustWait(domain, item, at) && !(domain.failing.has(item) && hasOpen(state));
}

/** Notes that a turn begins. For a single turn, returns the part of the reason that says so. */
export function beginTurn(
  state: ProgramState,
  one: Program,
  engine: Engine,
  at: number,
): { readonly failures: number; readonly pauseSeconds: number } | undefined {
  one.launched = state.seq;
  if (!isSuspended(state, engine)) return undefined;
  const domain = domainOf(state, engine.engineId)!;
  return { failures: domain.failures, pauseSeconds: beginTry(domain, one.requestId, itemOf(one), at) };
}

/** Notes that the turn of a program has finished. */
export function turnSucceeded({ faults }: ProgramState, one: Program, ctx: Ctx): void {
  if (!faults.isQuiet) faults.succeeded({ scope: 'engine', id: one.engineId }, itemOf(one), one.launched, ctx);
}

/** Notes that a turn has failed through a fault of its engine. */
export function turnFailed(state: ProgramState, one: Program, ctx: Ctx): void {
  const { requestId } = one;
  const { faults } = state;
  const engine = state.engines.get(one.engineId!)!;
  const { engineId } = engine;
  const item = itemOf(one);
  state.seq += 1;
  const failure = {
    scope: 'engine',
    id: engineId,
    item,
    place: 0,
    kind: 'infrastructure',
    order: state.seq,
    isGood: false,
  } as const;
  faults.failed(failure, requestId, ctx.at);
  // No failure is charged here, so none has to be judged.
  faults.forget(item);
  const domain = domainOf(state, engineId)!;
  const others = [...engine.members].filter((other) => other !== one && other.phase === 'running');
  const hasOther = () => others.some((other) => !domain.failing.has(itemOf(other)));
  if (!hasAlternative(state, engine) || !isFailing(domain, others.length, hasOther)) return;
  state.seq += 1;
  faults.suspend(domain, state.seq, others.length, ctx);
  leaveEngine(state, engine);
}

/** Whether there is another engine, without which there is no comparison. */
function hasAlternative({ engines }: ProgramState, engine: Engine): boolean {
  for (const other of engines.values()) if (other !== engine && other.status !== 'drained') return true;
  return false;
}

/** Follows every event: forgets engines that have left, and single turns that have ended in any way. */
export function settleFaults(state: ProgramState, ctx: Ctx): void {
  const { faults, engines, programs } = state;
  if (faults.isQuiet) return;
  for (const { scope, id } of [...faults.domains]) {
    if (id !== null && !engines.has(id)) faults.removeDomain({ scope, id }, ctx);
  }
  faults.dropTries(ctx.at, ({ id: engineId }, requestId) => {
    const one = programs.get(requestId);
    return one?.phase !== 'running' || one.engineId !== engineId;
  });
}

/** Returns the earliest time of a single turn that only waits for this time, in seconds; `undefined` without one. */
export function nextSingleAt({ faults, engines, asked }: ProgramState): number | undefined {
  let first: number | undefined;
  if (faults.isQuiet || asked === 0) return undefined;
  for (const { id, suspension, tries } of faults.domains) {
    if (suspension === null || tries.size > 0 || engines.get(id!)?.status !== 'open') continue;
    first = Math.min(first ?? suspension.retryAt, suspension.retryAt);
  }
  return first;
}

/**
 * Returns a waiting program, and an engine for a single turn of it. Programs that have not begun come first, because they lose
 * least.
 */
export function nextSingle(state: ProgramState, at: number): { one: Program; engine: Engine } | undefined {
  const { faults, engines, fresh, programs, asked } = state;
  if (faults.isQuiet || asked === 0) return undefined;
  for (const { id, suspension } of faults.domains) {
    const engine = suspension === null ? undefined : engines.get(id!);
    if (engine === undefined) continue;
    const first = fresh.peek();
    if (first !== undefined && takesSingle(state, first, engine, at)) return { one: first, engine };
    for (const one of programs.values()) if (takesSingle(state, one, engine, at)) return { one, engine };
  }
  return undefined;
}
