/**
 * Decides which programs run at all: each engine has a budget of tokens. Programs wait while they fit no engine. Where contexts
 * outgrow the budget, the largest programs pause: they are ahead of the others, and a few of them make much room.
 */
import { Deadlines, onlyTimer } from '../../core/rollout/deadlines.ts';
import { type FaultDomain, isFailing, longestPauseSeconds, mustWait } from '../../core/rollout/shared-faults.ts';
import type { Message } from '../../schemas/messages.ts';
import {
  beginReading,
  bestEngine,
  budgetOf,
  change,
  countIn,
  countOut,
  type Estimate,
  endReading,
  enterLine,
  estimateOn,
  hasRoom,
  heldTokens,
  leaveEngine,
  leaveLater,
  leaveLine,
  nameFreed,
  newTokens,
  reopen,
  trim,
  unpack,
  worthSeconds,
} from './cost.ts';
import { type Ctx, type Engine, hasOpen, isOpen, isSuspended, type Program, type ProgramState } from './state.ts';

/**
 * The earliest of these times: the longest wait ends; a cache is no longer worth the room that waiting programs need; the next
 * single turn is due on an engine that gets no other turns. Without engines there are no deadlines.
 */
export const deadlines = new Deadlines<ProgramState>({
  ...onlyTimer,
  timerId: 'program-scheduling/waits',
  first: (state) => {
    const waits = state.waitsEnd.peek();
    if (waits === undefined) return undefined;
    if (!hasOpen(state)) return nextSingleAt(state);
    return Math.min(waits.at, state.keepsEnd.peek()?.at ?? waits.at);
  },
  reason: (state) =>
    hasOpen(state)
      ? { code: 'program_waits', limitSeconds: state.config.maxPauseSeconds }
      : { code: 'retry_pause', longestPauseSeconds },
});

/** Routes waiting programs that now have room, resumes paused ones, and sets the timer. */
export function settle(state: ProgramState, ctx: Ctx): void {
  settleFaults(state, ctx);
  dropExpiredCaches(state, ctx.at);
  unpack(state);
  if (state.waitsEnd.size > 0) {
    if (deadlines.isOver(state, ctx.at)) forceOverdue(state, ctx);
    for (let next = nextFitting(state); next !== undefined; next = nextFitting(state))
      letIn(state, next, bestFor(state, next, ctx.at), false, ctx);
    for (let next = nextSingle(state, ctx.at); next !== undefined; next = nextSingle(state, ctx.at))
      letIn(state, next.one, estimateOn(state, next.one, next.engine, ctx.at), false, ctx);
    deadlines.arm(state, ctx);
  }
  nameFreed(state, ctx);
}

/** Takes programs out of the budgets whose tools take so long that their caches are not worth the room. */
function dropExpiredCaches(state: ProgramState, at: number): void {
  for (let first = state.keepsEnd.peek(); first !== undefined && first.at <= at; first = state.keepsEnd.peek())
    countOut(state, first.program);
}

/** Lets in programs that have waited too long, whatever the budget: for at least one turn, and others pause first. */
function forceOverdue(state: ProgramState, ctx: Ctx): void {
  if (!hasOpen(state)) return;
  for (let first = state.waitsEnd.peek(); first !== undefined && first.at <= ctx.at; first = state.waitsEnd.peek())
    letIn(state, first.program, bestEngine(state, first.program, ctx.at, true)!, true, ctx);
}

/**
 * Returns the engine for a program that has room. A program that has not begun may go to an engine that gets a single turn now,
 * because such a program loses least.
 */
function bestFor(state: ProgramState, one: Program, at: number): Estimate {
  if (one.routes === 0 && !state.faults.isQuiet) {
    for (const engine of state.engines.values())
      if (takesSingle(state, one, engine, at)) return estimateOn(state, one, engine, at);
  }
  return bestEngine(state, one, at, false)!;
}

/**
 * Returns the next program that has room. Programs that have begun come first, small before large, so that all progress alike and
 * none is left over at the end; then programs that have not begun, in the order of their prompts; then paused programs that wait
 * for tools.
 */
function nextFitting(state: ProgramState): Program | undefined {
  const next = state.ready.peek() ?? state.fresh.peek() ?? state.paused.peek();
  if (next === undefined) return undefined;
  do {
    for (const engine of state.engines.values()) if (isOpen(state, engine) && hasRoom(state, next, engine)) return next;
  } while (reopen(state));
  return undefined;
}

/** Lets a waiting program in: a paused program is resumed, and a requested turn is routed. */
function letIn(state: ProgramState, one: Program, found: Estimate, anyRoom: boolean, ctx: Ctx): void {
  const waited = ctx.at - one.waitsSince!;
  leaveLine(state, one);
  one.waitsSince = null;
  one.forced = anyRoom;
  if (one.paused) resume(state, one, found.engine, anyRoom, ctx);
  if (one.phase === 'asked') route(state, one, found, waited, ctx);
  // A program that was forced in while its tool runs does not count: it is only resumed.
  else if (!anyRoom) {
    if (one.phase === 'answered') one.keptUntil = ctx.at + worthSeconds(state, found.engine);
    countIn(state, one, found.engine);
  }
}

