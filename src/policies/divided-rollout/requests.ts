/** Handles requests: they open, ask for engines, finish chunks, and end; and restarts of the host. */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { removeIfEmpty } from './engines.ts';
import { expect, learn, updateSiblings } from './lengths.ts';
import { type Ctx, late } from './messages.ts';
import { giveUp, goOn, wait } from './placing.ts';
import { type DividedState, enterLine, joinGroup, leaveGroup, leaveLine, type Request, vacate } from './state.ts';

export function checkNew(state: DividedState, { requestId }: Message<'request.opened'>): void {
  if (!state.requests.has(requestId) && !state.ended.has(requestId)) return;
  refuse('duplicate_id', 'requestId', 'a new request', requestId);
}

export function open(state: DividedState, event: Message<'request.opened'>, ctx: Ctx): void {
  const { requestId, promptId = null } = event;
  const seq = state.seq++;
  const one: Request = {
    requestId,
    promptId,
    domain: null,
    seq,
    group: (promptId === null ? undefined : state.groups.get(promptId)?.seq) ?? seq,
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
    wait: undefined as never,
    small: undefined as never,
  };
  one.wait = { heapIndex: -1, request: one };
  one.small = { heapIndex: -1, request: one };
  state.requests.set(requestId, one);
  joinGroup(state, one);
}

export function checkAsked(state: DividedState, { requests }: Message<'chunks.requested'>): void {
  requests.forEach(({ requestId, tokens = 0, maxTokens }, index) => {
    checkKnown(state, requestId, `requests[${index}].requestId`);
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
  checkKnown(state, requestId, 'requestId');
}

function checkKnown(state: DividedState, requestId: string, path: string): void {
  if (state.requests.has(requestId) || state.ended.has(requestId)) return;
  refuse('unknown_id', path, 'a request that was opened', requestId);
}

export function checkFinished(state: DividedState, { requestId, tokens }: Message<'chunk.finished'>): void {
  checkKnown(state, requestId, 'requestId');
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
