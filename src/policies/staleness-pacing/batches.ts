/**
 * Batches: which complete groups the trainer gets. A batch is decided as soon as one is possible after which every other group can
 * still be trained in time, whatever completes later.
 */
import { mintedId, wasMinted } from '../../core/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './messages.ts';
import { allowed, type Batch, batchKind, type Group, inFlight, type PacingState, remove } from './state.ts';

/** Whether no other group will ever be launched, unless the source is opened again. */
const isEnding = ({ isExhausted, waiting }: PacingState): boolean => isExhausted && waiting.size === 0;

/**
 * Whether the P oldest complete groups of the window are a batch that leaves nothing too old. Until the batch of version b there are
 * b − v further batches, so that this one has to take what exceeds them of the groups that must be trained by then. No choice of
 * groups takes more of the oldest than this one does, for any b.
 */
function isSafe({ config, cohorts, ready, weightVersion }: PacingState): boolean {
  const { groupsPerBatch: size, maxStaleness } = config;
  if (ready.size < size) return false;
  let groups = 0;
  let taken = 0;
  for (const cohort of cohorts.values()) {
    groups += cohort.groups;
    taken = Math.min(size, taken + cohort.ready);
    if (groups - size * (cohort.version + maxStaleness - weightVersion) > taken) return false;
  }
  return true;
}

/** Decides a batch if the trainer has none and one is possible. */
export function formBatch(state: PacingState, ctx: Ctx): void {
  const { config, groups, ready, complete, round } = state;
  if (state.batch !== null || groups.size === 0) return;
  const isLast = isEnding(state) && groups.size < config.groupsPerBatch;
  if (isLast ? inFlight(state) > 0 : !isSafe(state)) return;
  const finished = complete;
  const batch: Batch = {
    publicationId: mintedId(state.prefix, batchKind, state.nextBatch++),
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
  state.batch = batch;
  round!.lastBatchAt = ctx.at;
  round!.onlyDuplicates = false;
  handOver(state, batch, isLast ? 'source_exhausted' : 'batch_ready', finished, ctx);
}

/** Hands a batch to the trainer, for the first time or again. */
export function handOver(
  state: PacingState,
  { publicationId, groups, samples, tokens }: Batch,
  code: Message<'train.batch'>['reason']['code'],
  finished: number,
  ctx: Ctx,
): void {
  const { weightVersion } = state;
  ctx.emit({
    type: 'train.batch',
    at: ctx.at,
    roundId: state.round!.roundId,
    publicationId,
    weightVersion: weightVersion + 1,
    groups: groups.map((one) => ({ ...one })),
    samples,
    tokens,
    reason: { code, finished, inFlight: inFlight(state), largestLag: weightVersion - groups[0]!.weightVersion },
  });
}

export function checkPublished(state: PacingState, event: Message<'weights.published'>): void {
  const { roundId, publicationId, weightVersion } = event;
  const { batch, round } = state;
  if (batch?.publicationId !== publicationId) {
    if (wasMinted(state, publicationId, state.nextBatch, batchKind)) return;
    return refuse('unknown_id', 'publicationId', 'that of a `train.batch`', publicationId);
  }
  if (round!.roundId !== roundId) refuse('invalid_event', 'roundId', round!.roundId, roundId);
  if (weightVersion <= state.weightVersion)
    refuse('invalid_event', 'weightVersion', `a version after ${state.weightVersion}`, weightVersion);
}

/** Takes new weights. If their version is more than one ahead, the groups leave that cannot be trained in time any more. */
export function publish(state: PacingState, event: Message<'weights.published'>, ctx: Ctx): void {
  const { roundId, publicationId, weightVersion } = event;
  const isIts = state.batch?.publicationId === publicationId;
  if (!isIts && weightVersion <= state.weightVersion) {
    ctx.emit({ type: 'training.late', at: ctx.at, roundId, publicationId, reason: { code: 'publication_over' } });
    return;
  }
  const isUsual = isIts && weightVersion === state.weightVersion + 1;
  if (isIts) state.batch = null;
  state.weightVersion = weightVersion;
  if (!isUsual) dropStale(state, ctx);
}

/** Drops the fewest groups that leave room for the others to be trained in time: those that are not complete, the last ones first. */
function dropStale(state: PacingState, ctx: Ctx): void {
  const { maxStaleness, groupsPerBatch } = state.config;
  const next = nextVersion(state);
  let kept = 0;
  for (const { version } of [...state.cohorts.values()]) {
    const places = groupsPerBatch * Math.max(0, version + maxStaleness - next + 1);
    const own = [...state.groups.values()].filter((one) => one.startVersion === version);
    const surplus = Math.max(0, kept + own.length - places);
    own.sort((a, b) => Number(a.isComplete) - Number(b.isComplete) || b.seq - a.seq);
    for (const one of own.slice(0, surplus)) drop(state, one, next, ctx);
    kept += own.length - surplus;
  }
}

function drop(state: PacingState, one: Group, next: number, ctx: Ctx): void {
  const { groupId, launchId, ref, startVersion, tokens } = one;
  remove(state, one);
  state.round!.onlyDuplicates = false;
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

/** Version of the weights on which the next batch is trained. */
export const nextVersion = ({ weightVersion, batch }: PacingState): number => weightVersion + (batch === null ? 0 : 1);

/** Ends the round when the source has no prompts and everything is trained. */
export function endIfOver(state: PacingState, ctx: Ctx): void {
  const { round, groups, batch } = state;
  if (round === null || !isEnding(state) || groups.size > 0 || batch !== null) return;
  const { roundId, lastBatchAt } = round;
  state.round = null;
  const reason = { code: 'all_ended', afterSeconds: ctx.at - (lastBatchAt ?? ctx.at) } as const;
  ctx.emit({ type: 'round.drained', at: ctx.at, roundId, reason });
}

/** How many groups may still be launched now. */
export function room(state: PacingState): number {
  return Math.min(allowed(state), state.config.maxGroups ?? Number.POSITIVE_INFINITY) - state.groups.size;
}
