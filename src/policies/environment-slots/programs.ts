/** Handles programs: they ask for environments, run tools, and end. */
import { beginRun, raiseAnchor } from '../../core/rollout/adaptive-timeout.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { proved } from './breaker.ts';
import { deny, forgetTool } from './endings.ts';
import { reclaim } from './environments.ts';
import type { Ctx } from './messages.ts';
import { ruleOf } from './schema.ts';
import { type Program, type SlotsState, setDue } from './state.ts';

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
