/** The decision at a milestone: which GPUs, where their requests go, and whether the KV cache has room for them. */
import { probit } from '../../core/normal.ts';
import type { Migration, RunningRequest } from '../../schemas/gpus.ts';
import { type Assignment, assign, type Target } from './assign.ts';
import { chooseEngines, wantedGpus } from './choose.ts';
import { Moves } from './moves.ts';
import { Outlook } from './outlook.ts';
import { type Columns, columnsOf, inFlight } from './report.ts';
import type { Query, ScaleDownState } from './state.ts';
import type { Engine } from './topology.ts';
import type { Ctx, DecisionOf } from './words.ts';

// The sum of the requests on an engine at one time says little about it much later; measured on many distributions.
const distinctTimes = 4;

type RejectReason = DecisionOf<'scale-down.rejected'>['reason'];

/**
 * The requests that move, with what they leave, and the row of each. Ids are read in the order of the report: there they
 * lie side by side in memory. One that is named twice, which only a report that was not validated does, moves once.
 */
function leaving({ requests, places }: Columns, moving: Int32Array): { moves: Moves; rows: Int32Array } {
  const moves = new Moves(moving.length);
  const rows = new Int32Array(moving.length);
  for (let at = 0; at < moving.length; at += 1) {
    const index = moving[at]!;
    const { requestId, tokens } = requests[index]!;
    rows[at] = moves.add(requestId, places[index]!, tokens);
  }
  return { moves, rows };
}

/** Sends each request where it was assigned to, and lists it. */
function listed(
  engines: readonly Engine[],
  moves: Moves,
  rows: Int32Array,
  { requests, places }: Assignment,
): Migration[] {
  const engineIds = engines.map((engine) => engine.engineId);
  const migrations: Migration[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[requests[at]!]!;
    if (row < 0) continue;
    const to = places[at]!;
    moves.send(row, to);
    const [fromId, toId] = [engineIds[moves.from(row)]!, engineIds[to]!];
    migrations.push({ requestId: moves.requestId(row), from: fromId, to: toId, tokens: moves.tokens(row) });
  }
  return migrations;
}

/** Answers a report with `gpus.release` or `scale-down.rejected`. */
export function decide(state: ScaleDownState, query: Query, requests: readonly RunningRequest[], ctx: Ctx): void {
  const { topology, config, status } = state;
  const { engines } = topology;
  const reject = (reason: RejectReason): void =>
    ctx.emit({ type: 'scale-down.rejected', at: ctx.at, roundId: query.roundId, reason });
  const isUp = (place: number): boolean => status[place] !== 'lost';
  const columns = state.checked?.requests === requests ? state.checked : columnsOf(state, requests);
  state.checked = undefined;
  const { places, groups, kvTokens } = columns;
  const { loads, generated } = inFlight(state, query, columns);
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
  const outlook = new Outlook(state.histories[state.kind].curve(), config.maxResponseTokens, total, generated, z);
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
  let count = 0;
  const moving = new Int32Array(places.length);
  for (let index = 0; index < places.length; index += 1) {
    const place = places[index]!;
    if (place >= 0 && leaves[place]) moving[count++] = index;
  }
  const weights = new Float64Array(count);
  for (let at = 0; at < count; at += 1) {
    const index = moving[at]!;
    weights[at] = outlook.weight(groups[index]!, kvTokens[index]!);
  }
  const assigned = assign(weights, targets);
  for (let at = 0; at < count; at += 1) {
    const index = moving[assigned.requests[at]!]!;
    loads.add(assigned.places[at]!, groups[index]!, kvTokens[index]!);
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
  const { moves, rows } = leaving(columns, moving.subarray(0, count));
  const migrations = listed(engines, moves, rows, assigned);
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
