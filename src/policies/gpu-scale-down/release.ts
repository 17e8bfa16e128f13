/** Handles a release from its decision until its GPUs are back, with the requests that move. */
import { replacePrefix, wasMinted } from '../../core/ids/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './schema.ts';
import type { Move, Release, ScaleDownState } from './state.ts';

/** Queries and releases share one sequence of numbers. */
const isKind = (kind: string): boolean => kind === 'query-' || kind === 'release-';

/** Refuses an id that this policy has certainly not minted. */
export function checkMinted(state: ScaleDownState, path: 'queryId' | 'releaseId', id: string): void {
  if (wasMinted(state, id, state.nextId, isKind)) return;
  refuse('unknown_id', path, `a ${path} that was minted here`, id);
}

/** Refuses an engine that is not part of the rollout. */
export function assertEngine(state: ScaleDownState, engineId: string, path: string): void {
  if (state.topology.engineIndexOf.has(engineId)) return;
  refuse('unknown_id', path, 'an engine that rolls out', engineId);
}

export function late(id: string, code: Message<'scale-down.late'>['reason']['code'], ctx: Ctx): void {
  ctx.emit({ type: 'scale-down.late', at: ctx.at, id, reason: { code } });
}

export function checkFailure(state: ScaleDownState, { releaseId }: Message<'gpus.release.failed'>): void {
  if (current(state, releaseId) === undefined) checkMinted(state, 'releaseId', releaseId);
}

/** Returns the release with this id if it is not over. */
export function current(state: ScaleDownState, releaseId: string): Release | undefined {
  return state.release?.releaseId === releaseId ? state.release : undefined;
}

/** Asks for the GPUs of the release back. */
export function reclaim(state: ScaleDownState, reason: Message<'gpus.reclaim'>['reason'], ctx: Ctx): void {
  const release = state.release!;
  release.phase = 'reclaiming';
  const released = release.engines.map((engineIndex) => state.topology.engines[engineIndex]!);
  ctx.emit({
    type: 'gpus.reclaim',
    at: ctx.at,
    releaseId: release.releaseId,
    engineIds: released.map((engine) => engine.engineId),
    gpuIds: released.flatMap((engine) => engine.gpuIds),
    reason,
  });
}

export function checkRelease(state: ScaleDownState, event: Message<'gpus.released' | 'gpus.returned'>): void {
  // The schema makes `releaseId` optional for other policies; here every release has one.
  const { releaseId = '', gpuIds } = event;
  const release = current(state, releaseId);
  if (release === undefined) return checkMinted(state, 'releaseId', releaseId);
  const expected = release.engines.flatMap((engineIndex) => state.topology.engines[engineIndex]!.gpuIds).sort();
  if (expected.join('\n') === [...gpuIds].sort().join('\n')) return;
  refuse('invalid_event', 'gpuIds', `the GPUs ${expected.join(', ')}`, gpuIds);
}

/** Records that the GPUs train; a round scales down at most once. */
export function released(state: ScaleDownState, { releaseId = '' }: Message<'gpus.released'>, ctx: Ctx): void {
  const release = current(state, releaseId);
  if (release?.phase !== 'releasing') return late(releaseId, 'released_late', ctx);
  release.phase = 'released';
  state.round!.settled = true;
}

/** Returns to synchronous training if the GPUs could not be released. */
export function releaseFailed(state: ScaleDownState, { releaseId }: Message<'gpus.release.failed'>, ctx: Ctx): void {
  if (current(state, releaseId)?.phase !== 'releasing') return late(releaseId, 'release_closed', ctx);
  reclaim(state, { code: 'release_failed' }, ctx);
}

/** Records that the GPUs are back in the rollout. */
export function returned(state: ScaleDownState, { releaseId = '' }: Message<'gpus.returned'>, ctx: Ctx): void {
  const release = current(state, releaseId);
  if (release?.phase !== 'reclaiming') return late(releaseId, 'release_closed', ctx);
  for (const engineIndex of release.engines) state.status[engineIndex] = 'up';
  state.release = undefined;
}

/** Handles a restart of the host: everything in flight is lost, and the host has forgotten its tasks. */
export function restarted(state: ScaleDownState, { idPrefix }: Message<'host.restarted'>, ctx: Ctx): void {
  replacePrefix(state, idPrefix);
  state.query = undefined;
  if (state.round !== undefined) state.round.fixed = false;
  state.aborting.clear();
  state.abortingBefore.clear();
  const { release } = state;
  if (release === undefined) return;
  release.moves = new Map();
  if (release.phase === 'released') reclaim(state, { code: 'host_restarted' }, ctx);
  else if (release.phase === 'releasing') reclaim(state, { code: 'restarted_before_release' }, ctx);
  else reclaim(state, { code: 'asked_again' }, ctx);
}

export function checkMove(state: ScaleDownState, event: Message<'request.migrated' | 'migration.failed'>): void {
  const { releaseId, requestId, attempt = 1 } = event;
  const release = current(state, releaseId);
  if (release === undefined) return checkMinted(state, 'releaseId', releaseId);
  const move = release.moves.get(requestId);
  if (move === undefined) {
    // After a restart, the requests of a release that is still on its way back are forgotten.
    if (release.phase === 'reclaiming') return;
    refuse('unknown_id', 'requestId', 'a request of the release', requestId);
  }
  if (attempt > move.attempts) refuse('invalid_event', 'attempt', `a try up to ${move.attempts}`, attempt);
}

