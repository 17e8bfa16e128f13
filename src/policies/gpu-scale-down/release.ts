/** What becomes of a release: requests that move, GPUs that go and come back, and everything that can go wrong. */
import { Moves } from './moves.ts';
import type { Release, ScaleDownState } from './state.ts';
import type { Ctx, DecisionOf, EventOf } from './words.ts';

type ReclaimReason = DecisionOf<'gpus.reclaim'>['reason'];
type LateCode = DecisionOf<'scale-down.late'>['reason']['code'];

/** Asks for the GPUs of the release back. */
export function reclaim(state: ScaleDownState, reason: ReclaimReason, ctx: Ctx): void {
  const release = state.release!;
  release.phase = 'reclaiming';
  const places = release.engines.map((place) => state.topology.engines[place]!);
  ctx.emit({
    type: 'gpus.reclaim',
    at: ctx.at,
    releaseId: release.releaseId,
    engineIds: places.map((engine) => engine.engineId),
    gpuIds: places.flatMap((engine) => engine.gpuIds),
    reason,
  });
}

function late(id: string, code: LateCode, ctx: Ctx): void {
  ctx.emit({ type: 'scale-down.late', at: ctx.at, id, reason: { code } });
}

function current(state: ScaleDownState, releaseId: string): Release | undefined {
  return state.release?.releaseId === releaseId ? state.release : undefined;
}

/** A request has arrived on an engine. One that ended on the way must not go on there. */
export function migrated(state: ScaleDownState, event: EventOf<'request.migrated'>, ctx: Ctx): void {
  const { releaseId, requestId, attempt = 1 } = event;
  const moves = current(state, releaseId)?.moves;
  const row = moves?.row(requestId) ?? -1;
  if (moves === undefined || row < 0) return late(requestId, 'migration_closed', ctx);
  const was = moves.status(row);
  const isLate = attempt < moves.attempts(row);
  if (!isLate) moves.setStatus(row, 'moved');
  // Whichever try has brought it there.
  if (was === 'ended') cancel(state, requestId, moves.to(row), 'migrated_after_end', ctx);
  else if (isLate || was !== 'moving') late(requestId, 'migration_closed', ctx);
}

/** A request could not be moved: it is tried elsewhere, and in the end the release is given up. */
export function moveFailed(state: ScaleDownState, event: EventOf<'migration.failed'>, ctx: Ctx): void {
  const { releaseId, requestId, attempt = 1 } = event;
  const release = current(state, releaseId);
  const row = release?.moves.row(requestId) ?? -1;
  if (release === undefined || row < 0) return late(requestId, 'migration_closed', ctx);
  const { moves } = release;
  if (attempt < moves.attempts(row)) return late(requestId, 'migration_closed', ctx);
  const status = moves.status(row);
  if (status !== 'moving') {
    // One that has ended has nothing to move; it stays ended, should it turn up all the same.
    if (status !== 'ended') late(requestId, 'migration_closed', ctx);
    return;
  }
  // On the way back it stays where it is.
  if (release.phase === 'reclaiming') return moves.setStatus(row, 'failed');
  const attempts = moves.attempts(row);
  const budget = state.config.maxMigrationAttempts;
  const to = attempts < budget ? elsewhere(state, release, moves.to(row)) : undefined;
  if (to !== undefined) {
    moves.retry(row, to);
    const { engines } = state.topology;
    const migration = {
      requestId,
      from: engines[moves.from(row)]!.engineId,
      to: engines[to]!.engineId,
      tokens: moves.tokens(row),
    };
    const reason = { code: 'migration_failed', attempts, budget } as const;
    ctx.emit({ type: 'request.migrate', at: ctx.at, releaseId, ...migration, attempt: attempts + 1, reason });
    return;
  }
  moves.setStatus(row, 'failed');
  if (release.phase === 'releasing') return reclaim(state, { code: 'migration_failed', requestId, attempts }, ctx);
  ctx.emit({
    type: 'migration.abandoned',
    at: ctx.at,
    releaseId,
    requestId,
    reason: attempts < budget ? { code: 'no_engine', attempts } : { code: 'tries_used_up', attempts, budget },
  });
}

/** The engine that takes new requests and has most projected KV free; another than before if there is one. */
function elsewhere(state: ScaleDownState, { engines, free }: Release, before: number): number | undefined {
  let best: number | undefined;
  for (let place = 0; place < free.length; place += 1) {
    if (state.status[place] !== 'up' || engines.includes(place)) continue;
    if (best === undefined || best === before || (place !== before && free[place]! > free[best]!)) best = place;
  }
  return best;
}

/** A request has ended, or must: if it is moving, it stays ended. */
export function requestEnded(state: ScaleDownState, requestId: string, code: 'aborted' | 'completed', ctx: Ctx): void {
  state.query?.ended.add(requestId);
  if (state.release === undefined) return;
  const { moves } = state.release;
  const row = moves.row(requestId);
  if (row < 0) return;
  const was = moves.status(row);
  if (was !== 'moving' && was !== 'failed') return;
  moves.setStatus(row, 'ended');
  if (was === 'moving') cancel(state, requestId, moves.to(row), code, ctx);
}

type CancelCode = DecisionOf<'migration.cancel'>['reason']['code'];

function cancel(state: ScaleDownState, requestId: string, to: number, code: CancelCode, ctx: Ctx): void {
  const { releaseId } = state.release!;
  const { engineId } = state.topology.engines[to]!;
  ctx.emit({ type: 'migration.cancel', at: ctx.at, releaseId, requestId, to: engineId, reason: { code } });
}

/** The GPUs train: that was the round's one scale-down. */
export function released(state: ScaleDownState, { releaseId = '' }: EventOf<'gpus.released'>, ctx: Ctx): void {
  const release = current(state, releaseId);
  if (release?.phase !== 'releasing') return late(releaseId, 'released_late', ctx);
  release.phase = 'released';
  state.round!.settled = true;
}

/** The GPUs could not be released: back to synchronous training. */
export function releaseFailed(state: ScaleDownState, { releaseId }: EventOf<'gpus.release.failed'>, ctx: Ctx): void {
  if (current(state, releaseId)?.phase !== 'releasing') return late(releaseId, 'release_closed', ctx);
  reclaim(state, { code: 'release_failed' }, ctx);
}

/** The GPUs roll out again. */
export function returned(state: ScaleDownState, { releaseId = '' }: EventOf<'gpus.returned'>, ctx: Ctx): void {
  const release = current(state, releaseId);
  if (release?.phase !== 'reclaiming') return late(releaseId, 'release_closed', ctx);
  for (const place of release.engines) state.status[place] = 'up';
  state.release = undefined;
}

/** Everything in flight is gone, and the host does not know what it was doing. */
export function restarted(state: ScaleDownState, idPrefix: string, ctx: Ctx): void {
  state.idPrefix = idPrefix;
  state.query = undefined;
  if (state.round !== undefined) state.round.fixed = false;
  state.aborting.clear();
  state.abortingBefore.clear();
  const { release } = state;
  if (release === undefined) return;
  release.moves = Moves.none();
  if (release.phase === 'released') reclaim(state, { code: 'host_restarted' }, ctx);
  else if (release.phase === 'releasing') reclaim(state, { code: 'restarted_before_release' }, ctx);
  else reclaim(state, { code: 'asked_again' }, ctx);
}
