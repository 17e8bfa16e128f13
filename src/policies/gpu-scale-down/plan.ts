/**
 * Plans a release: engines are chosen, the largest requests of released engines are dealt out first, always to the engine with the
 * most free KV, and the peaks of the engines that remain are projected.
 */
import { Heap } from '../../core/collections/heap.ts';
import type { MigrationBatch } from '../../schemas/gpus.ts';
import type { Message } from '../../schemas/messages.ts';
import { chooseEngines, wantedGpus } from './engines.ts';
import { deviationsOf, type InFlight, Projection } from './projection.ts';
import type { ScaleDownState } from './state.ts';

type RejectReason = Message<'scale-down.rejected'>['reason'];

/** A request that moves, and the index of the engine that it goes to. */
export interface Move {
  readonly request: InFlight;
  readonly to: number;
}

/** Engines to release, and the expected use of the other engines. */
export interface Plan {
  /** Indices of the engines to release, and of those that remain. */
  readonly chosen: readonly number[];
  readonly keep: readonly number[];
  /** In the order in which they were dealt out. */
  readonly moves: readonly Move[];
  /** Projected free KV of each engine at its peak, by index; 0 for released engines. */
  readonly free: number[];
  /** The engine that is filled most. */
  readonly fullest: { engineId: string; projectedTokens: number; capacityTokens: number };
}

/** So many choices of engines are tried before a milestone is given up: a limit on the time of a decision. */
const mostChoices = 4;
/**
 * The largest sum over time exceeds a level about as often as the largest of so many independent sums. With 1, 25 of 35 families of
 * bench/scale-down have more than 5 % of rounds over the projection, with 3 13, with 6 10, with 12 6.
 */
const independentTimes = 6;
// A product of doubles may have this relative error, so the quotient is rounded up.
const exact = 1 - 1e-12;

/** Returns the first choice of engines that leaves enough room; if there is none, the reason against the first choice. */
export function planFor(
  state: ScaleDownState,
  requests: readonly InFlight[],
  progress: { finished: number; target: number },
): Plan | RejectReason {
  const { topology, config, status } = state;
  const isUp = (engineIndex: number): boolean => status[engineIndex] !== 'lost';
  const tokens = new Float64Array(topology.engines.length);
  for (const { engineIndex, kvTokens } of requests) tokens[engineIndex]! += kvTokens;
  const [first, ...others] = chooseEngines(topology, { isUp, tokens }, mostChoices);
  if (first === undefined) return { code: 'no_partition', ...wantedGpus(topology, isUp) };
  const projection = new Projection(state[state.kind].curve(), config.maxResponseTokens, requests);
  const best = planOf(state, requests, projection, first, progress);
  // The set of targets does not depend on the number of requests.
  if (!('code' in best) || best.code === 'no_target') return best;
  for (const chosen of others) {
    const plan = planOf(state, requests, projection, chosen, progress);
    if (!('code' in plan)) return plan;
  }
  return best;
}

/** Plans a choice of engines, or returns the reason against it. With a fixed fraction, every choice is released. */
function planOf(
  { topology: { engines }, config, status }: ScaleDownState,
  requests: readonly InFlight[],
  projection: Projection,
  chosen: readonly number[],
  progress: { finished: number; target: number },
): Plan | RejectReason {
  const leaves = new Set(chosen);
  const keep = [...engines.keys()].filter((index) => !leaves.has(index) && status[index] !== 'lost');
  const open = keep.filter((index) => status[index] === 'up');
  if (open.length === 0) return { code: 'no_target', engines: keep.length };
  const room = keep.reduce((sum, index) => sum + engines[index]!.capacityTokens, 0);
  const isAdaptive = config.trigger === 'adaptive';
  // If even the expected total exceeds the total capacity, no placement fits.
  const expectedTokens = Math.ceil(projection.expected(requests) * exact);
  if (isAdaptive && expectedTokens > room)
    return { code: 'kv_cache_together', ...progress, expectedTokens, capacityTokens: room };
  const there: InFlight[][] = engines.map(() => []);
  for (const request of requests) if (!leaves.has(request.engineIndex)) there[request.engineIndex]!.push(request);
  const moves = deal(
    requests.filter(({ engineIndex }) => leaves.has(engineIndex)),
    open.map((index) => {
      const used = there[index]!.reduce((sum, { kvTokens }) => sum + kvTokens, 0);
      return { index, free: engines[index]!.capacityTokens - used };
    }),
  );
  for (const { request, to } of moves) there[to]!.push(request);
  const deviations = deviationsOf((1 - config.quantile) / (keep.length * independentTimes));
  const free = engines.map(() => 0);
  let fullest = { engineId: '', projectedTokens: 0, capacityTokens: 1 };
  for (const index of keep) {
    const { engineId, capacityTokens } = engines[index]!;
    const projectedTokens = Math.ceil(projection.peak(there[index]!, deviations) * exact);
    free[index] = capacityTokens - projectedTokens;
    const isFuller = projectedTokens * fullest.capacityTokens > fullest.projectedTokens * capacityTokens;
    if (isFuller || fullest.engineId === '') fullest = { engineId, projectedTokens, capacityTokens };
  }
  if (isAdaptive && fullest.projectedTokens > fullest.capacityTokens)
    return { code: 'kv_cache', ...progress, ...fullest };
  return { chosen, keep, moves, free, fullest };
}

/** An engine that takes requests, with the tokens of its KV cache that are free now. */
interface Target {
  readonly index: number;
  free: number;
}

/** Deals out requests, the largest first, each to the target with the most free tokens; ties go to the first in the report. */
function deal(leaving: readonly InFlight[], targets: readonly Target[]): Move[] {
  const byFree = new Heap<Target>((a, b) => b.free - a.free || a.index - b.index);
  for (const target of targets) byFree.push(target);
  const sizes = Float64Array.from(leaving, ({ kvTokens }) => kvTokens);
  const order = Uint32Array.from(sizes.keys()).sort((a, b) => sizes[b]! - sizes[a]! || a - b);
  return Array.from(order, (at) => {
    const target = byFree.pop()!;
    const request = leaving[at]!;
    target.free -= request.kvTokens;
    byFree.push(target);
    return { request, to: target.index };
  });
}

/** Lists the moves between each pair of engines, by the index of the engine left, then by that of the target. */
export function batchesOf({ topology: { engines } }: ScaleDownState, moves: readonly Move[]): MigrationBatch[] {
  const byPair = new Map<number, MigrationBatch>();
  for (const { request, to } of moves) {
    const pair = request.engineIndex * engines.length + to;
    let batch = byPair.get(pair);
    if (batch === undefined) {
      const [from, target] = [engines[request.engineIndex]!.engineId, engines[to]!.engineId];
      batch = { from, to: target, requestIds: [], tokens: [] };
      byPair.set(pair, batch);
    }
    batch.requestIds.push(request.requestId);
    batch.tokens.push(request.tokens);
  }
  return [...byPair].sort(([a], [b]) => a - b).map(([, batch]) => batch);
}
