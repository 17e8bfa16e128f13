/**
 * The long-prompt queue (RollPacker §3): prompts that a short round deferred wait here until there are enough of them
 * for a long round without speculation, so that none is excluded for its length. See README.md.
 */
import { type AnyDecision, type Context, definePolicyByHand, type Ledger } from '../../core/definition.ts';
import { refuse } from '../../errors.ts';
import { copyPrompt, type Prompt } from '../../schemas/prompts.ts';
import { scaledCount } from '../../schemas/units.ts';
import { queueConfig } from './schema.ts';
import {
  awaitsReward,
  load,
  migrateFromOne,
  newQueue,
  overdue,
  put,
  putUnused,
  type QueueState,
  queueSnapshot,
  removeUnused,
  replaceUnused,
  reward,
  type SavedQueue,
  save,
  takeDeferred,
  takeUnused,
} from './state.ts';
import { type QueueDecision, type QueueEvent, queueDecisions, queueEvents } from './words.ts';

type Ctx = Context<QueueDecision>;
type PlanReason = Extract<QueueDecision, { type: 'round.planned' }>['reason'];

function check(state: QueueState, event: QueueEvent): void {
  if (event.type === 'reward.ready' && !awaitsReward(state, event.requestId)) {
    refuse('unknown_id', 'requestId', 'a response without a reward that a queued prompt keeps', event.requestId);
  }
  if (event.type !== 'round.requested' || !state.recentRounds.has(event.roundId)) return;
  refuse('duplicate_id', 'roundId', 'a new round id', event.roundId);
}

function apply(state: QueueState, event: QueueEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'prompt.deferred':
      return queue(state, copyPrompt(event.prompt), event.roundId, ctx);
    case 'prompt.returned':
      // What was queued before goes back to its place; anything else is as good as new.
      if (event.prompt.deferral !== undefined) return queue(state, copyPrompt(event.prompt), event.roundId, ctx);
      return giveBack(state, copyPrompt(event.prompt), event.roundId, ctx);
    case 'prompt.carried':
      state.carried.add(event.promptId);
      return;
    case 'prompt.filtered':
    case 'prompt.quarantined':
      state.carried.delete(event.promptId);
      return;
    case 'reward.ready':
      return reward(state, event.requestId, event.reward);
    case 'round.requested':
      return plan(state, event, ctx);
    case 'source.exhausted':
      return exhaust(state, event.domain);
    case 'source.reopened':
      state.exhausted = false;
      state.exhaustedDomains.clear();
  }
}

/** One domain may be exhausted while others go on. */
function exhaust(state: QueueState, domain: string | undefined): void {
  if (domain !== undefined) state.exhaustedDomains.add(domain);
  const isLast = state.config.domains?.every((one) => state.exhaustedDomains.has(one)) ?? false;
  if (domain === undefined || isLast) state.exhausted = true;
}

/** A prompt that is queued already is the same prompt: it stays where it is, and what is known of it is joined. */
function queue(state: QueueState, prompt: Prompt, roundId: string, ctx: Ctx): void {
  const before = state.entries.get(prompt.promptId);
  if (before !== undefined) {
    const { deferral } = before.prompt;
    const deferrals = (deferral?.count ?? 0) + 1;
    merge(prompt, deferrals, roundId, ctx);
    const counted = { ...before.prompt, deferral: deferral && { ...deferral, count: deferrals } };
    put(state, { prompt: joined(counted, prompt), seq: before.seq });
    return;
  }
  const unused = state.unusedById.get(prompt.promptId);
  if (unused !== undefined) {
    // It is known now that it is long.
    merge(unused.prompt, prompt.deferral?.count ?? 0, roundId, ctx);
    removeUnused(state, unused);
  }
  put(state, { prompt: unused === undefined ? prompt : joined(prompt, unused.prompt), seq: state.seq++ });
}

/** A prompt that was not queued comes back; one that is here already stays where it is, and was not deferred again. */
function giveBack(state: QueueState, prompt: Prompt, roundId: string, ctx: Ctx): void {
  const before = state.entries.get(prompt.promptId);
  const unused = state.unusedById.get(prompt.promptId);
  if (before !== undefined) {
    merge(prompt, before.prompt.deferral?.count ?? 0, roundId, ctx);
    put(state, { prompt: joined(before.prompt, prompt), seq: before.seq });
  } else if (unused !== undefined) {
    merge(prompt, 0, roundId, ctx);
    replaceUnused(state, unused, joined(unused.prompt, prompt));
  } else putUnused(state, prompt);
}

