/** The decision at a milestone: which GPUs, where their requests go, and whether the KV cache has room for them. */
import { probit } from '../../core/normal.ts';
import type { RunningRequest } from '../../schemas/gpus.ts';
import { assign, type Target } from './assign.ts';
import { chooseEngines, wantedGpus } from './choose.ts';
import { EngineLoad, groupCount, groupOf } from './load.ts';
import { Outlook } from './outlook.ts';
import type { Move, Query, ScaleDownState } from './state.ts';
import type { Topology } from './topology.ts';
import type { Ctx, DecisionOf } from './words.ts';

// The sum of the requests on an engine at one time says little about it much later; measured on many distributions.
const distinctTimes = 4;

type RejectReason = DecisionOf<'scale-down.rejected'>['reason'];

/** Requests by engine, as a report has them. */
interface Report {
  /** Place of each request's engine; −1 for those that have ended, or whose engine is gone. */
  readonly places: Int32Array;
  readonly loads: readonly EngineLoad[];
  readonly total: EngineLoad;
  readonly generated: Float64Array;
}

/** The place of each request's engine, −1 where it is not known. */
export function placesOf({ placeOf }: Topology, requests: readonly RunningRequest[]): Int32Array {
  const places = new Int32Array(requests.length);
  let engineId: string | undefined;
  let place = -1;
  for (let index = 0; index < requests.length; index += 1) {
    const here = requests[index]!.engineId;
    if (here !== engineId) {
      engineId = here;
      place = placeOf.get(here) ?? -1;
    }
    places[index] = place;
  }
  return places;
}

function read(state: ScaleDownState, query: Query, requests: readonly RunningRequest[]): Report {
  const { topology, config, status } = state;
  const { maxResponseTokens } = config;
  const groups = groupCount(maxResponseTokens);
  const loads = topology.engines.map(() => new EngineLoad(groups));
  const generated = new Float64Array(groups);
  const places = placesOf(topology, requests);
  const someEnded = query.ended.size + state.aborting.size + state.abortingBefore.size > 0;
  const someLost = status.includes('lost');
  for (let index = 0; index < requests.length; index += 1) {
    const request = requests[index]!;
    const place = places[index]!;
    const gone = someLost && status[place] === 'lost';
    if (gone || (someEnded && hasEnded(state, query, request.requestId))) {
      places[index] = -1;
      continue;
    }
    const group = groupOf(request.tokens, maxResponseTokens);
    loads[place]!.add(group, request.promptTokens + request.tokens);
    generated[group]! += request.tokens;
  }
  const total = new EngineLoad(groups);
  for (const load of loads) total.addAll(load);
  return { places, loads, total, generated };
}

function hasEnded({ aborting, abortingBefore }: ScaleDownState, { ended }: Query, requestId: string): boolean {
  return ended.has(requestId) || aborting.has(requestId) || abortingBefore.has(requestId);
}

