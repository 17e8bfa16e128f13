/** Handles tools: their durations determine how long a cache is worth its room. */
import { WaitingTimes } from '../../core/why/waiting-times.ts';
import type { Message } from '../../schemas/messages.ts';
import { worthSeconds } from './cost.ts';
import { type Ctx, late } from './messages.ts';
import { change, countOut, type Program, type ProgramState } from './state.ts';

/** With fewer answers of a tool, the host's expectation counts. */
const fewAnswers = 8;

export function toolStarted(state: ProgramState, event: Message<'tool.started'>, ctx: Ctx): void {
  const { requestId, tool, expectedSeconds } = event;
  const one = state.programs.get(requestId);
  if (one === undefined) return late(requestId, 'already_ended', ctx);
  if (one.phase === 'running' || one.phase === 'asked') return late(requestId, 'out_of_turn', ctx);
  const engine = one.counted ? state.engines.get(one.engineId!)! : undefined;
  const retention = engine && keeping(state.tools.get(tool), expectedSeconds, worthSeconds(state, engine));
  change(state, one, () => {
    one.phase = 'tool';
    one.since = ctx.at;
    one.tool = tool;
    if (retention !== undefined) one.keptUntil = ctx.at + retention.seconds;
  });
  if (retention === undefined) return;
  if (retention.seconds === 0) countOut(state, one);
  const { seconds, ...numbers } = retention;
  const reason = { code: 'tool_time', ...numbers } as const;
  ctx.emit({ type: 'kv.retain', at: ctx.at, requestId, engineId: engine!.engineId, seconds, reason });
}

/**
 * How long a cache is kept while a tool runs: the time at which the expected costs of room and of reading again are least
 * together, over the answers seen. `worth` is the time for which room costs as much as reading again.
 */
export function keeping(
  times: WaitingTimes | undefined,
  given: number | undefined,
  worth: number,
): { seconds: number; answers: number; expectedSeconds?: number } {
  const answers = Math.round(times?.weight ?? 0);
  if (times === undefined || answers < fewAnswers) {
    const seconds = given !== undefined && given > worth ? 0 : worth;
    return { seconds, answers, ...(given === undefined ? undefined : { expectedSeconds: given }) };
  }
  let [best, seconds, held, before, sum] = [worth, 0, 0, 0, 0];
  let left = times.weight;
  for (const [bound, weight] of times.bins()) {
    held += (left / times.weight) * (bound - before);
    before = bound;
    left = Math.max(0, left - weight);
    sum += weight * bound;
    const cost = held + (left / times.weight) * worth;
    if (cost < best) [best, seconds] = [cost, bound];
  }
  return { seconds, answers, expectedSeconds: sum / times.weight };
}

export function toolFinished(state: ProgramState, { requestId }: Message<'tool.finished'>, ctx: Ctx): void {
  const one = state.programs.get(requestId);
  if (one === undefined) return late(requestId, 'already_ended', ctx);
  if (one.phase !== 'tool') return late(requestId, 'out_of_turn', ctx);
  learnAnswer(state, one, ctx.at);
  change(state, one, () => {
    one.phase = 'answered';
    one.since = ctx.at;
    one.tool = null;
    if (one.counted) one.keptUntil = ctx.at + worthSeconds(state, state.engines.get(one.engineId!)!);
  });
}

/** Remembers how long the tool of a program has taken. */
export function learnAnswer(state: ProgramState, { tool, since }: Program, at: number): void {
  if (tool === null) return;
  const times = state.tools.get(tool);
  if (times !== undefined) return times.add(at - since);
  const first = new WaitingTimes();
  first.add(at - since);
  state.tools.set(tool, first);
}
