/** Handles requests and engines: requests open, ask for engines, finish chunks and end; engines join, leave and report their load. */

import { checkKnown } from '../../core/ids/minted-ids.ts';
import { removeEngine } from '../../core/rollout/engines.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { expect, learn, updateSiblings } from './lengths.ts';
import { giveUp, goOn, wait } from './placing.ts';
import {
  type Ctx,
  type DividedState,
  type Engine,
  enterLine,
  joinGroup,
  leaveGroup,
  leaveLine,
  makeEngine,
  type Request,
  setPlaces,
  vacate,
} from './state.ts';

export function checkNew(state: DividedState, { requestId }: Message<'request.opened'>): void {
  if (!state.requests.has(requestId) && !state.ended.has(requestId)) return;
  refuse('duplicate_id', 'requestId', 'a new request', requestId);
}

export function open(state: DividedState, event: Message<'request.opened'>, ctx: Ctx): void {
  const { requestId, promptId = null } = event;
  const seq = state.seq++;
  const group = (promptId === null ? undefined : state.groups.get(promptId)?.seq) ?? seq;
  const one: Request = {
    requestId,
    promptId,
    domain: null,
    seq,
    group,
    phase: 'opened',
    since: ctx.at,
    promptTokens: 0,
    tokens: 0,
    maxTokens: null,
    expectedTokens: 0,
    // Without siblings, a probe would tell nobody.
    probe: promptId !== null && !state.groups.has(promptId),
    chunkTokens: 0,
    chunks: 0,
    moves: 0,
    engineId: null,
    cause: null,
    line: 0,
    waitedSeconds: 0,
    heapIndex: -1,
    // Set below, because they point to the request.
    wait: null!,
    small: null!,
  };
  setPlaces(one);
  state.requests.set(requestId, one);
  joinGroup(state, one);
}

export function checkAsked(state: DividedState, { requests }: Message<'chunks.requested'>): void {
  requests.forEach(({ requestId, tokens = 0, maxTokens }, index) => {
    checkOpened(state, requestId, `requests[${index}].requestId`);
    if (maxTokens === undefined || tokens < maxTokens) return;
    refuse('invalid_event', `requests[${index}].tokens`, `fewer than its maxTokens, ${maxTokens}`, tokens);
  });
}

/** Takes requests that need engines; a chunk that runs is given up. */
export function asked(state: DividedState, { requests }: Message<'chunks.requested'>, ctx: Ctx): void {
  for (const { requestId, promptTokens, tokens = 0, maxTokens, domain } of requests) {
    const one = state.requests.get(requestId);
    if (one === undefined) {
      late(requestId, 'already_ended', ctx);
      continue;
    }
    const { phase } = one;
    if (phase === 'running') removeIfEmpty(state, vacate(state, one));
    else if (phase === 'waiting') leaveLine(state, one);
    one.promptTokens = promptTokens;
    one.tokens = tokens;
    one.maxTokens = maxTokens ?? null;
    one.domain = domain ?? null;
    expect(state, one);
    if (phase !== 'waiting') wait(state, one, ctx.at);
    else enterLine(state, one);
  }
}

export function checkRequest(state: DividedState, { requestId }: { readonly requestId: string }): void {
  checkOpened(state, requestId, 'requestId');
}

function checkOpened({ requests, ended }: DividedState, requestId: string, path: string): void {
  checkKnown(path, requestId, 'a request that was opened', requests, ended);
}

function late(requestId: string, code: Message<'chunk.late'>['reason']['code'], ctx: Ctx): void {
  ctx.emit({ type: 'chunk.late', at: ctx.at, requestId, reason: { code } });
}

export function checkFinished(state: DividedState, { requestId, tokens }: Message<'chunk.finished'>): void {
  checkOpened(state, requestId, 'requestId');
  const maxTokens = state.requests.get(requestId)?.maxTokens ?? null;
  if (maxTokens === null || tokens < maxTokens) return;
  const expected = `fewer than its maxTokens, ${maxTokens}: at them it is over, and response.completed says so`;
  refuse('invalid_event', 'tokens', expected, tokens);
}

