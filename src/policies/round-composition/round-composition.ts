/**
 * Composes rounds from prompts with about equally long expected responses, so that long prompts wait for each other, and many
 * short prompts do not wait for them. See README.md.
 */

import { type Context, definePolicy, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { copyPrompt, promptLedgers } from '../../core/rollout/prompts.ts';
import { refuse } from '../../errors.ts';
import type { RoundCompositionDecision, RoundCompositionTypes } from '../../generated/settings/round-composition.ts';
import { promptCounted, promptDeferred, promptFiltered, promptReturned } from '../../schemas/decisions/prompts.ts';
import { promptsRequest, roundPlanned, sourceDrained } from '../../schemas/decisions/rounds.ts';
import {
  promptsSupplied,
  roundFailed,
  roundRequested,
  sourceExhausted,
  sourceReopened,
} from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Message } from '../../schemas/messages.ts';
import { compositionConfig, roundSize } from './schema.ts';
import {
  begin,
  type CompositionState,
  compositionState,
  hasRound,
  link,
  type SavedComposition,
  waiting,
  wanted,
} from './state.ts';
import { gates, waits } from './waits.ts';
import { leaveLongest, putBack, renew, takeIn, takeRound } from './window.ts';

const decisions = [promptsRequest, roundPlanned, sourceDrained] as const;

type Ctx = Context<RoundCompositionDecision>;

const on = handlersOf<CompositionState, RoundCompositionDecision>();
const handlers = [
  on(roundRequested, request, checkRequest),
  on(promptsSupplied, supply, checkRound),
  on(sourceExhausted, (state, { domain }, ctx) => {
    if (domain !== undefined) return;
    state.exhausted = true;
    settle(state, ctx);
  }),
  on(sourceReopened, (state) => {
    state.exhausted = false;
  }),
  on(
    roundFailed,
    (state) => {
      state.pending = null;
    },
    checkPending,
  ),
  on([promptDeferred, promptReturned], comeBack),
  on(promptCounted, (state, { promptId, domain, responses }) => learn(state, promptId, domain, responses)),
  on(promptFiltered, (state, { promptId, dropped }) => learn(state, promptId, undefined, dropped)),
  on(hostRestarted, (state, { weightVersion }, ctx) => {
    if (state.pending === null) return;
    if (weightVersion !== undefined) state.pending.weightVersion = weightVersion;
    const admitted = waiting(state);
    // Prompts that have come back may have filled the window.
    if (wanted(state) === 0) state.pending.awaited = 0;
    else ask(state, { code: 'host_restarted', target: admitted + wanted(state), admitted }, ctx);
    settle(state, ctx);
  }),
];

function checkRequest({ pending, recentRounds }: CompositionState, { roundId }: Message<'round.requested'>): void {
  if (pending !== null) {
    refuse('out_of_order', 'roundId', `the prompts of round ${pending.roundId} to be supplied first`, roundId);
  }
  if (recentRounds.has(roundId)) refuse('duplicate_id', 'roundId', 'a new round id', roundId);
}

function checkRound({ recentRounds }: CompositionState, { roundId }: Message<'prompts.supplied'>): void {
  if (!recentRounds.has(roundId)) refuse('unknown_id', 'roundId', 'the id of a round that was requested', roundId);
}

function checkPending({ pending }: CompositionState, { roundId }: Message<'round.failed'>): void {
  if (pending?.roundId === roundId) return;
  const expected =
    pending === null ? 'a round that waits for its prompts' : `the round ${pending.roundId}, which waits`;
  refuse('out_of_order', 'roundId', expected, roundId);
}

/** Begins a new window if the current window has too few prompts for a round, and requests the missing prompts. */
function request(state: CompositionState, { roundId, weightVersion }: Message<'round.requested'>, ctx: Ctx): void {
  state.recentRounds.add(roundId);
  state.rounds += 1;
  state.pending = { roundId, weightVersion, awaited: 0, isFirst: !hasRound(state) };
  state.lengths.begin(state.rounds);
  if (state.pending.isFirst) {
    renew(state);
    const count = wanted(state);
    if (count > 0 && !state.exhausted) {
      const known = waiting(state);
      ask(
        state,
        { code: 'window_begun', rounds: state.windowPrompts / roundSize(state.config), target: known + count, known },
        ctx,
      );
    }
  }
  settle(state, ctx);
}

function ask(state: CompositionState, reason: Message<'prompts.request'>['reason'], ctx: Ctx): void {
  const pending = state.pending!;
  pending.awaited = wanted(state);
  ctx.emit({ type: 'prompts.request', at: ctx.at, roundId: pending.roundId, count: pending.awaited, reason });
}

function supply(state: CompositionState, { roundId, prompts }: Message<'prompts.supplied'>, ctx: Ctx): void {
  const { pending } = state;
  for (const one of prompts) takeIn(state, copyPrompt(one));
  if (pending?.roundId === roundId) pending.awaited = Math.max(0, pending.awaited - prompts.length);
  settle(state, ctx);
}

/** Plans the pending round once its prompts have come, or no more prompts can come. */
function settle(state: CompositionState, ctx: Ctx): void {
  const { pending, exhausted } = state;
  if (pending === null || (pending.awaited > 0 && !exhausted)) return;
  const { at } = ctx;
  const { roundId, weightVersion, isFirst } = pending;
  state.pending = null;
  const here = waiting(state);
  if (here === 0 && exhausted) {
    ctx.emit({ type: 'source.drained', at, roundId, reason: { code: 'source_exhausted' } });
    return;
  }
  if (isFirst && !exhausted && hasRound(state)) leaveLongest(state);
  const { prompts, due, longestTokens, shortestTokens } = takeRound(state);
  const kind = state.config.promptSpeculation > 1 ? 'short' : 'long';
  const reason = { code: 'composed', waiting: here, due, longestTokens, shortestTokens } as const;
  ctx.emit({ type: 'round.planned', at, roundId, kind, weightVersion, queued: prompts, reason });
}

function comeBack(state: CompositionState, event: Message<'prompt.deferred'> | Message<'prompt.returned'>): void {
  const prompt = copyPrompt(event.prompt);
  const { promptId, domain, expectedTokens: tokens = 0 } = prompt;
  // The longest response would have become longer still.
  if (event.type === 'prompt.deferred' && tokens > 0) {
    state.lengths.observe({ promptId, domain, tokens, censored: true, round: state.rounds });
  }
  putBack(state, prompt);
}

function learn(
  { lengths, rounds: round }: CompositionState,
  promptId: string,
  domain: string | undefined,
  responses: readonly { readonly tokens: number }[],
): void {
  for (const { tokens } of responses) lengths.observe({ promptId, domain, tokens, round });
}

/** Composes each round from a window of the data, of prompts with about equally long expected responses. */
export const roundComposition: PolicyDefinitionOf<RoundCompositionTypes, CompositionState, SavedComposition> =
  definePolicy({
    id: 'round-composition',
    version: 2,
    summary: 'Composes rounds by predicted length, so that long responses wait for each other.',
    source: 'rollflex',
    config: compositionConfig,
    state: compositionState,
    begin,
    link,
    handlers,
    decisions,
    ledgers: promptLedgers<SavedComposition>(({ due, window, copies, later }) => [
      ...due,
      ...window.map((one) => one.prompt),
      ...copies,
      ...later,
    ]),
    waits,
    gates,
  });
