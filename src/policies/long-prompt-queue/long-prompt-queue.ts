/**
 * The long-prompt queue (RollPacker §3): prompts that a short round has deferred wait here until there are enough of them for a
 * long round without speculation, so that no prompt is left out because of its length. See README.md.
 */

import { type Context, definePolicy, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { alreadyQueued, copyPrompt, promptLedgers, scaledCount } from '../../core/rollout/prompts.ts';
import { refuse } from '../../errors.ts';
import type { LongPromptQueueDecision, LongPromptQueueTypes } from '../../generated/settings/long-prompt-queue.ts';
import {
  promptCarried,
  promptDeferred,
  promptFailed,
  promptFiltered,
  promptMerged,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import {
  promptsReleased,
  promptsRequest,
  roundCompleted,
  roundPlanned,
  sourceDrained,
} from '../../schemas/decisions/rounds.ts';
import { rewardReady } from '../../schemas/events/rewards.ts';
import { roundRequested, sourceExhausted, sourceReopened } from '../../schemas/events/rounds.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import { queueConfig } from './schema.ts';
import {
  awaitsReward,
  link,
  migrateFromThree,
  overdue,
  put,
  putUnused,
  type QueueState,
  queueState,
  removeUnused,
  reward,
  type SavedQueue,
  takeDeferred,
  takeExpiring,
  takeUnused,
} from './state.ts';
import { waits } from './waits.ts';

const decisions = [roundPlanned, promptsRequest, promptsReleased, promptMerged, sourceDrained] as const;

type Ctx = Context<LongPromptQueueDecision>;

const on = handlersOf<QueueState, LongPromptQueueDecision>();
const handlers = [
  on(promptDeferred, (state, { prompt, roundId }, ctx) => queue(state, copyPrompt(prompt), roundId, ctx)),
  on(promptReturned, (state, { prompt, roundId }, ctx) => {
    // A prompt that was queued before goes back to its place; any other prompt counts as fresh.
    const put = prompt.deferral === undefined ? giveBack : queue;
    put(state, copyPrompt(prompt), roundId, ctx);
  }),
  on(promptCarried, ({ carried }, { promptId }) => {
    carried.add(promptId);
  }),
  on([promptFiltered, promptFailed], ({ carried }, { promptId }) => {
    carried.delete(promptId);
  }),
  on(rewardReady, (state, event) => reward(state, event.requestId, event.reward), checkReward, awaitsReward),
  on(roundRequested, plan, checkRound),
  on(roundCompleted, (state, { roundId }) => {
    if (state.openRound === roundId) state.openRound = null;
  }),
  on(sourceExhausted, exhaust),
  on(sourceReopened, (state) => {
    state.exhausted = false;
    state.exhaustedDomains.clear();
  }),
];

function checkReward(state: QueueState, event: Message<'reward.ready'>): void {
  if (awaitsReward(state, event)) return;
  refuse('unknown_id', 'requestId', 'a response without a reward that a queued prompt keeps', event.requestId);
}

/** Marks the source, or one of its domains, as exhausted; then the queue is the source of the round that is open. */
function exhaust(state: QueueState, { domain }: Message<'source.exhausted'>, ctx: Ctx): void {
  if (domain !== undefined) state.exhaustedDomains.add(domain);
  const isLast = state.config.domains?.every((one) => state.exhaustedDomains.has(one)) ?? false;
  if (domain !== undefined && !isLast) return;
  state.exhausted = true;
  const { openRound, entries, unused } = state;
  const queued = entries.size;
  if (openRound === null || queued + unused.size === 0) return;
  const all = Number.POSITIVE_INFINITY;
  ctx.emit({
    type: 'prompts.released',
    at: ctx.at,
    roundId: openRound,
    queued: [...takeDeferred(state, all), ...takeUnused(state, all)],
    reason: { code: 'source_exhausted', queued },
  });
}

/** Queues a prompt. If the prompt is queued already, the queued copy keeps its place, and the two are merged. */
function queue(state: QueueState, prompt: Prompt, roundId: string, ctx: Ctx): void {
  const before = state.entries.get(prompt.promptId);
  if (before !== undefined) {
    const { deferral } = before.prompt;
    const deferrals = (deferral?.count ?? 0) + 1;
    ctx.emit(alreadyQueued(prompt, deferrals, roundId, ctx.at));
    const counted = { ...before.prompt, deferral: deferral && { ...deferral, count: deferrals } };
    put(state, { prompt: joined(counted, prompt), seq: before.seq });
    return;
  }
  const unused = state.unused.get(prompt.promptId);
  if (unused !== undefined) {
    // The deferral shows that the prompt is long.
    ctx.emit(alreadyQueued(unused, prompt.deferral?.count ?? 0, roundId, ctx.at));
    removeUnused(state, unused);
  }
  put(state, { prompt: unused === undefined ? prompt : joined(prompt, unused), seq: state.seq++ });
}

/** Queues a prompt that comes back without a deferral; a prompt that is here already keeps its place. */
function giveBack(state: QueueState, prompt: Prompt, roundId: string, ctx: Ctx): void {
  const before = state.entries.get(prompt.promptId);
  const unused = state.unused.get(prompt.promptId);
  if (before !== undefined) {
    ctx.emit(alreadyQueued(prompt, before.prompt.deferral?.count ?? 0, roundId, ctx.at));
    put(state, { prompt: joined(before.prompt, prompt), seq: before.seq });
    return;
  }
  if (unused !== undefined) ctx.emit(alreadyQueued(prompt, 0, roundId, ctx.at));
  putUnused(state, unused === undefined ? prompt : joined(unused, prompt));
}

/** Returns the prompt that stays, with the larger expected length of the two. */
function joined(stays: Prompt, other: Prompt): Prompt {
  const expected = Math.max(stays.expectedTokens ?? 0, other.expectedTokens ?? 0);
  return copyPrompt({ ...stays, expectedTokens: expected > 0 ? expected : undefined });
}

function checkRound(state: QueueState, { roundId }: Message<'round.requested'>): void {
  if (state.recentRounds.has(roundId)) refuse('duplicate_id', 'roundId', 'a new round id', roundId);
}

function plan(state: QueueState, { roundId, weightVersion }: Message<'round.requested'>, ctx: Ctx): void {
  const { promptsPerRound } = state.config;
  const queued = state.entries.size;
  const carried = state.carried.size;
  if (state.exhausted && queued + state.unused.size + carried === 0) {
    ctx.emit({ type: 'source.drained', at: ctx.at, roundId, reason: { code: 'source_exhausted' } });
    return;
  }
  const due = overdue(state);
  let reason: Message<'round.planned'>['reason'];
  if (queued >= promptsPerRound) reason = { code: 'queue_full', queued, promptsPerRound };
  else if (due !== undefined) {
    const deferrals = due.entry.prompt.deferral?.count ?? 0;
    reason = { code: 'prompt_overdue', deferrals, waitedRounds: due.waitedRounds };
  } else if (state.exhausted) reason = { code: 'source_exhausted', queued, ...(carried > 0 ? { carried } : undefined) };
  else reason = { code: 'queue_below_threshold', queued, promptsPerRound };
  const kind = reason.code === 'queue_below_threshold' ? 'short' : 'long';
  const target = kind === 'long' ? promptsPerRound : scaledCount(state.config.promptSpeculation, promptsPerRound);
  const prompts = takeExpiring(state, promptsPerRound, weightVersion);
  if (kind === 'long') prompts.push(...takeDeferred(state, target - prompts.length));
  prompts.push(...takeUnused(state, target - prompts.length));
  state.rounds += 1;
  state.recentRounds.add(roundId);
  state.openRound = roundId;
  // The carried prompts belong to the new round.
  state.carried.clear();
  ctx.emit({ type: 'round.planned', at: ctx.at, roundId, kind, weightVersion, queued: prompts, reason });
  const missing = state.exhausted ? 0 : target - prompts.length;
  if (missing === 0) return;
  const known = prompts.length;
  ctx.emit({
    type: 'prompts.request',
    at: ctx.at,
    roundId,
    count: missing,
    reason: { code: 'round_opened', target, known },
  });
}

/** Holds deferred prompts and plans rounds: short ones while the queue is small, a long one once it holds P0 prompts. */
export const longPromptQueue: PolicyDefinitionOf<LongPromptQueueTypes, QueueState, SavedQueue> = definePolicy({
  id: 'long-prompt-queue',
  version: 4,
  migrations: { 3: migrateFromThree },
  summary: 'Holds deferred prompts until there are enough of them for a long round.',
  source: 'RollPacker §3',
  config: queueConfig,
  state: queueState,
  link,
  handlers,
  decisions,
  ledgers: promptLedgers<SavedQueue>(({ entries, unused }) => [...entries.map((one) => one.prompt), ...unused]),
  waits,
});