export function chunkFinished(state: DividedState, event: Message<'chunk.finished'>, ctx: Ctx): void {
  const { requestId, tokens } = event;
  const one = state.requests.get(requestId);
  if (one === undefined) return late(requestId, 'already_ended', ctx);
  const isMore = tokens > one.tokens;
  if (one.phase === 'running') {
    const engine = vacate(state, one);
    one.tokens = Math.max(one.tokens, tokens);
    expect(state, one);
    goOn(state, one, engine, ctx);
    removeIfEmpty(state, engine);
  } else if (one.phase === 'waiting' && one.chunks > 0 && isMore) {
    // The engine has finished the chunk, although it counts as lost.
    leaveLine(state, one);
    one.tokens = tokens;
    expect(state, one);
    enterLine(state, one);
  } else late(requestId, 'out_of_turn', ctx);
}

type End = Message<'response.completed'> | Message<'response.failed'> | Message<'request.aborted'>;
const codes = {
  'response.completed': 'completed',
  'response.failed': 'failed',
  'request.aborted': 'aborted',
} as const;

/** Ends a request in any phase. */
export function end(state: DividedState, event: End, ctx: Ctx): void {
  const { requestId, type } = event;
  const one = state.requests.get(requestId);
  if (one === undefined) return late(requestId, 'already_ended', ctx);
  const tokens = Math.max(one.tokens, ('tokens' in event ? event.tokens : undefined) ?? 0);
  const { phase, chunks, moves } = one;
  let { waitedSeconds } = one;
  if (phase === 'running') removeIfEmpty(state, vacate(state, one));
  else if (phase === 'waiting') {
    leaveLine(state, one);
    waitedSeconds += ctx.at - one.since;
  }
  state.requests.delete(requestId);
  leaveGroup(state, one);
  state.ended.add(requestId);
  const code = codes[type];
  if (code !== 'failed') {
    learn(state, one, tokens, code === 'aborted');
    updateSiblings(state, one);
  }
  const reason = { code, chunks, moves, waitedSeconds } as const;
  ctx.emit({ type: 'request.ended', at: ctx.at, requestId, tokens, reason });
}

/** All running chunks are lost: their responses continue from the last finished chunks. Names requests that have not asked. */
export function restart(state: DividedState, _: Message<'host.restarted'>, ctx: Ctx): void {
  for (const one of state.requests.values()) {
    const { requestId, phase } = one;
    if (phase === 'running') giveUp(state, one, 'host_restarted', ctx.at);
    else if (phase === 'waiting') one.cause = 'host_restarted';
    else ctx.emit({ type: 'chunk.awaited', at: ctx.at, requestId, reason: { code: 'host_restarted' } });
  }
  for (const engine of [...state.engines.values()]) removeIfEmpty(state, engine);
}

export function addEngine(state: DividedState, { engineId }: { readonly engineId: string }): void {
  const known = state.engines.get(engineId);
  if (known !== undefined) {
    known.active = true;
    return;
  }
  const capacityTokens = state.config.kvCapacityTokens;
  state.engines.set(engineId, makeEngine({ engineId, active: true, capacityTokens }));
}

/** Drains an engine: its responses continue elsewhere after their chunks. */
export function drainEngine(state: DividedState, { engineId }: { readonly engineId: string }): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  engine.active = false;
  if (state.nextOn === engineId) state.nextOn = null;
  removeIfEmpty(state, engine);
}

/** Forgets an engine that takes no chunks and runs none. */
export function removeIfEmpty(state: DividedState, engine: Engine): void {
  if (!engine.active && engine.running.size === 0) removeEngine(state, engine.engineId);
}

/** The chunks of a lost engine are lost: their responses continue elsewhere from the last finished chunks. */
export function loseEngine(state: DividedState, { engineId }: Message<'engine.lost'>, ctx: Ctx): void {
  const engine = state.engines.get(engineId);
  if (engine === undefined) return;
  const lost = [...engine.running].sort((a, b) => a.seq - b.seq);
  for (const one of lost) giveUp(state, one, 'engine_lost', ctx.at);
  removeEngine(state, engineId);
  if (state.nextOn === engineId) state.nextOn = null;
}

/** Takes the size of a KV cache. A report of an unknown engine changes nothing. */
export function engineReported(state: DividedState, event: Message<'engine.reported'>): void {
  const engine = state.engines.get(event.engineId);
  if (engine !== undefined) engine.capacityTokens = event.kvCapacityTokens;
}
