/** Groups: prompts come in and are launched; groups are completed, or leave. */

import { given } from '../../core/collections/given.ts';
import { replacePrefix, wasMinted } from '../../core/ids/minted-ids.ts';
import { copyPrompt } from '../../core/rollout/prompts.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { dropStale, endIfOver, formBatches, handOver, room } from './batches.ts';
import type { Ctx } from './messages.ts';
import {
  allowed,
  askAgain,
  complete,
  type Group,
  launched,
  launchKind,
  nextVersion,
  type PacingState,
  putBack,
  remove,
} from './state.ts';

export function checkSupply({ recentRounds }: PacingState, { roundId }: Message<'prompts.supplied'>): void {
  if (!recentRounds.has(roundId)) refuse('unknown_id', 'roundId', 'the id of a round that was requested', roundId);
}

/** Takes prompts in, which wait for their launch. */
export function supply(state: PacingState, { roundId, prompts }: Message<'prompts.supplied'>, ctx: Ctx): void {
  const { round, here } = state;
  const { at } = ctx;
  if (round?.roundId !== roundId) {
    for (const prompt of prompts) {
      const reason = { code: 'round_closed' } as const;
      ctx.emit({ type: 'prompt.returned', at, prompt: copyPrompt(prompt), roundId, dropped: [], reason });
    }
    return;
  }
  round.asked = Math.max(0, round.asked - prompts.length);
  for (const { promptId, ref } of prompts) {
    if (here.has(promptId)) {
      const reason = { code: 'already_in_round' } as const;
      ctx.emit({ type: 'prompt.merged', at, promptId, roundId, ...given({ ref }), dropped: [], reason });
      round.duplicates += 1;
      // A source that deals out a shuffled data set repeats a prompt after at most twice the length of the set.
      if (round.duplicates >= 2 * here.size) round.onlyDuplicates = true;
      continue;
    }
    askAgain(round);
    here.set(promptId, null);
    state.waiting.push({ groupId: promptId, ...given({ ref }) });
  }
}

/** Launches waiting prompts while there is room, and requests prompts for the remaining room. */
function launchMore(state: PacingState, ctx: Ctx): void {
  const { round, waiting } = state;
  if (round === null) return;
  while (waiting.size > 0 && room(state) > 0)
    launch(state, launched(state, waiting.shift()!, ctx.at), 'within_staleness', ctx);
  const missing = room(state) - waiting.size - round.asked;
  if (missing <= 0 || state.isExhausted || round.onlyDuplicates) return;
  round.asked += missing;
  const reason = {
    code: 'within_staleness',
    groups: state.groups.size + waiting.size,
    allowed: allowed(state),
  } as const;
  ctx.emit({ type: 'prompts.request', at: ctx.at, roundId: round.roundId, count: missing, reason });
}

function launch(
  state: PacingState,
  { groupId, launchId, startVersion: weightVersion, ref }: Group,
  code: Message<'group.launch'>['reason']['code'],
  ctx: Ctx,
): void {
  const { roundId } = state.round!;
  const reason = { code, groups: state.groups.size, allowed: allowed(state) };
  ctx.emit({ type: 'group.launch', at: ctx.at, roundId, groupId, launchId, weightVersion, ...given({ ref }), reason });
}

/** Makes all decisions that the state allows. */
export function settle(state: PacingState, ctx: Ctx): void {
  formBatches(state, ctx);
  launchMore(state, ctx);
  endIfOver(state, ctx);
}

interface Report {
  readonly roundId: string;
  readonly groupId: string;
  readonly launchId?: string | undefined;
}

export function checkReport(state: PacingState, { roundId, groupId, launchId }: Report): void {
  if (launchId === undefined) refuse('invalid_event', 'launchId', 'that of the `group.launch`', launchId);
  const one = state.groups.get(launchId);
  if (one === undefined) {
    if (wasMinted(state, launchId, state.nextLaunch, launchKind)) return;
    return refuse('unknown_id', 'launchId', 'that of a `group.launch`', launchId);
  }
  if (one.groupId !== groupId) refuse('invalid_event', 'groupId', one.groupId, groupId);
  if (state.round!.roundId !== roundId) refuse('invalid_event', 'roundId', state.round!.roundId, roundId);
}

function late({ roundId, groupId }: Report, code: Message<'group.late'>['reason']['code'], ctx: Ctx): void {
  ctx.emit({ type: 'group.late', at: ctx.at, roundId, groupId, reason: { code } });
}

export function finish(state: PacingState, event: Message<'group.completed'>, ctx: Ctx): void {
  const one = state.groups.get(event.launchId!);
  if (one === undefined) return late(event, 'launch_over', ctx);
  if (one.isComplete) return late(event, 'known', ctx);
  Object.assign(one, { samples: event.samples, tokens: event.tokens, since: ctx.at });
  const { futile } = state.round!;
  if (futile !== undefined) futile.filtered = 0;
  complete(state, one);
}

/** Lets a group leave that is not trained, complete or not. */
export function reject(state: PacingState, event: Message<'group.rejected'>, ctx: Ctx): void {
  const one = state.groups.get(event.launchId);
  if (one === undefined) return late(event, 'launch_over', ctx);
  const { groupId: promptId } = one;
  remove(state, one);
  askAgain(state.round!);
  if (event.cause === 'filtered') countFiltered(state.round!, ctx.at);
  ctx.emit({ type: 'group.withdrawn', at: ctx.at, roundId: event.roundId, promptId, reason: { code: event.cause } });
}

function countFiltered(round: NonNullable<PacingState['round']>, at: number): void {
  const { filtered, since } = round.futile ?? { filtered: 0, since: at };
  round.futile = { filtered: filtered + 1, since: filtered === 0 ? at : since };
}

/** Names again everything that the host owes. Generated groups are lost, and are launched again after all complete ones. */
export function restart(
  state: PacingState,
  { idPrefix, weightVersion: now = state.weightVersion }: Message<'host.restarted'>,
  ctx: Ctx,
): void {
  replacePrefix(state, idPrefix);
  const next = nextVersion(state);
  goOnAt(state, now);
  const { round, batches, weightVersion } = state;
  if (round === null) return;
  const { roundId } = round;
  round.asked = 0;
  askAgain(round);
  const promptIds = [...state.groups.values(), ...state.waiting].map(({ groupId }) => groupId);
  const reason = { code: 'host_restarted', prompts: promptIds.length } as const;
  ctx.emit({ type: 'round.resumed', at: ctx.at, roundId, weightVersion, promptIds, reason });
  for (const index of batches.keys()) handOver(state, index, 'host_restarted', state.complete, ctx);
  for (const one of [...state.groups.values()]) {
    if (one.isComplete) continue;
    remove(state, one);
    launch(state, launched(state, one, ctx.at), 'host_restarted', ctx);
  }
  if (nextVersion(state) > next) dropStale(state, ctx);
}

/**
 * Takes the version from which the trainer continues, ahead of the last version or behind it. Behind it, groups of later versions
 * count as groups of this version: their first token is of this version or a later one, so that no group is too old.
 */
function goOnAt(state: PacingState, weightVersion: number): void {
  if (weightVersion < state.weightVersion) {
    const all = [...state.groups.values()];
    for (const one of all) remove(state, one);
    for (const one of all)
      putBack(
        state,
        Object.assign(one, { startVersion: Math.min(one.startVersion, weightVersion), isInWindow: false }),
      );
    // The trainer trains batches that it already has so much earlier, so that groups have as many batches left as before.
    const back = state.weightVersion - weightVersion;
    for (const one of state.batches) one.weightVersion -= back;
  }
  state.weightVersion = weightVersion;
}
