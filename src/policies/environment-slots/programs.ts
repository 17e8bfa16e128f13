/**
 * Programs ask for environments, run tools, and end. After every event, what is overdue ends, programs get environments, and others
 * are started or ended.
 */
import { beginRun, raiseAnchor } from '../../core/rollout/adaptive-timeout.ts';
import { Deadlines, onlyTimer } from '../../core/rollout/deadlines.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { assign, broke, deny, forgetTool, proved, reclaim, remove, start } from './environments.ts';
import { ruleOf } from './schema.ts';
import {
  type Alarm,
  alarmTrial,
  type Ctx,
  type Kind,
  needsTrial,
  type Program,
  type Slot,
  type SlotsState,
  setDue,
} from './state.ts';

export function checkNew({ programs }: SlotsState, { requestId }: Message<'slot.requested'>): void {
  if (programs.has(requestId)) refuse('duplicate_id', 'requestId', 'a program that has not asked yet', requestId);
}

/** Queues a program for an environment. */
export function request(state: SlotsState, event: Message<'slot.requested'>, ctx: Ctx): void {
  const { requestId, environment } = event;
  const kind = state.kinds.get(environment);
  const isClosed = state.ended.has(requestId);
  if (isClosed || kind === undefined || kind.slots === 0) {
    const reason = { code: isClosed ? 'closed' : 'no_slots' } as const;
    ctx.emit({ type: 'slot.denied', at: ctx.at, requestId, environment, reason });
    return;
  }
  const seq = state.seq++;
  const one: Program = { requestId, environment, seq, since: ctx.at, failures: 0, slot: null, heapIndex: -1 };
  state.programs.set(requestId, one);
  kind.waiting.update(one);
  kind.demand.requested(ctx.at);
  state.touched.add(kind);
}

/** Ends a program. A program without an environment no longer needs one. */
export function closed(state: SlotsState, { requestId }: Message<'program.closed'>, ctx: Ctx): void {
  state.ended.add(requestId);
  const one = state.programs.get(requestId);
  if (one === undefined) return;
  if (one.slot === null) deny(state, one, { code: 'closed' }, ctx);
  else {
    proved(one.slot);
    reclaim(state, one.slot, { code: 'closed' }, ctx);
  }
}

export function checkTool({ programs }: SlotsState, { requestId }: Message<'tool.started'>): void {
  const name = programs.get(requestId)?.slot?.tool?.name;
  if (name !== undefined)
    refuse('out_of_order', 'requestId', 'a program without a tool that runs', `${requestId} (${name})`);
}

/** Limits the time of a tool. Tools of programs without an environment are not ours. */
export function toolStarted(state: SlotsState, event: Message<'tool.started'>, ctx: Ctx): void {
  const slot = state.programs.get(event.requestId)?.slot;
  if (slot === null || slot === undefined) return;
  const { tool: name, expectedSeconds = 0 } = event;
  const rule = ruleOf(state.config);
  const { seconds, code } = beginRun(state.tools, name, rule);
  const limitSeconds = Math.max(seconds, Math.min(rule.maxSeconds, rule.factor * expectedSeconds));
  slot.tool = { name, startedAt: ctx.at, limitSeconds, explores: code === 'exploration' };
  setDue(state, slot, ctx.at + limitSeconds);
}

/** Learns how long a tool takes. A tool that the host has stopped shows only that the environment works. */
export function toolFinished(state: SlotsState, event: Message<'tool.finished'>, ctx: Ctx): void {
  const slot = state.programs.get(event.requestId)?.slot;
  const tool = slot?.tool;
  if (slot === null || slot === undefined || tool === null || tool === undefined) return;
  if (event.outcome === 'timeout') forgetTool(state, slot);
  else raiseAnchor(state.tools, tool.name, ctx.at - tool.startedAt);
  slot.tool = null;
  proved(slot);
  setDue(state, slot, null);
}

/** What is due: the end of a start, of a tool, of an idle or ending environment, or the next trial. */
export const deadlines = new Deadlines<SlotsState>({
  ...onlyTimer,
  timerId: 'environment-slots/due',
  first: ({ alarms }) => alarms.peek()?.due,
  reason: ({ alarms }) => ({ code: 'environment_due', due: dueOf(alarms.peek()!) }),
});