/** Records that a request has arrived on an engine. A request that ended on the way must not continue there. */
export function migrated(state: ScaleDownState, event: Message<'request.migrated'>, ctx: Ctx): void {
  const { releaseId, requestId, attempt = 1 } = event;
  const move = current(state, releaseId)?.moves.get(requestId);
  if (move === undefined) return late(requestId, 'migration_closed', ctx);
  const { status } = move;
  const isLate = attempt < move.attempts;
  if (!isLate) move.status = 'moved';
  // It does not matter which try has moved the request.
  if (status === 'ended') cancel(state, requestId, move, 'migrated_after_end', ctx);
  else if (isLate || status !== 'moving') late(requestId, 'migration_closed', ctx);
}

/**
 * Handles a request that could not be moved: the request is tried on another engine; after the last try, the release is given up.
 */
export function moveFailed(state: ScaleDownState, event: Message<'migration.failed'>, ctx: Ctx): void {
  const { releaseId, requestId, attempt = 1 } = event;
  const release = current(state, releaseId);
  const move = release?.moves.get(requestId);
  if (release === undefined || move === undefined) return late(requestId, 'migration_closed', ctx);
  const { attempts, status, tokens } = move;
  if (attempt < attempts) return late(requestId, 'migration_closed', ctx);
  if (status !== 'moving') {
    // An ended request needs no move; the request stays ended even if it still arrives.
    if (status !== 'ended') late(requestId, 'migration_closed', ctx);
    return;
  }
  move.status = 'failed';
  // While the GPUs are on their way back, the request stays on its engine.
  if (release.phase === 'reclaiming') return;
  const budget = state.config.maxMigrationAttempts;
  const next = attempts < budget ? elsewhere(state, release, move.to) : undefined;
  if (next !== undefined) {
    Object.assign(move, { status: 'moving', to: next, attempts: attempts + 1 });
    const [from, to] = [move.from, next].map((index) => state.topology.engines[index]!.engineId) as [string, string];
    const reason = { code: 'migration_failed', attempts, budget } as const;
    const migration = { releaseId, requestId, from, to, tokens, attempt: attempts + 1 };
    ctx.emit({ type: 'request.migrate', at: ctx.at, ...migration, reason });
    return;
  }
  if (release.phase === 'releasing') return reclaim(state, { code: 'migration_failed', requestId, attempts }, ctx);
  ctx.emit({
    type: 'migration.abandoned',
    at: ctx.at,
    releaseId,
    requestId,
    reason: attempts < budget ? { code: 'no_engine', attempts } : { code: 'tries_used_up', attempts, budget },
  });
}

/**
 * Returns the engine with the most projected free KV among those that take new requests; not the former target, if there is
 * another.
 */
function elsewhere(state: ScaleDownState, { engines, free }: Release, before: number): number | undefined {
  const open = [...free.keys()].filter((index) => state.status[index] === 'up' && !engines.includes(index));
  const others = open.filter((index) => index !== before);
  return (others.length > 0 ? others : open).sort((a, b) => free[b]! - free[a]! || a - b)[0];
}

/** Handles a request that has ended, or must end: a moving one is marked as ended. */
function requestEnded(state: ScaleDownState, requestId: string, code: 'aborted' | 'completed', ctx: Ctx): void {
  state.query?.ended.add(requestId);
  const move = state.release?.moves.get(requestId);
  if (move === undefined || (move.status !== 'moving' && move.status !== 'failed')) return;
  const { status } = move;
  move.status = 'ended';
  if (status === 'moving') cancel(state, requestId, move, code, ctx);
}

type CancelCode = Message<'migration.cancel'>['reason']['code'];

function cancel(state: ScaleDownState, requestId: string, { to }: Move, code: CancelCode, ctx: Ctx): void {
  const { releaseId } = state.release!;
  const { engineId } = state.topology.engines[to]!;
  ctx.emit({ type: 'migration.cancel', at: ctx.at, releaseId, requestId, to: engineId, reason: { code } });
}

export function completed(state: ScaleDownState, { requestId, tokens }: Message<'response.completed'>, ctx: Ctx): void {
  state[state.kind].add(tokens);
  forget(state, requestId);
  requestEnded(state, requestId, 'completed', ctx);
}

export function mustEnd(state: ScaleDownState, { requestId }: Message<'request.abort'>, ctx: Ctx): void {
  state.aborting.add(requestId);
  requestEnded(state, requestId, 'aborted', ctx);
}

export function aborted(state: ScaleDownState, { requestId, tokens }: Message<'request.aborted'>, ctx: Ctx): void {
  if (tokens !== undefined) state[state.kind].add(tokens);
  forget(state, requestId);
  requestEnded(state, requestId, 'aborted', ctx);
}

function forget(state: ScaleDownState, requestId: string): void {
  if (!state.aborting.delete(requestId)) state.abortingBefore.delete(requestId);
}
