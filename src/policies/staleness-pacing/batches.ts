/**
 * Forms batches: decides which complete groups the trainer gets. A batch is decided as soon as one is possible after which every
 * other group can still be trained in time, whatever completes later.
 */

import { mintedId, wasMinted } from '../../core/ids/minted-ids.ts';
import { lateTraining } from '../../core/rollout/trained-groups.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './messages.ts';
import {
  allowed,
  askAgain,
  type Batch,
  batchKind,
  type Group,
  inFlight,
  nextVersion,
  type PacingState,
  remove,
} from './state.ts';

/** Whether no further group will ever be launched, unless the source is reopened. */
const isEnding = ({ isExhausted, waiting }: PacingState): boolean => isExhausted && waiting.size === 0;

/** Whether no group is launched until another one leaves, because the source has no prompts, or only prompts that are here. */
const isLeftAlone = (state: PacingState): boolean =>
  isEnding(state) || (state.round?.onlyDuplicates === true && state.waiting.size === 0);

/**
 * Whether the P oldest complete groups of the window are a batch that leaves nothing too old. Before the batch of version b there
 * are b − c further batches, so this batch, of version c, has to take the groups due by then that exceed the room of those
 * batches. No choice takes more of the oldest groups than this one, for any b.
 */
function isSafe(state: PacingState): boolean {
  const { config, cohorts, ready } = state;
  const { groupsPerBatch: size, maxStaleness } = config;
  if (ready.size < size) return false;
  const next = nextVersion(state);
  let groups = 0;
  let taken = 0;
  for (const cohort of cohorts.values()) {
    groups += cohort.groups;
    taken = Math.min(size, taken + cohort.ready);
    if (groups - size * (cohort.version + maxStaleness - next) > taken) return false;
  }
  return true;
}

/** Decides batches while the trainer takes batches and one is possible. */
export function formBatches(state: PacingState, ctx: Ctx): void {
  while (state.batches.length < state.config.maxBatches && formBatch(state, ctx));
}

function formBatch(state: PacingState, ctx: Ctx): boolean {
  const { config, groups, ready, complete, round } = state;
  if (groups.size === 0) return false;
  const isLast = isLeftAlone(state) && groups.size < config.groupsPerBatch;
  if (isLast ? inFlight(state) > 0 : !isSafe(state)) return false;
  const finished = complete;
  const batch: Batch = {
    publicationId: mintedId(state.prefix, batchKind, state.nextBatch++),
    weightVersion: nextVersion(state) + 1,
    groups: [],
    samples: 0,
    tokens: 0,
    since: ctx.at,
  };
  while (batch.groups.length < config.groupsPerBatch && ready.size > 0) {
    const one = ready.peek()!;
    const { groupId, launchId, startVersion } = one;
    batch.groups.push({ groupId, launchId, weightVersion: startVersion });
    batch.samples += one.samples;
    batch.tokens += one.tokens;
    remove(state, one);
  }
  state.batches.push(batch);
  round!.lastBatchAt = ctx.at;
  askAgain(round!);
  handOver(state, state.batches.length - 1, isLast ? 'source_exhausted' : 'batch_ready', finished, ctx);
  return true;
}

/** Hands a batch to the trainer, for the first time or again. */
export function handOver(
  state: PacingState,
  index: number,
  code: Message<'train.batch'>['reason']['code'],
  finished: number,
  ctx: Ctx,
): void {
  const batch = state.batches[index]!;
  const { publicationId, groups, samples, tokens } = batch;
  batch.since = ctx.at;
  // Beyond the named versions, the host has skipped some.
  if (state.batches.at(-1)!.weightVersion < state.weightVersion) batch.weightVersion = state.weightVersion + index + 1;
  const trained = batch.weightVersion - 1;
  ctx.emit({
    type: 'train.batch',
    at: ctx.at,
    roundId: state.round!.roundId,
    publicationId,
    weightVersion: trained + 1,
    groups: groups.map((one) => ({ ...one })),
    samples,
    tokens,
    reason: { code, finished, inFlight: inFlight(state), largestLag: Math.max(0, trained - groups[0]!.weightVersion) },
  });
}

