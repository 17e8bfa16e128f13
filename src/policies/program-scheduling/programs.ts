/** Handles programs that begin and end, and restarts of the host. */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { endReading } from './cost.ts';
import { askAgain, removeIfEmpty } from './engines.ts';
import { type Ctx, late } from './messages.ts';
import { pack } from './packing.ts';
import { countOut, joinGroup, keysOf, leaveGroup, leaveLine, type Program, type ProgramState } from './state.ts';

export function checkNew(state: ProgramState, { requestId }: Message<'program.opened'>): void {
  if (!state.programs.has(requestId) && !state.ended.has(requestId)) return;
  refuse('duplicate_id', 'requestId', 'a new program', requestId);
}

export function open(state: ProgramState, event: Message<'program.opened'>, ctx: Ctx): void {
  const { requestId, promptId = null, promptTokens = 0 } = event;
  const seq = state.seq++;
  const one: Program = {
    requestId,
    promptId,
    // Without a prompt nothing says who shares these tokens.
    promptTokens: promptId === null ? 0 : promptTokens,
    seq,
    group: (promptId === null ? undefined : state.groups.get(promptId)?.seq) ?? seq,
    phase: 'idle',
    since: ctx.at,
    contextTokens: 0,
    askedTokens: 0,
    tokens: 0,
    turns: 0,
    routes: 0,
    moves: 0,
    engineId: null,
    counted: false,
    leaving: false,
    paused: false,
    forced: false,
    cause: null,
    line: 0,
    waitsSince: null,
    pausedAt: 0,
    pausedSeconds: 0,
    tool: null,
    keptUntil: 0,
    belief: { cachedTokens: 0, used: -1, readTokens: 0, givenTokens: 0, stepSeconds: 0 },
    heapIndex: -1,
    due: undefined as never,
    ...keysOf({ requestId, promptId }),
  };
  one.due = { heapIndex: -1, at: 0, program: one };
  state.programs.set(requestId, one);
  joinGroup(state, one);
}

export function close(state: ProgramState, { requestId }: Message<'program.closed'>, ctx: Ctx): void {
  const one = state.programs.get(requestId);
  if (one === undefined) return late(requestId, 'already_ended', ctx);
  const { turns, moves, tokens } = one;
  const pausedSeconds = one.pausedSeconds + (one.paused ? ctx.at - one.pausedAt : 0);
  if (one.counted) {
    const wasRunning = one.phase === 'running';
    const engine = countOut(state, one);
    if (wasRunning) endReading(state, one, engine, ctx.at);
    removeIfEmpty(state, engine);
  } else if (one.waitsSince !== null) leaveLine(state, one);
  state.programs.delete(requestId);
  leaveGroup(state, one);
  state.ended.add(requestId);
  const reason = { code: 'closed', turns, moves, pausedSeconds } as const;
  pack(state);
  ctx.emit({ type: 'program.ended', at: ctx.at, requestId, tokens, reason });
}

/** Routes again all turns that ran, and names the programs whose next report is awaited. */
export function restart(state: ProgramState, _: Message<'host.restarted'>, ctx: Ctx): void {
  state.timerAt = null;
  for (const one of state.programs.values()) {
    const { requestId, phase, turns, contextTokens, tool } = one;
    if (phase === 'running') askAgain(state, one, 'host_restarted', ctx.at);
    else if (phase === 'asked') one.cause = 'host_restarted';
    else {
      const reason = {
        code: 'host_restarted',
        turns,
        contextTokens,
        ...(tool === null ? undefined : { tool }),
      } as const;
      ctx.emit({ type: 'program.awaited', at: ctx.at, requestId, reason });
    }
  }
  for (const engine of [...state.engines.values()]) removeIfEmpty(state, engine);
}
