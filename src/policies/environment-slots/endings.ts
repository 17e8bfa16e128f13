/** Programs that get no environment, or lose theirs. */
import { exploreNext } from '../../core/rollout/adaptive-timeout.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './messages.ts';
import { ruleOf } from './schema.ts';
import type { Program, Slot, SlotsState } from './state.ts';

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