function resume(state: ProgramState, one: Program, engine: Engine, isForced: boolean, ctx: Ctx): void {
  const pausedSeconds = ctx.at - one.pausedAt;
  const { maxPauseSeconds: limitSeconds } = state.config;
  const usedTokens = heldTokens(state, engine) + newTokens(state, one, engine);
  const reason: Message<'program.resume'>['reason'] = isForced
    ? { code: 'paused_longest', pausedSeconds, limitSeconds }
    : { code: 'fits', engineId: engine.engineId, usedTokens, budgetTokens: budgetOf(state, engine), pausedSeconds };
  one.paused = false;
  one.pausedSeconds += pausedSeconds;
  ctx.emit({ type: 'program.resume', at: ctx.at, requestId: one.requestId, reason });
}

/** Routes a requested turn. A program that counts on an engine has its room there. */
export function route(
  state: ProgramState,
  one: Program,
  { engine, seconds, stayingSeconds }: Estimate,
  waitedSeconds: number,
  ctx: Ctx,
): void {
  const { engineId: before, routes, cause, requestId } = one;
  if (one.counted) countOut(state, one);
  const single = beginTurn(state, one, engine, ctx.at);
  const cachedTokens = beginReading(state, one, engine, ctx.at);
  one.phase = 'running';
  one.since = ctx.at;
  one.cause = null;
  one.routes += 1;
  if (before !== null && before !== engine.engineId) one.moves += 1;
  countIn(state, one, engine);
  trim(engine);
  const numbers = { seconds, cachedTokens, waitedSeconds };
  let reason: Message<'turn.route'>['reason'];
  if (single !== undefined) {
    const { code, failures, pauseSeconds } = single;
    reason = { code, ...numbers, failures, pauseSeconds };
  } else if (cause !== null) reason = { code: cause, ...numbers };
  else if (routes === 0) reason = { code: 'first', ...numbers };
  else if (before === engine.engineId) reason = { code: 'cached', ...numbers };
  else reason = { code: 'moved', ...numbers, ...(stayingSeconds === undefined ? undefined : { stayingSeconds }) };
  ctx.emit({ type: 'turn.route', at: ctx.at, requestId, engineId: engine.engineId, reason });
  enforce(state, engine, ctx);
}

/**
 * Brings an engine back into its budget: programs that need no engine now pause, largest first, and then running ones at the end
 * of their turns. One program always stays, so that a program that alone exceeds the budget runs.
 */
export function enforce(state: ProgramState, engine: Engine, ctx: Ctx): void {
  const budgetTokens = budgetOf(state, engine);
  while (heldTokens(state, engine) - engine.leavingTokens > budgetTokens && engine.members.size - engine.leaving > 1) {
    const resting = engine.resting.peek();
    if (resting !== undefined) pause(state, resting, ctx);
    else leaveLater(state, engine.busy.peek()!);
  }
}

/** Pauses a program that runs no turn. */
export function pause(state: ProgramState, one: Program, ctx: Ctx): void {
  const engine = state.engines.get(one.engineId!)!;
  const { engineId } = engine;
  const usedTokens = heldTokens(state, engine);
  const budgetTokens = budgetOf(state, engine);
  countOut(state, one);
  one.paused = true;
  one.pausedAt = ctx.at;
  wait(state, one, ctx.at);
  const reason = { code: 'over_budget', engineId, usedTokens, budgetTokens } as const;
  ctx.emit({ type: 'program.pause', at: ctx.at, requestId: one.requestId, reason });
}

/** Puts a program into the line for room. */
export function wait(state: ProgramState, one: Program, at: number): void {
  one.waitsSince = at;
  one.line = state.seq++;
  enterLine(state, one);
}

/** Ends the turn of a program on its engine, without pausing the program or removing it from the budget. */
export function endTurn(state: ProgramState, one: Program, contextTokens: number, at: number): void {
  const engine = state.engines.get(one.engineId!)!;
  change(state, one, () => {
    one.phase = 'idle';
    one.since = at;
    one.contextTokens = contextTokens;
    one.keptUntil = at + worthSeconds(state, engine);
  });
  endReading(state, one, engine, at);
}

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

/** Notes that a turn begins. Returns the reason of a single turn. */
function beginTurn({ faults, seq }: ProgramState, one: Program, { engineId: id }: Engine, at: number) {
  one.launched = seq;
  return faults.begin([{ scope: 'engine', id }], one.requestId, itemOf(one), at);
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
  if (faults.isQuiet || asked === 0) return undefined;
  return faults.nextTryAt(({ id }) => engines.get(id!)?.status === 'open');
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
