/**
 * The life of environments: they start, get a program, and end. A kind that fails again and again is started only on trial, at
 * growing intervals.
 */
import { mintedAs } from '../../core/ids/minted-ids.ts';
import { exploreNext } from '../../core/rollout/adaptive-timeout.ts';
import type { Message } from '../../schemas/messages.ts';
import { ruleOf } from './schema.ts';
import {
  alarmOf,
  type Ctx,
  enter,
  type Kind,
  leave,
  makeSlot,
  type Program,
  type Slot,
  type SlotsState,
  setDue,
} from './state.ts';

/** Ids of environments. */
export const slotIds = mintedAs('slot/', 'nextSlot');

/** Starts an environment. */
export function start(state: SlotsState, kind: Kind, reason: Message<'slot.prewarm'>['reason'], ctx: Ctx): void {
  const { environment } = kind;
  const id = slotIds.mint(state);
  const isTrial = reason.code === 'trial';
  const startLimitSeconds = startLimit(state, kind, isTrial);
  const order = state.seq++;
  const one = makeSlot({
    id,
    environment,
    order,
    kind,
    status: 'starting',
    since: ctx.at,
    health: 'new',
    isTrial,
    startLimitSeconds,
  });
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
  slotIds.check(state, 'slotId', slotId, 'the id of an environment that was started', state.slots);
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

/** Tells a waiting program that it gets no environment. */
export function deny(state: SlotsState, one: Program, reason: Message<'slot.denied'>['reason'], ctx: Ctx): void {
  const { requestId, environment } = one;
  const kind = state.kinds.get(environment)!;
  kind.waiting.remove(one);
  state.programs.delete(requestId);
  state.touched.add(kind);
  ctx.emit({ type: 'slot.denied', at: ctx.at, requestId, environment, reason });
}

/** Handles the loss of a program's environment, through no fault of the program. */
export function lostSlot(state: SlotsState, { requestId, health, kind }: Slot, ctx: Ctx): void {
  const one = state.programs.get(requestId!)!;
  one.slot = null;
  one.since = ctx.at;
  // A loss by a restart of the host is no fault of the environment.
  if (health !== 'restarted') one.failures += 1;
  const { failures } = one;
  const { retries: budget } = state.config;
  kind.waiting.update(one);
  if (failures > budget) deny(state, one, { code: 'failed', failures, budget }, ctx);
}

/** Notes that nothing is learnt from the tool of an environment; if the tool's run explored, the next run explores. */
export function forgetTool(state: SlotsState, { tool }: Slot): void {
  if (tool?.explores) exploreNext(state.tools, tool.name, ruleOf(state.config));
}

/** After so many doublings, the time between two trials stops growing. */
const mostDoublings = 20;

/** Counts the failure of an environment, unless the environment has worked before. */
export function broke(state: SlotsState, { kind, health, isTrial }: Slot, ctx: Ctx): void {
  if (health !== 'new') return;
  kind.failures += 1;
  if (kind.suspendedAt === null ? kind.failures >= state.config.suspendAfter : isTrial) {
    suspend(state, kind, isTrial, ctx);
  }
}

/** Programs that have waited for a trial in vain are told so: none waits for ever for environments that cannot start. */
function suspend(state: SlotsState, kind: Kind, isAgain: boolean, ctx: Ctx): void {
  const { environment, failures } = kind;
  const doubled = state.config.retrySeconds * (1 << Math.min(kind.suspensions, mostDoublings));
  const retrySeconds = Math.min(state.config.maxRetrySeconds, doubled);
  kind.suspensions += 1;
  kind.suspendedAt ??= ctx.at;
  kind.retryAt = ctx.at + retrySeconds;
  const reason = { code: 'failing', failures, retrySeconds } as const;
  ctx.emit({ type: 'slots.suspended', at: ctx.at, environment, reason });
  if (!isAgain) return;
  for (let next = kind.waiting.peek(); next !== undefined; next = kind.waiting.peek()) {
    deny(state, next, { ...reason }, ctx);
  }
}

/** Notes that an environment has started. Whether it works is unknown: after one more failure the kind is suspended again. */
export function started(state: SlotsState, kind: Kind, ctx: Ctx): void {
  if (kind.suspendedAt === null) return;
  kind.failures = state.config.suspendAfter - 1;
  recover(kind, 'started', ctx);
}

/** Starts environments of a kind again. */
export function recover(kind: Kind, code: 'started' | 'host_restarted', ctx: Ctx): void {
  if (kind.suspendedAt === null) return;
  const reason = { code, suspendedSeconds: ctx.at - kind.suspendedAt };
  kind.suspendedAt = null;
  ctx.emit({ type: 'slots.recovered', at: ctx.at, environment: kind.environment, reason });
}

/**
 * Notes that an environment works: a tool has answered in it, or its program has ended. An environment that has worked for long
 * says nothing about those that are started now, so only its first success counts, and only while the kind is not suspended.
 */
export function proved(one: Slot): void {
  const { health, kind } = one;
  one.health = 'proven';
  if (health !== 'new' || kind.suspendedAt !== null) return;
  kind.failures = 0;
  kind.suspensions = 0;
}
