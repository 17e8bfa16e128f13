/** Engines: which there are, and how they are. */
import { refuse } from '../../errors.ts';
import { reclaim } from './release.ts';
import type { ScaleDownState } from './state.ts';
import { topologyOf } from './topology.ts';
import type { Ctx, EventOf } from './words.ts';

type EngineEvent = EventOf<'engine.added' | 'engine.drained' | 'engine.lost'>;

/**
 * Other engines may come when nothing depends on those that are there: no release is under way or trains, and the open
 * round, if there is one, has not been evaluated (since the host restarted, if it did).
 */
export function assertPlaceable({ config, release, round }: ScaleDownState, event: EventOf<'engines.placed'>): void {
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

/** Other engines roll out from now on, all of them up. What is known of lengths does not depend on engines. */
export function placeEngines(state: ScaleDownState, { engines }: EventOf<'engines.placed'>): void {
  const before = state.topology.engines;
  state.placed = structuredClone(engines);
  state.topology = topologyOf(state.placed, state.config);
  const gone = before.map((one) => one.engineId).filter((id) => !state.topology.placeOf.has(id));
  // The same engines placed again replace nothing.
  const kept = gone.length > 0 ? gone : [...state.replaced].filter((id) => !state.topology.placeOf.has(id));
  state.replaced = new Set(kept);
  state.status = state.topology.engines.map(() => 'up');
}

/** An engine has come, takes nothing new, or is gone. Those of the layout before are no concern here. */
export function engineChanged(state: ScaleDownState, { type, engineId }: EngineEvent, ctx: Ctx): void {
  const place = state.topology.placeOf.get(engineId);
  if (place === undefined) {
    ctx.emit({ type: 'scale-down.late', at: ctx.at, id: engineId, reason: { code: 'engine_replaced' } });
  } else if (type === 'engine.lost') engineLost(state, place, ctx);
  else if (type === 'engine.added') state.status[place] = 'up';
  else if (state.status[place] === 'up') state.status[place] = 'drained';
}

/** An engine is gone. While GPUs are released none may be missing; afterwards one must remain. */
function engineLost(state: ScaleDownState, place: number, ctx: Ctx): void {
  state.status[place] = 'lost';
  const { release } = state;
  if (release === undefined) return;
  const { engineId } = state.topology.engines[place]!;
  if (release.phase === 'releasing') return reclaim(state, { code: 'engine_lost', engineId }, ctx);
  if (release.phase !== 'released' || release.engines.includes(place)) return;
  const remains = state.status.some((status, at) => status !== 'lost' && !release.engines.includes(at));
  if (!remains) reclaim(state, { code: 'engines_lost', engineId }, ctx);
}