/** Says that one of two prompts with the same id is dropped. */
function merge(dropped: Prompt, deferrals: number, roundId: string, ctx: Ctx): void {
  const { promptId, ref } = dropped;
  ctx.emit({
    type: 'prompt.merged',
    at: ctx.at,
    promptId,
    roundId,
    ...(ref === undefined ? undefined : { ref }),
    dropped: finished(dropped).map(({ requestId, tokens }) => ({ requestId, tokens, cause: 'merged' })),
    reason: { code: 'already_queued', deferrals },
  });
}

/** The one that stays, with what is known of the other's length. */
function joined(stays: Prompt, other: Prompt): Prompt {
  const expected = Math.max(stays.expectedTokens ?? 0, other.expectedTokens ?? 0);
  return copyPrompt({ ...stays, expectedTokens: expected > 0 ? expected : undefined });
}

function plan(state: QueueState, event: Extract<QueueEvent, { type: 'round.requested' }>, ctx: Ctx): void {
  const { roundId, weightVersion } = event;
  const { promptsPerRound } = state.config;
  const queued = state.entries.size;
  const carried = state.carried.size;
  if (state.exhausted && queued + state.unused.size + carried === 0) {
    ctx.emit({ type: 'source.drained', at: ctx.at, roundId, reason: { code: 'source_exhausted' } });
    return;
  }
  const due = overdue(state);
  let reason: PlanReason;
  if (queued >= promptsPerRound) reason = { code: 'queue_full', queued, promptsPerRound };
  else if (due !== undefined) {
    const deferrals = due.entry.prompt.deferral?.count ?? 0;
    reason = { code: 'prompt_overdue', deferrals, waitedRounds: due.waitedRounds };
  } else if (state.exhausted) reason = { code: 'source_exhausted', queued, ...(carried > 0 ? { carried } : undefined) };
  else reason = { code: 'queue_below_threshold', queued, promptsPerRound };
  const kind = reason.code === 'queue_below_threshold' ? 'short' : 'long';
  const target = kind === 'long' ? promptsPerRound : scaledCount(state.config.promptSpeculation, promptsPerRound);
  const prompts = kind === 'long' ? takeDeferred(state, target) : [];
  prompts.push(...takeUnused(state, target - prompts.length));
  state.rounds += 1;
  state.recentRounds.add(roundId);
  // They belong to this one.
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

const finished = (prompt: Prompt) => (prompt.kept ?? []).filter((one) => one.finished);

function ledger(
  name: string,
  ids: (prompt: Prompt) => string[],
): Ledger<SavedQueue, QueueEvent, QueueDecision & AnyDecision> {
  return {
    name,
    entered: (event) => (event.type === 'prompt.deferred' || event.type === 'prompt.returned' ? ids(event.prompt) : []),
    left: (decision) => {
      if (decision.type === 'round.planned') return decision.queued.flatMap(ids);
      if (decision.type !== 'prompt.merged') return [];
      return name === 'prompts' ? [decision.promptId] : decision.dropped.map((one) => one.requestId);
    },
    held: (saved) => [...saved.entries.map((one) => one.prompt), ...saved.unused].flatMap(ids),
  };
}

/** Holds deferred prompts and plans rounds: short while the queue is small, long once it holds P0. */
export const longPromptQueue = definePolicyByHand({
  id: 'long-prompt-queue',
  version: 2,
  summary: 'Holds deferred prompts until there are enough of them for a long round.',
  source: 'RollPacker §3',
  config: queueConfig,
  events: queueEvents,
  decisions: queueDecisions,
  state: queueSnapshot,
  init: newQueue,
  check,
  apply,
  save,
  load,
  migrations: { 1: migrateFromOne },
  ledgers: [
    ledger('prompts', (prompt) => [prompt.promptId]),
    ledger('responses', (prompt) => finished(prompt).map((one) => one.requestId)),
  ],
});
