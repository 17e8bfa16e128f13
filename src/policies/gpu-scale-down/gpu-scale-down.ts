/**
 * Scale-down of rollout GPUs (RollPacker §4.4, Algorithm 1): while the last responses of a round are generated, half of
 * the GPUs go over to training, once the KV cache of the others has room for all that is in flight. See README.md.
 */
import { type AnyDecision, definePolicyByHand, type Ledger } from '../../core/definition.ts';
import { refuse } from '../../errors.ts';
import { assertPlaceable, engineChanged, placeEngines } from './engines.ts';
import { advance, answered, endRound, openRound } from './progress.ts';
import { migrated, moveFailed, released, releaseFailed, requestEnded, restarted, returned } from './release.ts';
import { readReport } from './report.ts';
import { scaleDownConfig } from './schema.ts';
import { load, newScaleDown, type SavedScaleDown, type ScaleDownState, save, scaleDownSnapshot } from './state.ts';
import { type Ctx, type ScaleDownDecision, type ScaleDownEvent, scaleDownDecisions, scaleDownEvents } from './words.ts';

const mintedId = /(?:query|release)-(\d{1,15})$/;

/**
 * Numbers only grow: an id with a smaller one was minted, or is as good as one that was. Prefixes of before are not
 * remembered, as a late answer changes nothing: `wasMinted` of the core would need them.
 */
function assertMinted(state: ScaleDownState, path: 'queryId' | 'releaseId', id: string): void {
  const number = mintedId.exec(id)?.[1];
  if (number !== undefined && Number(number) < state.nextId) return;
  refuse('unknown_id', path, `a ${path} that was minted here`, id);
}

function assertEngine(state: ScaleDownState, engineId: string, path: string): void {
  if (state.topology.placeOf.has(engineId)) return;
  refuse('unknown_id', path, 'an engine that rolls out', engineId);
}

function assertTried(attempt = 1, attempts: number): void {
  if (attempt <= attempts) return;
  refuse('invalid_event', 'attempt', `a try up to ${attempts}`, attempt);
}

function check(state: ScaleDownState, event: ScaleDownEvent): void {
  switch (event.type) {
    case 'round.opened':
      if (!state.recentRounds.has(event.roundId)) return;
      return refuse('duplicate_id', 'roundId', 'a new round id', event.roundId);
    case 'round.completed':
      if (state.recentRounds.has(event.roundId)) return;
      return refuse('unknown_id', 'roundId', 'a round that was opened', event.roundId);
    case 'progress.reported': {
      assertMinted(state, 'queryId', event.queryId);
      if (state.query?.queryId !== event.queryId) return;
      state.checked = readReport(state, event.requests);
      const { unknown } = state.checked;
      if (unknown < 0) return;
      state.checked = undefined;
      return assertEngine(state, event.requests[unknown]!.engineId, `requests[${unknown}].engineId`);
    }
    case 'request.migrated':
    case 'migration.failed': {
      assertMinted(state, 'releaseId', event.releaseId);
      const { release } = state;
      if (release?.releaseId !== event.releaseId) return;
      const row = release.moves.row(event.requestId);
      if (row >= 0) return assertTried(event.attempt, release.moves.attempts(row));
      // A restart has forgotten the requests of a release that is still on its way back.
      if (release.phase === 'reclaiming') return;
      return refuse('unknown_id', 'requestId', 'a request of the release', event.requestId);
    }
    case 'gpus.released':
    case 'gpus.returned':
      // Others are told of GPUs without a release; here each has one.
      assertMinted(state, 'releaseId', event.releaseId ?? '');
      return assertGpus(state, event.releaseId, event.gpuIds);
    case 'gpus.release.failed':
      return assertMinted(state, 'releaseId', event.releaseId);
    case 'engine.added':
    case 'engine.drained':
    case 'engine.lost':
      if (state.replaced.has(event.engineId)) return;
      return assertEngine(state, event.engineId, 'engineId');
    case 'engines.placed':
      return assertPlaceable(state, event);
  }
}

