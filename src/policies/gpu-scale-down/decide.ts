/** The decision at a milestone: which GPUs, where their requests go, and whether the KV cache has room for them. */
import { probit } from '../../core/normal.ts';
import type { Migration, RunningRequest } from '../../schemas/gpus.ts';
import { type Assignment, assign, type Target } from './assign.ts';
import { chooseEngines, wantedGpus } from './choose.ts';
import { groupOf, type Report } from './load.ts';
import { Moves } from './moves.ts';
import { Outlook } from './outlook.ts';
import { dropGone, readReport } from './report.ts';
import type { Query, ScaleDownState } from './state.ts';
import type { Engine } from './topology.ts';
import type { Ctx, DecisionOf } from './words.ts';

// The sum of the requests on an engine at one time says little about it much later; measured on many distributions.
const distinctTimes = 4;

type RejectReason = DecisionOf<'scale-down.rejected'>['reason'];

/** Requests that leave their engines, in the order of the report: there they lie side by side in memory. */
interface Leaving {
  readonly ids: string[];
  readonly from: Int32Array;
  readonly tokens: number[];
  readonly groups: Uint16Array;
  readonly kvTokens: Float64Array;
}

function leaving({ requests, places, loads }: Report, leaves: readonly boolean[], maxTokens: number): Leaving {
  let size = 0;
  for (let place = 0; place < leaves.length; place += 1) if (leaves[place]) size += loads.requests(place);
  const ids: string[] = new Array(size);
  const tokens: number[] = new Array(size);
  const from = new Int32Array(size);
  const groups = new Uint16Array(size);
  const kvTokens = new Float64Array(size);
  let row = 0;
  for (let index = 0; index < places.length; index += 1) {
    const place = places[index]!;
    if (place < 0 || !leaves[place]) continue;
    const request = requests[index]!;
    ids[row] = request.requestId;
    tokens[row] = request.tokens;
    from[row] = place;
    groups[row] = groupOf(request.tokens, maxTokens);
    kvTokens[row] = request.tokens + request.promptTokens;
    row += 1;
  }
  return { ids, from, tokens, groups, kvTokens };
}

/** Requests of the report that move, each where it was assigned to; and the list of them, the largest first. */
function movesOf(
  engines: readonly Engine[],
  { ids, from, tokens }: Leaving,
  { requests, places }: Assignment,
): { moves: Moves; migrations: Migration[] } {
  const engineIds = engines.map((engine) => engine.engineId);
  const to = new Int32Array(ids.length);
  const migrations: Migration[] = [];
  for (let index = 0; index < requests.length; index += 1) {
    const row = requests[index]!;
    const place = places[index]!;
    to[row] = place;
    migrations.push({
      requestId: ids[row]!,
      from: engineIds[from[row]!]!,
      to: engineIds[place]!,
      tokens: tokens[row]!,
    });
  }
  const moves = new Moves(ids, from, to, tokens);
  return moves.repeated ? once(engines, migrations) : { moves, migrations };
}

/** A report that was not validated may name a request twice: it moves once. */
function once(engines: readonly Engine[], all: readonly Migration[]): { moves: Moves; migrations: Migration[] } {
  const migrations = [...new Map(all.map((one) => [one.requestId, one])).values()];
  const placeOf = new Map(engines.map((engine, place) => [engine.engineId, place]));
  const moves = new Moves(
    migrations.map((one) => one.requestId),
    Int32Array.from(migrations, (one) => placeOf.get(one.from)!),
    Int32Array.from(migrations, (one) => placeOf.get(one.to)!),
    migrations.map((one) => one.tokens),
  );
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
  dropGone(state, query, report);
  const chosen = chooseEngines(topology, { isUp, tokens: engines.map((_, place) => loads.kvTokens(place)) });
  if (chosen === undefined) return reject({ code: 'no_partition', ...wantedGpus(topology, isUp) });
  const leaves = engines.map(() => false);
  for (const place of chosen) leaves[place] = true;
  const keep: number[] = [];
  for (let place = 0; place < engines.length; place += 1) if (!leaves[place] && isUp(place)) keep.push(place);
  const open = keep.filter((place) => status[place] === 'up');
  if (open.length === 0) return reject({ code: 'no_target', engines: keep.length });

  // Each of the remaining engines may go over its peak, and early or late: they share the chance.
  const z = probit(1 - (1 - config.quantile) / (keep.length * distinctTimes));
  const total = loads.together();
  const outlook = new Outlook(state.histories[state.kind].curve(), config.maxResponseTokens, total, z);
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
  const moving = leaving(report, leaves, config.maxResponseTokens);
  const { groups, kvTokens } = moving;
  const weights = new Float64Array(groups.length);
  for (let row = 0; row < groups.length; row += 1) weights[row] = outlook.weight(groups[row]!, kvTokens[row]!);
  const assigned = assign(weights, targets);
  for (let index = 0; index < groups.length; index += 1) {
    const row = assigned.requests[index]!;
    // What it has generated is known to the outlook.
    loads.add(assigned.places[index]!, groups[row]!, 0, kvTokens[row]!);
  }
  const free = engines.map(() => 0);
  let fullest = { engineId: '', projectedTokens: 0, capacityTokens: 1 };
  let fits = true;
  for (const place of keep) {
    const { engineId, capacityTokens } = engines[place]!;
    const projectedTokens = outlook.peak(loads, place);
    free[place] = capacityTokens - projectedTokens;
    fits &&= projectedTokens <= capacityTokens;
    const fuller = projectedTokens * fullest.capacityTokens > fullest.projectedTokens * capacityTokens;
    if (fullest.engineId === '' || fuller) fullest = { engineId, projectedTokens, capacityTokens };
  }
  const numbers = { ...progress, ...fullest };
  if (trigger === 'adaptive' && !fits) return reject({ code: 'kv_cache', ...numbers });

  const releaseId = `${state.idPrefix}release-${state.nextId++}`;
  const { moves, migrations } = movesOf(engines, moving, assigned);
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