const indexOf = ({ batches }: PacingState, publicationId: string): number =>
  batches.findIndex((one) => one.publicationId === publicationId);

export function checkPublished(state: PacingState, event: Message<'weights.published'>): void {
  const { roundId, publicationId, weightVersion } = event;
  const index = indexOf(state, publicationId);
  if (index < 0) {
    if (wasMinted(state, publicationId, state.nextBatch, batchKind)) return;
    return refuse('unknown_id', 'publicationId', 'that of a `train.batch`', publicationId);
  }
  const { roundId: own } = state.round!;
  if (own !== roundId) refuse('invalid_event', 'roundId', own, roundId);
  // If versions were skipped since, the version that `train.batch` has named may be older than the present one.
  const before = state.batches[index]!.weightVersion - 1;
  if (weightVersion <= before) refuse('invalid_event', 'weightVersion', `a version after ${before}`, weightVersion);
}

/**
 * Takes new weights: those of a batch, and so of all earlier batches. The engines have the version that the host reports,
 * whatever `train.batch` has named. If the version is beyond the named ones, groups leave that can no longer be trained in time.
 */
export function publish(state: PacingState, event: Message<'weights.published'>, ctx: Ctx): void {
  const { roundId, publicationId, weightVersion } = event;
  const batches = indexOf(state, publicationId) + 1;
  if (batches === 0 && weightVersion <= state.weightVersion) {
    lateTraining({ roundId, publicationId }, 'publication_over', ctx);
    return;
  }
  const next = nextVersion(state);
  state.batches.splice(0, batches);
  state.weightVersion = Math.max(state.weightVersion, weightVersion);
  if (nextVersion(state) > next) dropStale(state, ctx);
}

/** Drops the fewest groups that leave room for the others to be trained in time: incomplete groups, the last ones first. */
export function dropStale(state: PacingState, ctx: Ctx): void {
  const { maxStaleness, groupsPerBatch } = state.config;
  const next = nextVersion(state);
  let retained = 0;
  for (const { version, groups } of [...state.cohorts.values()]) {
    const capacity = groupsPerBatch * Math.max(0, version + maxStaleness - next + 1);
    const surplus = Math.max(0, retained + groups - capacity);
    retained += groups - surplus;
    if (surplus === 0) continue;
    const own = [...state.groups.values()].filter((one) => one.startVersion === version);
    own.sort((a, b) => Number(a.isComplete) - Number(b.isComplete) || b.seq - a.seq);
    for (const one of own.slice(0, surplus)) drop(state, one, next, ctx);
  }
}

function drop(state: PacingState, one: Group, next: number, ctx: Ctx): void {
  const { groupId, launchId, ref, startVersion, tokens } = one;
  remove(state, one);
  askAgain(state.round!);
  ctx.emit({
    type: 'group.drop',
    at: ctx.at,
    roundId: state.round!.roundId,
    groupId,
    launchId,
    ...(ref === undefined ? undefined : { ref }),
    reason: {
      code: 'version_skipped',
      startVersion,
      weightVersion: next,
      maxStaleness: state.config.maxStaleness,
      tokens,
    },
  });
}

/** Ends the round when the source has no prompts and everything is trained. */
export function endIfOver(state: PacingState, ctx: Ctx): void {
  const { round, groups, batches } = state;
  if (round === null || !isEnding(state) || groups.size > 0 || batches.length > 0) return;
  const { roundId, lastBatchAt } = round;
  state.round = null;
  const reason = { code: 'all_ended', afterSeconds: ctx.at - (lastBatchAt ?? ctx.at) } as const;
  ctx.emit({ type: 'round.drained', at: ctx.at, roundId, reason });
}

/** Number of groups that may still be launched now. */
export function room(state: PacingState): number {
  return Math.min(allowed(state), state.config.maxGroups ?? Number.POSITIVE_INFINITY) - state.groups.size;
}