/** Runs at the end of every event. */
export function settle(state: SlotsState, ctx: Ctx): void {
  while (deadlines.isOver(state, ctx.at)) {
    const next = state.alarms.peek()!;
    if ('slot' in next.of) expire(state, next.of.slot, ctx);
    else {
      state.alarms.remove(next);
      state.touched.add(next.of.kind);
    }
  }
  for (const kind of state.touched) fill(state, kind, ctx);
  state.touched.clear();
  deadlines.arm(state, ctx);
}

function expire(state: SlotsState, one: Slot, ctx: Ctx): void {
  const { kind, tool, since, startLimitSeconds } = one;
  switch (one.status) {
    case 'starting': {
      const limits = { waitedSeconds: ctx.at - since, limitSeconds: startLimitSeconds };
      reclaim(state, one, { code: 'start_timeout', ...limits }, ctx);
      broke(state, one, ctx);
      return;
    }
    case 'busy': {
      const { name, startedAt, limitSeconds } = tool!;
      const reason = { code: 'tool_timeout', tool: name, waitedSeconds: ctx.at - startedAt, limitSeconds } as const;
      reclaim(state, one, reason, ctx);
      return;
    }
    case 'idle':
      endIdle(state, kind, one, ctx);
      return;
    default: {
      remove(state, one, ctx);
      const reason = { code: 'end_unconfirmed', graceSeconds: state.config.endGraceSeconds } as const;
      ctx.emit({ type: 'slot.expired', at: ctx.at, slotId: one.id, environment: one.environment, reason });
    }
  }
}

/** Ends an environment that has been idle for longer than usually pays, unless programs are expected to need it. */
function endIdle(state: SlotsState, { demand, idle }: Kind, one: Slot, ctx: Ctx): void {
  const paysUntil = one.since + demand.keepSeconds(state.config.maxIdleSeconds);
  if (paysUntil > ctx.at) setDue(state, one, paysUntil);
  else if (idle.size <= demand.expected(ctx.at)) setDue(state, one, ctx.at + demand.startSeconds);
  else {
    demand.endedIdle(one.since);
    reclaim(state, one, { code: 'idle', idle: idle.size, idleSeconds: ctx.at - one.since }, ctx);
  }
}

function fill(state: SlotsState, kind: Kind, ctx: Ctx): void {
  const { idle, starting, waiting, slots } = kind;
  if (slots === 0) {
    for (let next = waiting.peek(); next !== undefined; next = waiting.peek()) {
      deny(state, next, { code: 'no_slots' }, ctx);
    }
  }
  while (kind.total - kind.leaving > slots) {
    const surplus = starting.peek() ?? idle.peek();
    if (surplus === undefined) break;
    reclaim(state, surplus, { code: 'fewer', slots }, ctx);
  }
  for (let next = waiting.peek(); next !== undefined; next = waiting.peek()) {
    const free = idle.peek();
    if (free === undefined) break;
    assign(state, free, next, ctx);
  }
  if (kind.suspendedAt === null) startAsNeeded(state, kind, ctx);
  else if (needsTrial(kind) && kind.retryAt <= ctx.at) {
    start(state, kind, { code: 'trial', failures: kind.failures }, ctx);
  }
  alarmTrial(state, kind);
  // A suspension outlives the slots, because with new slots environments would fail as before.
  if (slots === 0 && kind.total === 0 && kind.suspendedAt === null) state.kinds.delete(kind.environment);
}

/** Starts environments for waiting programs, and one more if further programs are expected before it has started. */
function startAsNeeded(state: SlotsState, kind: Kind, ctx: Ctx): void {
  const { idle, starting, waiting, demand, slots } = kind;
  while (kind.total < slots && starting.size < waiting.size) {
    demand.missed(ctx.at, state.config.maxIdleSeconds);
    start(state, kind, { code: 'requested', waiting: waiting.size }, ctx);
  }
  const expected = demand.expected(ctx.at);
  const ahead = idle.size + starting.size;
  if (kind.total >= slots || ahead >= waiting.size + expected) return;
  start(state, kind, { code: 'predicted', expected, idle: ahead }, ctx);
}

const dueOf = ({ of }: Alarm): 'start' | 'tool' | 'end' | 'idle' | 'trial' => {
  if ('kind' in of) return 'trial';
  const { status } = of.slot;
  if (status === 'starting') return 'start';
  if (status === 'busy') return 'tool';
  return status === 'idle' ? 'idle' : 'end';
};