function assertGpus(
  { release, topology }: ScaleDownState,
  releaseId: string | undefined,
  gpuIds: readonly string[],
): void {
  if (release === undefined || release.releaseId !== releaseId) return;
  const expected = release.engines.flatMap((place) => topology.engines[place]!.gpuIds).sort();
  if (expected.join('\n') === [...gpuIds].sort().join('\n')) return;
  refuse('invalid_event', 'gpuIds', `the GPUs ${expected.join(', ')}`, gpuIds);
}

function apply(state: ScaleDownState, event: ScaleDownEvent, ctx: Ctx): void {
  // What was read before depends on what has ended since.
  if (event.type !== 'progress.reported') state.checked = undefined;
  switch (event.type) {
    case 'response.accepted':
      if (state.config.progressUnit === 'responses') advance(state, ctx);
      return;
    case 'prompt.counted':
      if (state.config.progressUnit === 'prompts' && event.roundId === state.round?.roundId) advance(state, ctx);
      return;
    case 'response.completed':
      state.histories[state.kind].add(event.tokens);
      forget(state, event.requestId);
      return requestEnded(state, event.requestId, 'completed', ctx);
    case 'request.abort':
      state.aborting.add(event.requestId);
      return requestEnded(state, event.requestId, 'aborted', ctx);
    case 'request.aborted':
      if (event.tokens !== undefined) state.histories[state.kind].add(event.tokens);
      forget(state, event.requestId);
      return requestEnded(state, event.requestId, 'aborted', ctx);
    case 'round.opened':
      return openRound(state, event, ctx);
    case 'round.completed':
      if (event.roundId === state.round?.roundId) return endRound(state, 'round_completed', ctx);
      ctx.emit({ type: 'scale-down.late', at: ctx.at, id: event.roundId, reason: { code: 'round_closed' } });
      return;
    case 'progress.reported':
      return answered(state, event, ctx);
    case 'request.migrated':
      return migrated(state, event, ctx);
    case 'migration.failed':
      return moveFailed(state, event, ctx);
    case 'gpus.released':
      return released(state, event, ctx);
    case 'gpus.release.failed':
      return releaseFailed(state, event, ctx);
    case 'gpus.returned':
      return returned(state, event, ctx);
    case 'engines.placed':
      return placeEngines(state, event);
    case 'engine.added':
    case 'engine.drained':
    case 'engine.lost':
      return engineChanged(state, event, ctx);
    case 'host.restarted':
      return restarted(state, event.idPrefix, ctx);
  }
}

function forget(state: ScaleDownState, requestId: string): void {
  if (!state.aborting.delete(requestId)) state.abortingBefore.delete(requestId);
}

/** Reasons of `gpus.reclaim` where the GPUs had been released. */
const afterRelease: ReadonlySet<string> = new Set([
  'round_completed',
  'round_replaced',
  'engines_lost',
  'host_restarted',
]);

/** GPUs that train: they enter when they are released, and leave when they are asked back. */
const lent: Ledger<SavedScaleDown, ScaleDownEvent, ScaleDownDecision & AnyDecision> = {
  name: 'released GPUs',
  entered: (event) => (event.type === 'gpus.released' ? [event.releaseId ?? ''] : []),
  left: (decision) => {
    if (decision.type === 'gpus.reclaim') return afterRelease.has(decision.reason.code) ? [decision.releaseId] : [];
    return decision.type === 'scale-down.late' && decision.reason.code === 'released_late' ? [decision.id] : [];
  },
  held: ({ release }) => (release?.phase === 'released' ? [release.releaseId] : []),
};

/** Releases half of the rollout GPUs for training when the remaining KV cache has room for all that is in flight. */
export const gpuScaleDown = definePolicyByHand({
  id: 'gpu-scale-down',
  version: 1,
  summary: 'Releases half of the rollout GPUs for training once the other half has room for all requests in flight.',
  source: 'RollPacker §4.4',
  config: scaleDownConfig,
  events: scaleDownEvents,
  decisions: scaleDownDecisions,
  state: scaleDownSnapshot,
  init: newScaleDown,
  check,
  apply,
  save,
  load,
  ledgers: [lent],
});
