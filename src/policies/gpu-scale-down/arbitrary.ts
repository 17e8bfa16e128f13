/** Likely next events for property tests: usual events of a host, and late, wrong and repeated reports. */

import type { Choices } from '../../core/generators/choices.ts';
import type { GpuScaleDownEvent } from '../../generated/settings/gpu-scale-down.ts';
import type { ScaleDownState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: ScaleDownState, choices: Choices): GpuScaleDownEvent {
  const at = choices.below(100);
  const usual = choices.below(4) > 0;
  if (usual && state.query !== undefined) return reported(state, choices, at);
  if (usual && state.release !== undefined) return ofRelease(state, choices, at);
  if (usual && state.topology.engines.length === 0) return placed(state, choices, at);
  if (usual && state.round !== undefined) return progress(state, choices, at);
  return anything(state, choices, at);
}

function requestId(choices: Choices): string {
  return `p${choices.below(12)}/0#0`;
}

function engineId({ topology, replaced }: ScaleDownState, choices: Choices): string {
  if (choices.below(30) === 0) return [...replaced][0] ?? 'unheard-of';
  const engineIndex = choices.below(topology.engines.length + (choices.below(20) === 0 ? 1 : 0));
  return topology.engines[engineIndex]?.engineId ?? 'unheard-of';
}

/** Cuts the same GPUs into engines with one, two or four GPUs; sometimes while that is not allowed. */
function placed({ topology, config }: ScaleDownState, choices: Choices, at: number): GpuScaleDownEvent {
  const known = topology.engines.flatMap(({ serverId, gpuIds }) => gpuIds.map((gpu) => [serverId, gpu] as const));
  const named = [...new Set(config.communicationGroups.flat()), 'g0', 'g1', 'g2', 'g3'];
  const gpus = known.length > 0 ? known : [...new Set(named)].map((gpu, index) => [`s${index >> 1}`, gpu] as const);
  const size = 2 ** choices.below(3);
  const kvCapacityTokens = 50 + choices.below(500);
  const engines = Array.from({ length: Math.ceil(gpus.length / size) }, (_, index) => {
    const mine = gpus.slice(index * size, (index + 1) * size);
    return {
      engineId: `tp${size}-${index}`,
      serverId: mine[0]![0],
      gpuIds: mine.map(([, gpu]) => gpu),
      kvCapacityTokens,
    };
  });
  if (choices.below(8) === 0) engines.pop();
  if (engines.length === 0) return { type: 'engine.added', at, engineId: 'unheard-of' };
  return { type: 'engines.placed', at, engines };
}

function reported(state: ScaleDownState, choices: Choices, at: number): GpuScaleDownEvent {
  const requests = Array.from({ length: choices.below(12) }, (_, index) => ({
    requestId: `p${index}/0#0`,
    engineId: engineId(state, choices),
    tokens: choices.below(60),
    promptTokens: choices.below(10),
  }));
  return { type: 'progress.reported', at, queryId: state.query?.queryId ?? 'query-0', requests };
}

function progress(state: ScaleDownState, choices: Choices, at: number): GpuScaleDownEvent {
  const roundId = state.round?.roundId ?? 'r0';
  const promptId = `p${choices.below(12)}`;
  switch (choices.below(6)) {
    case 0:
      return { type: 'response.completed', at, requestId: requestId(choices), tokens: choices.below(60) };
    case 1:
      return {
        type: 'prompt.counted',
        at,
        promptId,
        roundId,
        responses: [],
        reason: { code: 'no_filter', counted: 1, needed: 2 },
      };
    default:
      return {
        type: 'response.accepted',
        at,
        requestId: requestId(choices),
        promptId,
        reason: { code: 'held', held: 1, needed: 2 },
      };
  }
}

function ofRelease({ release, topology }: ScaleDownState, choices: Choices, at: number): GpuScaleDownEvent {
  const releaseId = release?.releaseId ?? 'release-1';
  const moving = [...(release?.moves.keys() ?? [])];
  const id = moving[choices.below(moving.length + 1)] ?? requestId(choices);
  const tries = release?.moves.get(id)?.attempts ?? 1;
  // The latest try is the most likely one.
  const attempt = Math.max(1, tries - (choices.below(6) === 0 ? 1 : 0));
  const tried = attempt > 1 ? { attempt } : undefined;
  const gpuIds = release?.engines.flatMap((engineIndex) => topology.engines[engineIndex]!.gpuIds) ?? [];
  switch (choices.below(12)) {
    case 0:
      return { type: 'gpus.release.failed', at, releaseId };
    case 1:
      return { type: 'migration.failed', at, releaseId, requestId: id, ...tried };
    case 2:
      return abort(id, at);
    case 3:
      return { type: 'response.completed', at, requestId: id, tokens: choices.below(60) };
    case 4:
    case 5:
    case 6:
      return { type: 'gpus.released', at, roundId: 'r', releaseId, gpuIds };
    case 7:
    case 8:
      return { type: 'gpus.returned', at, roundId: 'r', releaseId, gpuIds };
    default:
      return { type: 'request.migrated', at, releaseId, requestId: id, ...tried };
  }
}

function abort(id: string, at: number): GpuScaleDownEvent {
  const reason = { code: 'prompt_collected', held: 2, needed: 2 } as const;
  return { type: 'request.abort', at, requestId: id, promptId: id.slice(0, id.indexOf('/')), reason };
}

function anything(state: ScaleDownState, choices: Choices, at: number): GpuScaleDownEvent {
  const roundId = choices.below(8) === 0 ? 'r0' : `r${state.recentRounds.size}-${state.nextId}`;
  const kind = choices.below(2) === 0 ? 'short' : 'long';
  switch (choices.below(14)) {
    case 0:
      return reported(state, choices, at);
    case 1:
      return ofRelease(state, choices, at);
    case 2:
      return progress(state, choices, at);
    case 3:
      return abort(requestId(choices), at);
    case 4:
      return { type: 'request.aborted', at, requestId: requestId(choices), tokens: choices.below(60) };
    case 5:
      return { type: 'engine.lost', at, engineId: engineId(state, choices) };
    case 6:
      return { type: 'engine.drained', at, engineId: engineId(state, choices) };
    case 7:
    case 8:
      return { type: 'engine.added', at, engineId: engineId(state, choices) };
    case 9:
      if (choices.below(3) > 0) return { type: 'request.aborted', at, requestId: requestId(choices) };
      return { type: 'host.restarted', at, idPrefix: `h${choices.below(1000)}-` };
    case 13:
      return placed(state, choices, at);
    case 10:
      return {
        type: 'round.completed',
        at,
        roundId: choices.below(3) === 0 ? 'r-unheard-of' : (state.round?.roundId ?? [...state.recentRounds][0] ?? 'r0'),
        kind,
        weightVersion: 0,
        prompts: [],
        openedSeconds: 0,
        deferred: 0,
        reason: { code: 'quota_reached', counted: 2, needed: 2 },
      };
    default:
      return { type: 'round.opened', at, roundId, kind, weightVersion: 0, prompts: [] };
  }
}
