/** The decision at a milestone: which GPUs, where their requests go, and whether the KV cache has room for them. */
import type { RunningRequest } from '../../schemas/gpus.ts';
import { assign, type Target, Weights, weightBin } from './assign.ts';
import { chooseEngines, wantedGpus } from './choose.ts';
import { groupBits, type Report } from './load.ts';
import { migrate } from './migrations.ts';
import { Outlook } from './outlook.ts';
import { fillTogether } from './peak.ts';
import { readReport } from './report.ts';
import { targetOf } from './schema.ts';
import type { Query, ScaleDownState } from './state.ts';
import type { Ctx, DecisionOf } from './words.ts';

type RejectReason = DecisionOf<'scale-down.rejected'>['reason'];

const inPlace = (1 << groupBits) - 1;

/** Deals the requests that leave their engines out to targets, and adds them to their loads; how many they are. */
function deal({ requests, columns, loads }: Report, leaves: Int32Array, targets: Target[], outlook: Outlook): number {
  const { cells, kvTokens, rows, bins, from, to, pairs, targets: goesTo } = columns;
  const places = Int32Array.from(targets, (target) => target.place);
  const weights = new Weights();
  const { counts, sums } = weights;
  const { chanceThen, grownThen } = outlook;
  let size = 0;
  for (let index = 0; index < requests.length; index += 1) {
    const cell = cells[index]!;
    if (cell < 0 || leaves[cell >> groupBits] === 0) continue;
    rows[size] = index;
    const group = cell & inPlace;
    const weight = chanceThen[group]! * (kvTokens[index]! + grownThen[group]!);
    const bin = weightBin(weight);
    bins[size] = bin;
    counts[bin]! += 1;
    sums[bin]! += weight;
    size += 1;
  }
  const starts = assign(weights, targets, goesTo);
  for (let row = 0; row < size; row += 1) {
    const index = rows[row]!;
    const bin = bins[row]!;
    const position = starts[bin]!;
    starts[bin] = position + 1;
    const target = goesTo[position]!;
    const cell = cells[index]!;
    const [left, place] = [cell >> groupBits, places[target]!];
    from[row] = left;
    to[row] = place;
    pairs[row] = (leaves[left]! - 1) * places.length + target;
    loads.take(place, cell & inPlace, kvTokens[index]!);
  }
  return size;
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
  // Which of those that leave it is, from 1.
  const leaves = new Int32Array(engines.length);
  for (const [at, place] of chosen.entries()) leaves[place] = at + 1;
  const keep: number[] = [];
  for (let place = 0; place < engines.length; place += 1) if (!leaves[place] && isUp(place)) keep.push(place);
  const open = keep.filter((place) => status[place] === 'up');
  if (open.length === 0) return reject({ code: 'no_target', engines: keep.length });

  const total = loads.together();
  const outlook = new Outlook(state.histories[state.kind].curve(), config.maxResponseTokens, total);
  const { trigger } = config;
  const progress = { finished: query.finished, target: targetOf(config) };
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
  const { moves, migrations } = migrate(state, report, moving, { from: chosen, to: open });
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
