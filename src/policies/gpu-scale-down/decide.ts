/** The decision at a milestone: which GPUs, where their requests go, and whether the KV cache has room for them. */
import type { Migration, RunningRequest } from '../../schemas/gpus.ts';
import { assign, type Target, Weights } from './assign.ts';
import { chooseEngines, wantedGpus } from './choose.ts';
import type { Report } from './load.ts';
import { Moves } from './moves.ts';
import { Outlook } from './outlook.ts';
import { fillTogether } from './peak.ts';
import { readReport } from './report.ts';
import type { Query, ScaleDownState } from './state.ts';
import type { Engine } from './topology.ts';
import type { Ctx, DecisionOf } from './words.ts';

type RejectReason = DecisionOf<'scale-down.rejected'>['reason'];

/** Deals the requests that leave their engines out to targets, and adds them to their loads; how many they are. */
function deal({ requests, columns, loads }: Report, leaves: Uint8Array, targets: Target[], outlook: Outlook): number {
  const { places, groups, kvTokens, rows, bins, positions } = columns;
  const weights = new Weights();
  let size = 0;
  for (let index = 0; index < requests.length; index += 1) {
    const place = places[index]!;
    if (place < 0 || leaves[place] === 0) continue;
    rows[size] = index;
    bins[size] = weights.add(outlook.weight(groups[index]!, kvTokens[index]!));
    size += 1;
  }
  const starts = assign(weights, targets, columns.targets);
  for (let row = 0; row < size; row += 1) {
    const index = rows[row]!;
    const position = starts[bins[row]!]!;
    starts[bins[row]!] = position + 1;
    positions[row] = position;
    // What it has generated is known to the outlook.
    loads.add(columns.targets[position]!, groups[index]!, 0, kvTokens[index]!);
  }
  return size;
}

/** Requests that move, each where it was assigned to; and the list of them, the largest first. */
function movesOf(
  engines: readonly Engine[],
  { requests, columns }: Report,
  size: number,
): { moves: Moves; migrations: Migration[] } {
  const { places, rows, positions, targets, from, to, tokens } = columns;
  const engineIds = engines.map((engine) => engine.engineId);
  const ids: string[] = new Array(size);
  const migrations: Migration[] = new Array(size);
  // In the order of the report: there requests lie side by side in memory.
  for (let row = 0; row < size; row += 1) {
    const index = rows[row]!;
    const request = requests[index]!;
    const { requestId } = request;
    const place = places[index]!;
    ids[row] = requestId;
    from[row] = place;
    tokens[row] = request.tokens;
    const position = positions[row]!;
    const target = targets[position]!;
    to[row] = target;
    migrations[position] = { requestId, from: engineIds[place]!, to: engineIds[target]!, tokens: request.tokens };
  }
  const moves = new Moves(ids, from.subarray(0, size), to.subarray(0, size), tokens.subarray(0, size));
  return { moves, migrations };
}

/** Answers a report with `gpus.release` or `scale-down.rejected`. */
export function decide(state: ScaleDownState, query: Query, requests: readonly RunningRequest[], ctx: Ctx): void {
  const { topology, config, status } = state;
  const { engines } = topology;
  const reject = (reason: RejectReason): void =>
    ctx.emit({ type: 'scale-down.rejected', at: ctx.at, roundId: query.roundId, reason });
  const isUp = (place: number): boolean => status[place] !== 'lost';
  const report = state.checked?.requests === requests ? state.checked : readReport(state, requests);
  state.checked = undefined;
  const { loads } = report;
  const chosen = chooseEngines(topology, { isUp, tokens: engines.map((_, place) => loads.kvTokens(place)) });
  if (chosen === undefined) return reject({ code: 'no_partition', ...wantedGpus(topology, isUp) });
  const leaves = new Uint8Array(engines.length);
  for (const place of chosen) leaves[place] = 1;
  const keep: number[] = [];
  for (let place = 0; place < engines.length; place += 1) if (!leaves[place] && isUp(place)) keep.push(place);
  const open = keep.filter((place) => status[place] === 'up');
  if (open.length === 0) return reject({ code: 'no_target', engines: keep.length });

  const total = loads.together();
  const outlook = new Outlook(state.histories[state.kind].curve(), config.maxResponseTokens, total);
  const { responsesPerPrompt, promptsPerRound, progressUnit, trigger } = config;
  const target = progressUnit === 'prompts' ? promptsPerRound : promptsPerRound * responsesPerPrompt;
  const progress = { finished: query.finished, target };
  let room = 0;
  for (const place of keep) room += engines[place]!.capacityTokens;
  // Where not even the mean of all fits into all, no placement does.
  const expectedTokens = Math.ceil(outlook.mean(total, 0));
  if (trigger === 'adaptive' && expectedTokens > room) {
    return reject({ code: 'kv_cache_together', ...progress, expectedTokens, capacityTokens: room });
  }
  const targets: Target[] = open.map((place) => ({
    place,
    free: engines[place]!.capacityTokens - outlook.mean(loads, place),
  }));
  const moving = deal(report, leaves, targets, outlook);
  const capacities = keep.map((place) => engines[place]!.capacityTokens);
  const { fill, peaks } = fillTogether(
    keep.map((place) => outlook.moments(loads, place)),
    capacities,
    config.quantile,
  );
  const free = engines.map(() => 0);
  let fullest = 0;
  for (let index = 0; index < keep.length; index += 1) {
    free[keep[index]!] = capacities[index]! - Math.ceil(peaks[index]!);
    if (peaks[index]! * capacities[fullest]! > peaks[fullest]! * capacities[index]!) fullest = index;
  }
  const { engineId, capacityTokens } = engines[keep[fullest]!]!;
  const projectedTokens = Math.ceil(fill * capacityTokens);
  const fits = projectedTokens <= capacityTokens;
  const numbers = { ...progress, engineId, projectedTokens, capacityTokens };
  if (trigger === 'adaptive' && !fits) return reject({ code: 'kv_cache', ...numbers });

  const releaseId = `${state.idPrefix}release-${state.nextId++}`;
  const { moves, migrations } = movesOf(engines, report, moving);
  state.release = { releaseId, phase: 'releasing', engines: chosen, moves, free };
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