/** Answers a report with `gpus.release` or `scale-down.rejected`. */
export function decide(state: ScaleDownState, query: Query, requests: readonly RunningRequest[], ctx: Ctx): void {
  const { topology, config, status } = state;
  const { engines } = topology;
  const reject = (reason: RejectReason): void =>
    ctx.emit({ type: 'scale-down.rejected', at: ctx.at, roundId: query.roundId, reason });
  const isUp = (place: number): boolean => status[place] !== 'lost';
  const { places, loads, total, generated } = read(state, query, requests);
  const chosen = chooseEngines(topology, { isUp, tokens: loads.map((load) => load.kvTokens()) });
  if (chosen === undefined) return reject({ code: 'no_partition', ...wantedGpus(topology, isUp) });
  const leaves = engines.map(() => false);
  for (const place of chosen) leaves[place] = true;
  const keep: number[] = [];
  for (let place = 0; place < engines.length; place += 1) if (!leaves[place] && isUp(place)) keep.push(place);
  const open = keep.filter((place) => status[place] === 'up');
  if (open.length === 0) return reject({ code: 'no_target', engines: keep.length });

  // Each of the remaining engines may go over its peak, and early or late: they share the chance.
  const z = probit(1 - (1 - config.quantile) / (keep.length * distinctTimes));
  const outlook = new Outlook(state.histories[state.kind].curve(), config.maxResponseTokens, total, generated, z);
  const { responsesPerPrompt, promptsPerRound, progressUnit, trigger } = config;
  const target = progressUnit === 'prompts' ? promptsPerRound : promptsPerRound * responsesPerPrompt;
  const progress = { finished: query.finished, target };
  let room = 0;
  for (const place of keep) room += engines[place]!.capacityTokens;
  // Where not even the mean of all fits into all, no placement does.
  const expectedTokens = Math.ceil(outlook.mean(total));
  if (trigger === 'adaptive' && expectedTokens > room) {
    return reject({ code: 'kv_cache_together', ...progress, expectedTokens, capacityTokens: room });
  }
  const targets: Target[] = open.map((place) => ({
    place,
    free: engines[place]!.capacityTokens - outlook.mean(loads[place]!),
  }));
  const moving: number[] = [];
  for (let index = 0; index < requests.length; index += 1) {
    if (places[index]! >= 0 && leaves[places[index]!]) moving.push(index);
  }
  const groups = new Uint16Array(moving.length);
  const kvTokens = new Float64Array(moving.length);
  const weights = new Float64Array(moving.length);
  for (let index = 0; index < moving.length; index += 1) {
    const { tokens, promptTokens } = requests[moving[index]!]!;
    groups[index] = groupOf(tokens, config.maxResponseTokens);
    kvTokens[index] = promptTokens + tokens;
    weights[index] = outlook.weight(groups[index]!, kvTokens[index]!);
  }
  const moves = assign(weights, targets);
  for (let index = 0; index < moving.length; index += 1) {
    const request = moves.requests[index]!;
    loads[moves.places[index]!]!.add(groups[request]!, kvTokens[request]!);
  }
  const free = engines.map(() => 0);
  let fullest = { engineId: '', projectedTokens: 0, capacityTokens: 1 };
  let fits = true;
  for (const place of keep) {
    const { engineId, capacityTokens } = engines[place]!;
    const projectedTokens = outlook.peak(loads[place]!);
    free[place] = capacityTokens - projectedTokens;
    fits &&= projectedTokens <= capacityTokens;
    const fuller = projectedTokens * fullest.capacityTokens > fullest.projectedTokens * capacityTokens;
    if (fullest.engineId === '' || fuller) fullest = { engineId, projectedTokens, capacityTokens };
  }
  const numbers = { ...progress, ...fullest };
  if (trigger === 'adaptive' && !fits) return reject({ code: 'kv_cache', ...numbers });

  const releaseId = `${state.idPrefix}release-${state.nextId++}`;
  const inFlight = new Map<string, Move>();
  const migrations: DecisionOf<'gpus.release'>['migrations'] = [];
  for (let index = 0; index < moving.length; index += 1) {
    const at = moving[moves.requests[index]!]!;
    const { requestId, engineId, tokens } = requests[at]!;
    const to = moves.places[index]!;
    // A report that was not validated may name a request twice; it moves once.
    if (inFlight.has(requestId)) continue;
    inFlight.set(requestId, { from: places[at]!, to, tokens, attempts: 1, status: 'moving' });
    migrations.push({ requestId, from: engineId, to: engines[to]!.engineId, tokens });
  }
  state.release = { releaseId, phase: 'releasing', engines: chosen, moves: inFlight, free };
  ctx.emit({
    type: 'gpus.release',
    at: ctx.at,
    releaseId,
    roundId: query.roundId,
    release: chosen.map((place) => ({ engineId: engines[place]!.engineId, gpuIds: [...engines[place]!.gpuIds] })),
    keep: keep.map((place) => engines[place]!.engineId),
    migrations,
    reason: { code: trigger === 'adaptive' ? 'fits' : 'fixed_fraction', ...numbers },
  });
}
