/** Handles engines and their GPUs: layout and status, release, reclaim, return and loss. */
import { replacePrefix, wasMinted } from '../../core/ids/minted-ids.ts';
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Ctx } from './schema.ts';
import { Moves, type Release, type ScaleDownState, topologyOf } from './state.ts';

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
  release.moves = Moves.none();
  if (release.phase === 'released') reclaim(state, { code: 'host_restarted' }, ctx);
  else if (release.phase === 'releasing') reclaim(state, { code: 'restarted_before_release' }, ctx);
  else reclaim(state, { code: 'asked_again' }, ctx);
}

/**
 * Refuses other engines while something depends on the present engines. Other engines may come if no release is under way or in
 * training, and the open round, if any, has not been evaluated since it began or since the latest restart of the host.
 */
export function checkPlaced({ config, release, round }: ScaleDownState, event: Message<'engines.placed'>): void {
  if (release !== undefined) {
    refuse(
      'out_of_order',
      'type',
      `no release under way (gpus.returned of ${release.releaseId} first)`,
      `a release that is ${release.phase}`,
    );
  }
  if (round?.fixed) {
    refuse(
      'out_of_order',
      'type',
      `no open round that has been evaluated (round.completed of ${round.roundId} first)`,
      `a round that was evaluated at ${round.evaluated} finished`,
    );
  }
  const inBytes = event.engines.findIndex((one) => one.kvCapacityBytes !== undefined);
  if (inBytes >= 0 && config.bytesPerToken === undefined) {
    refuse(
      'invalid_event',
      `engines[${inBytes}].kvCapacityBytes`,
      'kvCapacityTokens, as the configuration has no bytesPerToken',
      'kvCapacityBytes',
    );
  }
  const gpus = new Set(event.engines.flatMap((one) => one.gpuIds));
  const missing = config.communicationGroups.flat().find((gpu) => !gpus.has(gpu));
  if (missing === undefined) return;
  refuse('invalid_event', 'engines', `an engine on ${missing}, which a communication group names`, 'none');
}

type EngineEvent = Message<'engine.added' | 'engine.drained' | 'engine.lost'>;

/** Replaces the engines; all new ones are up. The history of lengths stays, because it does not depend on engines. */
export function placeEngines(state: ScaleDownState, { engines }: Message<'engines.placed'>): void {
  const before = state.topology.engines;
  state.placed = structuredClone(engines);
  state.topology = topologyOf(state.placed, state.config);
  const gone = before.map((one) => one.engineId).filter((id) => !state.topology.engineIndexOf.has(id));
  // If the same engines are placed again, nothing is replaced.
  const replaced = gone.length > 0 ? gone : [...state.replaced].filter((id) => !state.topology.engineIndexOf.has(id));
  state.replaced = new Set(replaced);
  state.status = state.topology.engines.map(() => 'up');
}

export function checkEngine(state: ScaleDownState, { engineId }: EngineEvent): void {
  if (!state.replaced.has(engineId)) assertEngine(state, engineId, 'engineId');
}

/** Updates an engine that was added, drained or lost. Engines of the former layout are ignored. */
export function engineChanged(state: ScaleDownState, { type, engineId }: EngineEvent, ctx: Ctx): void {
  const engineIndex = state.topology.engineIndexOf.get(engineId);
  if (engineIndex === undefined) {
    late(engineId, 'engine_replaced', ctx);
  } else if (type === 'engine.lost') engineLost(state, engineIndex, ctx);
  else if (type === 'engine.added') state.status[engineIndex] = 'up';
  else if (state.status[engineIndex] === 'up') state.status[engineIndex] = 'drained';
}

/** Handles a lost engine. While GPUs are being released, no engine may be missing; afterwards at least one must remain. */
function engineLost(state: ScaleDownState, engineIndex: number, ctx: Ctx): void {
  state.status[engineIndex] = 'lost';
  const { release } = state;
  if (release === undefined) return;
  const { engineId } = state.topology.engines[engineIndex]!;
  if (release.phase === 'releasing') return reclaim(state, { code: 'engine_lost', engineId }, ctx);
  if (release.phase !== 'released' || release.engines.includes(engineIndex)) return;
  const remains = state.status.some((status, at) => status !== 'lost' && !release.engines.includes(at));
  if (!remains) reclaim(state, { code: 'engines_lost', engineId }, ctx);
}
