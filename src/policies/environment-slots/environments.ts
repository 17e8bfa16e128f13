/** Handles the life of environments: start, program, end. */
import { mintedId, wasMinted } from '../../core/ids/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { broke, started } from './breaker.ts';
import { forgetTool, lostSlot } from './endings.ts';
import type { Ctx } from './messages.ts';
import { alarmOf, enter, type Kind, leave, type Program, type Slot, type SlotsState, setDue } from './state.ts';

const idKind = 'slot/';

/** Starts an environment. */
export function start(state: SlotsState, kind: Kind, reason: Message<'slot.prewarm'>['reason'], ctx: Ctx): void {
  const { environment } = kind;
  const id = mintedId(state.prefix, idKind, state.nextSlot++);
  const isTrial = reason.code === 'trial';
  const one: Slot = {
    ...{ id, environment, kind, isTrial, order: state.seq++, status: 'starting', since: ctx.at, due: null },
    ...{ requestId: null, health: 'new', startLimitSeconds: startLimit(state, kind, isTrial), tool: null },
    ...{ alarm: undefined as never, heapIndex: -1 },
  };
  one.alarm = alarmOf({ slot: one });
  state.slots.set(id, one);
  enter(one);
  setDue(state, one, ctx.at + one.startLimitSeconds);
  ctx.emit({ type: 'slot.prewarm', at: ctx.at, slotId: id, environment, reason });
}

/** A start may take a multiple of the longest start, like a tool; a trial, and the very first start, have the longest limit. */
function startLimit({ config }: SlotsState, { longestStartSeconds: longest }: Kind, isTrial: boolean): number {
  const { toolTimeoutFactor, minToolTimeoutSeconds, maxStartSeconds } = config;
  if (longest === 0 || isTrial) return maxStartSeconds;
  return Math.min(maxStartSeconds, Math.max(minToolTimeoutSeconds, toolTimeoutFactor * longest));
}

/** Moves an environment to another status. */
function move(state: SlotsState, one: Slot, status: Slot['status'], due: number | null, ctx: Ctx): void {
  leave(one);
  one.status = status;
  one.since = ctx.at;
  one.order = state.seq++;
  enter(one);
  setDue(state, one, due);
  state.touched.add(one.kind);
}

/** Gives an idle environment to the program that has waited longest. */
export function assign(state: SlotsState, slot: Slot, program: Program, ctx: Ctx): void {
  const { kind, id: slotId, environment } = slot;
  const { requestId, failures } = program;
  const waitedSeconds = ctx.at - program.since;
  const reason: Message<'slot.assign'>['reason'] =
    failures > 0
      ? { code: 'retry', waitedSeconds, failures, budget: state.config.retries }
      : { code: 'oldest', waitedSeconds, waiting: kind.waiting.size };
  // A waiting program gets an environment at once, so only an environment that was kept tells how long keeping pays.
  if (slot.since < ctx.at) kind.demand.reused(slot.since, ctx.at);
  kind.waiting.remove(program);
  program.slot = slot;
  slot.requestId = requestId;
  move(state, slot, 'busy', null, ctx);
  ctx.emit({ type: 'slot.assign', at: ctx.at, slotId, requestId, environment, reason });
}

/** Ends an environment, and with it its program, if there is one. */
export function reclaim(state: SlotsState, one: Slot, reason: Message<'slot.reclaim'>['reason'], ctx: Ctx): void {
  const { id: slotId, environment, requestId } = one;
  forgetTool(state, one);
  one.tool = null;
  one.requestId = null;
  move(state, one, one.status === 'starting' ? 'stopping' : 'ending', ctx.at + state.config.endGraceSeconds, ctx);
  const named = { type: 'slot.reclaim', at: ctx.at, slotId, environment } as const;
  if (requestId === null) ctx.emit({ ...named, reason });
  else {
    state.programs.delete(requestId);
    ctx.emit({ ...named, requestId, reason });
  }
}

export function checkSlot(state: SlotsState, { slotId }: { readonly slotId: string }): void {
  if (state.slots.has(slotId) || wasMinted(state, slotId, state.nextSlot, idKind)) return;
  refuse('unknown_id', 'slotId', 'the id of an environment that was started', slotId);
}

function late(slotId: string, ctx: Ctx): void {
  ctx.emit({ type: 'slot.late', at: ctx.at, slotId, reason: { code: 'already_ended' } });
}

/**
 * Handles an environment that has started, or was reset. A report about an environment that is being stopped has crossed the
 * `slot.reclaim`.
 */
export function ready(state: SlotsState, { slotId }: Message<'slot.ready'>, ctx: Ctx): void {
  const one = state.slots.get(slotId);
  if (one === undefined) return late(slotId, ctx);
  const { status, kind, since } = one;
  if (status !== 'starting' && status !== 'ending') return;
  if (status === 'starting') {
    const seconds = ctx.at - since;
    kind.demand.started(seconds);
    kind.longestStartSeconds = Math.max(kind.longestStartSeconds, seconds);
    started(state, kind, ctx);
  }
  one.isTrial = false;
  move(state, one, 'idle', ctx.at + kind.demand.keepSeconds(state.config.maxIdleSeconds), ctx);
}

/** Handles an environment that is lost through no fault of the code inside. */
export function failed(state: SlotsState, { slotId }: Message<'slot.failed'>, ctx: Ctx): void {
  const one = state.slots.get(slotId);
  if (one === undefined) return late(slotId, ctx);
  const { status } = one;
  remove(state, one, ctx);
  if (status !== 'ending' && status !== 'stopping') broke(state, one, ctx);
}

/** Handles an environment that has ended, as was asked or not. */
export function released(state: SlotsState, { slotId }: Message<'slot.released'>, ctx: Ctx): void {
  const one = state.slots.get(slotId);
  if (one === undefined) late(slotId, ctx);
  else remove(state, one, ctx);
}

/** Removes a lost environment; its program gets another one, within its budget. */
export function remove(state: SlotsState, one: Slot, ctx: Ctx): void {
  leave(one);
  setDue(state, one, null);
  state.slots.delete(one.id);
  state.touched.add(one.kind);
  if (one.requestId === null) return;
  forgetTool(state, one);
  lostSlot(state, one, ctx);
}
