/** Handles programs, which open, request turns, run tools and close; and engines, which join, leave and report their load. */
import { checkKnown } from '../../core/ids/minted-ids.ts';
import { removeEngine } from '../../core/rollout/engines.ts';
import { WaitingTimes } from '../../core/why/waiting-times.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { deadlines, endTurn, enforce, pause, route, turnFailed, turnSucceeded, wait } from './admission.ts';
import {
  bestEngine,
  budgetOf,
  change,
  countOut,
  endReading,
  heldTokens,
  leaveEngine,
  leaveLine,
  pack,
  trim,
  worthSeconds,
} from './cost.ts';
import {
  averaged,
  type Ctx,
  type Engine,
  isOpen,
  joinGroup,
  keysOf,
  learnTurn,
  leaveGroup,
  makeEngine,
  type Program,
  type ProgramState,
} from './state.ts';

export function checkNew(state: ProgramState, { requestId }: Message<'program.opened'>): void {
  if (!state.programs.has(requestId) && !state.ended.has(requestId)) return;
  refuse('duplicate_id', 'requestId', 'a new program', requestId);
}

export function open(state: ProgramState, event: Message<'program.opened'>, ctx: Ctx): void {
  const { requestId, promptId = null, promptTokens = 0 } = event;
  const seq = state.seq++;
  const siblings = promptId === null ? undefined : state.groups.get(promptId);
  const one: Program = {
    requestId,
    promptId,
    // Without a prompt id, nothing says who shares these tokens. Tokens that count once must be equal for all programs that share
    // them.
    promptTokens: promptId === null ? 0 : (siblings?.promptTokens ?? promptTokens),
    seq,
    group: siblings?.seq ?? seq,
    phase: 'idle',
    since: ctx.at,
    contextTokens: 0,
    askedTokens: 0,
    tokens: 0,
    turns: 0,
    routes: 0,
    moves: 0,
    launched: 0,
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
    // Set below, because it points to the program.
    due: null!,
    ...keysOf({ requestId, promptId }),
  };
  one.due = { heapIndex: -1, at: 0, program: one };
  state.programs.set(requestId, one);
  joinGroup(state, one);
}

export function checkProgram(state: ProgramState, { requestId }: { readonly requestId: string }): void {
  checkKnown('requestId', requestId, 'a program that was opened', state.programs, state.ended);
}

function late(requestId: string, code: Message<'program.late'>['reason']['code'], ctx: Ctx): void {
  ctx.emit({ type: 'program.late', at: ctx.at, requestId, reason: { code } });
}

export function turnRequested(state: ProgramState, event: Message<'turn.requested'>, ctx: Ctx): void {
  const { requestId, contextTokens } = event;
  const one = state.programs.get(requestId);
  if (one === undefined) return late(requestId, 'already_ended', ctx);
  // A tool has answered if the next turn is requested, even if nobody reported the answer.
  if (one.phase === 'tool') learnAnswer(state, one, ctx.at);
  // A running turn is given up, and runs again.
  if (one.phase === 'running') endTurn(state, one, one.contextTokens, ctx.at);
  if (one.turns > 0) learnGrowth(state, one, contextTokens);
  if (one.counted && !isOpen(state, state.engines.get(one.engineId!)!)) countOutOf(state, one);
  if (one.counted) {
    change(state, one, () => {
      one.contextTokens = contextTokens;
      one.askedTokens = contextTokens;
    });
    const home = state.engines.get(one.engineId!)!;
    route(state, one, bestEngine(state, one, ctx.at, false)!, 0, ctx);
    return enforce(state, home, ctx);
  }
  change(state, one, () => {
    one.phase = 'asked';
    one.since = ctx.at;
    one.contextTokens = contextTokens;
    one.askedTokens = contextTokens;
  });
  if (one.waitsSince === null) wait(state, one, ctx.at);
}

export function turnFinished(state: ProgramState, event: Message<'turn.finished'>, ctx: Ctx): void {
  const { requestId, tokens, cachedTokens } = event;
  const one = state.programs.get(requestId);
  if (one === undefined) return late(requestId, 'already_ended', ctx);
  const generated = Math.max(0, tokens - one.tokens);
  if (one.phase === 'running') {
    const engine = state.engines.get(one.engineId!)!;
    const { leaving } = one;
    const { belief, since } = one;
    // If tokens are gone, all entries used before them are gone, too, because engines evict in this order; a new engine has none.
    if (cachedTokens !== undefined && 2 * cachedTokens < belief.cachedTokens) engine.cache.forgetUntil(belief.used);
    const { pace } = state;
    // Tokens that were cached before any program of the prompt ran must be common to other prompts.
    if (one.turns === 0 && cachedTokens !== undefined && belief.cachedTokens === 0)
      pace.commonTokens = averaged(pace.commonTokens, cachedTokens);
    pace.turnTokens = averaged(pace.turnTokens, generated);
    learnTurn(pace, belief.readTokens, generated * belief.stepSeconds, ctx.at - since);
    turnSucceeded(state, one, ctx);
    finish(one, tokens);
    endTurn(state, one, one.contextTokens + generated, ctx.at);
    if (!isOpen(state, engine)) countOutOf(state, one);
    else if (leaving && heldTokens(state, engine) > budgetOf(state, engine) && engine.members.size > 1)
      pause(state, one, ctx);
    else enforce(state, engine, ctx);
  } else if (one.phase === 'asked' && generated > 0) {
    // The engine has finished the turn, although it counts as lost.
    leaveLine(state, one);
    finish(one, tokens);
    one.phase = 'idle';
    one.since = ctx.at;
    one.contextTokens += generated;
    one.cause = null;
    if (one.paused) wait(state, one, one.waitsSince!);
    else one.waitsSince = null;
  } else late(requestId, 'out_of_turn', ctx);
}

