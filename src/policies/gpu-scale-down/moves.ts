/** Handles moving requests: the lists in the decision, the records that are kept until arrival, and the reports. */
import { StringHash, StringIndex } from '../../core/ids/string-index.ts';
import { refuse } from '../../errors.ts';
import type { MigrationBatch } from '../../schemas/gpus.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Columns, Report } from './columns.ts';
import { checkMinted, current, late, reclaim } from './engines.ts';
import type { Ctx } from './schema.ts';
import { endedSets, Moves, type Release, type ScaleDownState } from './state.ts';

/** Indices of the engines that requests leave, and of the engines that may receive requests. */
export interface Sides {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/**
 * Lists the first `size` rows of the report's columns by the engines that they leave and go to. Requests that have ended since the
 * query, or must end, are not listed; among the moves they have the status `ended`.
 */
export function migrate(state: ScaleDownState, report: Report, size: number, sides: Sides) {
  const { from, to, tokens, ids, hashes, room } = report.columns;
  const hash = read(report, size);
  const index = new StringIndex(ids, size, hash, hashes, room);
  const moves = new Moves(ids, index, from.subarray(0, size), to.subarray(0, size), tokens.subarray(0, size));
  unlist(state, moves, report.columns.pairs);
  return { moves, migrations: batches(state, report.columns, size, sides) };
}

/** Reads the ids, their hashes and the tokens, in the order of the report, in which requests are adjacent in memory. */
function read({ requests, columns }: Report, size: number): StringHash {
  const { rows, ids, hashes, tokens } = columns;
  const hash = new StringHash(size, (row) => requests[rows[row]!]!.requestId);
  for (let row = 0; row < size; row += 1) {
    const request = requests[rows[row]!]!;
    const { requestId } = request;
    ids[row] = requestId;
    hashes[row] = hash.of(requestId);
    tokens[row] = request.tokens;
  }
  return hash;
}

/** Marks moves whose requests have ended; such moves belong to no pair of engines. */
function unlist(state: ScaleDownState, moves: Moves, pairs: Int32Array): void {
  for (const ended of endedSets(state)) {
    for (const id of ended) {
      const row = moves.row(id);
      if (row < 0) continue;
      moves.setStatus(row, 'ended');
      pairs[row] = -1;
    }
  }
}

/** Lists the moves between each pair of engines, by the index of the engine left, then by that of the target. */
function batches(
  { topology }: ScaleDownState,
  { pairs, tokens, ids }: Columns,
  size: number,
  sides: Sides,
): MigrationBatch[] {
  const many = new Int32Array(sides.from.length * sides.to.length);
  for (let row = 0; row < size; row += 1) {
    const pair = pairs[row]!;
    if (pair >= 0) many[pair]! += 1;
  }
  const list: MigrationBatch[] = [];
  // Each list is allocated at its full length, because growing would copy it.
  const byPair = Array.from(many, (length, pair): MigrationBatch | undefined => {
    if (length === 0) return undefined;
    const from = topology.engines[sides.from[Math.floor(pair / sides.to.length)]!]!.engineId;
    const to = topology.engines[sides.to[pair % sides.to.length]!]!.engineId;
    const batch = { from, to, requestIds: new Array<string>(length), tokens: new Array<number>(length) };
    list.push(batch);
    return batch;
  });
  many.fill(0);
  for (let row = 0; row < size; row += 1) {
    const pair = pairs[row]!;
    if (pair < 0) continue;
    const { requestIds, tokens: ofEach } = byPair[pair]!;
    const at = many[pair]!;
    many[pair] = at + 1;
    requestIds[at] = ids[row]!;
    ofEach[at] = tokens[row]!;
  }
  return list;
}

export function checkMove(state: ScaleDownState, event: Message<'request.migrated' | 'migration.failed'>): void {
  const { releaseId, requestId, attempt = 1 } = event;
  const release = current(state, releaseId);
  if (release === undefined) return checkMinted(state, 'releaseId', releaseId);
  const row = release.moves.row(requestId);
  if (row < 0) {
    // After a restart, the requests of a release that is still on its way back are forgotten.
    if (release.phase === 'reclaiming') return;
    refuse('unknown_id', 'requestId', 'a request of the release', requestId);
  }
  const attempts = release.moves.attempts(row);
  if (attempt > attempts) refuse('invalid_event', 'attempt', `a try up to ${attempts}`, attempt);
}

/** Records that a request has arrived on an engine. A request that ended on the way must not continue there. */
export function migrated(state: ScaleDownState, event: Message<'request.migrated'>, ctx: Ctx): void {
  const { releaseId, requestId, attempt = 1 } = event;
  const moves = current(state, releaseId)?.moves;
  const row = moves?.row(requestId) ?? -1;
  if (moves === undefined || row < 0) return late(requestId, 'migration_closed', ctx);
  const was = moves.status(row);
  const isLate = attempt < moves.attempts(row);
  if (!isLate) moves.setStatus(row, 'moved');
  // It does not matter which try has moved the request.
  if (was === 'ended') cancel(state, requestId, moves.to(row), 'migrated_after_end', ctx);
  else if (isLate || was !== 'moving') late(requestId, 'migration_closed', ctx);
}

/**
 * Handles a request that could not be moved: the request is tried on another engine; after the last try, the release is given up.
 */
export function moveFailed(state: ScaleDownState, event: Message<'migration.failed'>, ctx: Ctx): void {
  const { releaseId, requestId, attempt = 1 } = event;
  const release = current(state, releaseId);
  const row = release?.moves.row(requestId) ?? -1;
  if (release === undefined || row < 0) return late(requestId, 'migration_closed', ctx);
  const { moves } = release;
  if (attempt < moves.attempts(row)) return late(requestId, 'migration_closed', ctx);
  const status = moves.status(row);
  if (status !== 'moving') {
    // An ended request needs no move; the request stays ended even if it still arrives.
    if (status !== 'ended') late(requestId, 'migration_closed', ctx);
    return;
  }
  // While the GPUs are on their way back, the request stays on its engine.
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

/**
 * Returns the engine with the most projected free KV among those that take new requests; not the former target, if there is
 * another.
 */
function elsewhere(state: ScaleDownState, { engines, free }: Release, before: number): number | undefined {
  let best: number | undefined;
  for (let engineIndex = 0; engineIndex < free.length; engineIndex += 1) {
    if (state.status[engineIndex] !== 'up' || engines.includes(engineIndex)) continue;
    if (best === undefined || best === before || (engineIndex !== before && free[engineIndex]! > free[best]!))
      best = engineIndex;
  }
  return best;
}

/** Handles a request that has ended, or must end: a moving one is marked as ended. */
function requestEnded(state: ScaleDownState, requestId: string, code: 'aborted' | 'completed', ctx: Ctx): void {
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

function cancel(
  state: ScaleDownState,
  requestId: string,
  to: number,
  code: Message<'migration.cancel'>['reason']['code'],
  ctx: Ctx,
): void {
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