/** Refuses the end of a response unless the program runs a turn: without a turn, the end says nothing about an engine. */
export function checkRunning(state: ProgramState, { requestId }: { readonly requestId: string }): void {
  if (state.programs.get(requestId)?.phase === 'running') return;
  refuse('out_of_order', 'requestId', 'a program whose turn runs', requestId);
}

/** Ends the last turn of a program; `program.closed` reports the end of the program. */
export function responseCompleted(state: ProgramState, { requestId }: { requestId: string }, ctx: Ctx): void {
  const one = state.programs.get(requestId)!;
  turnSucceeded(state, one, ctx);
  endLast(state, one, ctx.at);
}

/** Ends the turn of a program that has failed. */
export function responseFailed(state: ProgramState, event: Message<'response.failed'>, ctx: Ctx): void {
  const one = state.programs.get(event.requestId)!;
  if (event.kind === 'infrastructure') turnFailed(state, one, ctx);
  endLast(state, one, ctx.at);
}

function endLast(state: ProgramState, one: Program, at: number): void {
  const engine = state.engines.get(one.engineId!)!;
  endTurn(state, one, one.contextTokens, at);
  if (!isOpen(state, engine)) countOutOf(state, one);
}

function finish(one: Program, tokens: number): void {
  one.tokens = Math.max(one.tokens, tokens);
  one.turns += 1;
}

/**
 * Learns by how much contexts grow from turn to turn: by the tokens that a turn has generated, which count already, and by the
 * tokens that a tool adds.
 */
function learnGrowth({ pace }: ProgramState, one: Program, contextTokens: number): void {
  const grown = contextTokens - one.askedTokens;
  if (grown > 0) pace.growthTokens = averaged(pace.growthTokens, grown);
}

/** Takes a program out of a budget; an engine that takes no turns and runs none is forgotten. */
function countOutOf(state: ProgramState, one: Program): void {
  removeIfEmpty(state, countOut(state, one));
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

/** Routes all running turns again, and names the programs whose next report is awaited. */
export function restart(state: ProgramState, _: Message<'host.restarted'>, ctx: Ctx): void {
  deadlines.forget(state);
  state.faults.restart(ctx.at);
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

export function addEngine(state: ProgramState, { engineId }: { readonly engineId: string }): void {
  const known = state.engines.get(engineId);
  if (known !== undefined) {
    if (known.status === 'drained') known.status = 'open';
    return;
  }
  const capacityTokens = state.config.kvCapacityTokens;
  state.engines.set(engineId, makeEngine({ engineId, status: 'open', capacityTokens }));
}

/** Drains an engine: its programs continue elsewhere, those with running turns after these turns. */
export function drainEngine(state: ProgramState, { engineId }: { readonly engineId: string }): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  engine.status = 'drained';
  leaveEngine(state, engine);
  removeIfEmpty(state, engine);
}

/** Forgets an engine that takes no turns and runs none. */
export function removeIfEmpty(state: ProgramState, engine: Engine): void {
  if (engine.status === 'drained' && engine.members.size === 0) removeEngine(state, engine.engineId);
}

/** Routes the turns of a lost engine again. */
export function loseEngine(state: ProgramState, { engineId }: Message<'engine.lost'>, ctx: Ctx): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  const members = [...engine.members].sort((a, b) => a.seq - b.seq);
  for (const one of members) {
    if (one.phase === 'running') askAgain(state, one, 'engine_lost', ctx.at);
    else countOut(state, one);
  }
  removeEngine(state, engineId);
}

/** Gives up the turn of a program, so that the turn is routed again. */
export function askAgain(state: ProgramState, one: Program, cause: NonNullable<Program['cause']>, at: number): void {
  countOut(state, one);
  one.phase = 'asked';
  one.since = at;
  one.cause = cause;
  wait(state, one, at);
}

/**
 * Takes what an engine says about itself. A lower number of preemptions means that the engine has restarted with an empty cache.
 * A report of an unknown engine changes nothing.
 */
export function engineReported(state: ProgramState, event: Message<'engine.reported'>, ctx: Ctx): void {
  const engine = state.engines.get(event.engineId);
  if (engine === undefined) return;
  const { kvCapacityTokens, cachedTokens, preemptions, waiting } = event;
  engine.capacityTokens = kvCapacityTokens;
  if (preemptions < engine.preemptions) engine.cache.shrink(0);
  engine.preemptions = preemptions;
  // No turn waits for its first token, so everything has been read.
  if (waiting === 0) engine.unreadTokens = 0;
  if (cachedTokens !== undefined) engine.cache.shrink(cachedTokens + promptsOf(engine));
  trim(engine);
  if (engine.status === 'open') enforce(state, engine, ctx);
}

/** Prompt tokens of the engine's members, which an engine does not report as cached while a member runs a turn. */
function promptsOf({ prompts }: Engine): number {
  let sum = 0;
  for (const { tokens } of prompts.values()) sum += tokens;
  return sum;
}
