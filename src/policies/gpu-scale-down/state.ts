/** The state of gpu-scale-down: engines, their topology, and moving requests. */
import { z } from 'zod';
import { prefixes } from '../../core/ids/minted-ids.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import type { Live } from '../../core/machine/definition.ts';
import { byHand, derived, setOf } from '../../core/machine/state.ts';
import type { GpuScaleDownConfig } from '../../generated/settings/gpu-scale-down.ts';
import { type PlacedEngine, placedEngine } from '../../schemas/gpus.ts';
import { count, roundKind } from '../../schemas/units.ts';
import { LengthHistory, savedHistory } from './projection.ts';

const statuses = ['moving', 'moved', 'failed', 'ended'] as const;

/** The move of a request. */
export interface Move {
  /** Indices of the engine that the request leaves, and of that to which it goes. */
  readonly from: number;
  to: number;
  /** Tokens that the request had generated when the move was decided. */
  readonly tokens: number;
  /** Tries so far, including the one under way. */
  attempts: number;
  /** `ended`: the request was aborted or completed on the way. */
  status: (typeof statuses)[number];
}

/** Moving requests in saved form: columns, because there may be very many requests. */
const savedMoves = z
  .strictObject({
    ids: z.array(z.string()),
    from: z.array(count),
    to: z.array(count),
    tokens: z.array(count),
    status: z.array(z.enum(statuses)),
    /** Rows with more than one attempt, each with the later attempts. */
    retries: z.array(z.tuple([count, count])),
  })
  .refine(({ ids, from, to, tokens, status }) => [from, to, tokens, status].every((one) => one.length === ids.length), {
    message: 'expected columns of one length',
  });

const moves = byHand<typeof savedMoves, Map<string, Move>>(savedMoves, {
  decode: ({ ids, from, to, tokens, status, retries }) => {
    const later = new Map(retries);
    const moveAt = (row: number): Move => ({
      from: from[row]!,
      to: to[row]!,
      tokens: tokens[row]!,
      attempts: 1 + (later.get(row) ?? 0),
      status: status[row]!,
    });
    return new Map(ids.map((id, row) => [id, moveAt(row)]));
  },
  encode: (live) => {
    const all = [...live.values()];
    return {
      ids: [...live.keys()],
      from: all.map((one) => one.from),
      to: all.map((one) => one.to),
      tokens: all.map((one) => one.tokens),
      status: all.map((one) => one.status),
      retries: [...all.entries()].flatMap(([row, { attempts }]): [number, number][] =>
        attempts > 1 ? [[row, attempts - 1]] : [],
      ),
    };
  },
});

const ids = setOf(z.string());

// The length of the history depends on the configuration, so `link` makes it.
const history = byHand<typeof savedHistory, LengthHistory>(savedHistory, {
  decode: (saved) => saved as never,
  encode: (live) => live.save(),
});

const round = z.strictObject({
  roundId: z.string(),
  /** Responses or prompts finished. */
  finished: count,
  /** Value of `finished` at the last evaluation. */
  evaluated: count,
  /** Whether the round has been evaluated since it began or since the last restart of the host, so that its engines stay. */
  fixed: z.boolean(),
  /** Whether no more evaluations follow: GPUs have been released, or the fixed fraction has been passed. */
  settled: z.boolean(),
});

const query = z.strictObject({
  queryId: z.string(),
  roundId: z.string(),
  /** Value of `finished` at the query. */
  finished: count,
  /** Requests that have ended since the query, although the report may still name them. */
  ended: ids,
});
/** A `progress.query` that is not answered. */
export interface Query extends z.output<typeof query> {}

const release = z.strictObject({
  releaseId: z.string(),
  phase: z.enum(['releasing', 'released', 'reclaiming']),
  /** Indices of the engines released, ascending. */
  engines: z.array(count).readonly(),
  moves,
  /** Projected free KV of each engine at its peak, by index; 0 for released engines. */
  free: z.array(z.number()),
});
/** GPUs on their way to training, in training, or on their way back. */
export interface Release extends z.output<typeof release> {}

export const scaleDownState = z.strictObject({
  /** Histories of response lengths: one for short rounds, one for long rounds. */
  short: history,
  long: history,
  /** The latest placed engines; absent while those of the configuration are in use. */
  placed: z.array(placedEngine).optional(),
  /** Ids of engines in the former layout that no longer exist. */
  replaced: ids,
  topology: derived<Topology>(),
  /** Status by the index of the engine; a `drained` engine keeps its requests and cannot be a target. */
  status: z.array(z.enum(['up', 'drained', 'lost'])),
  recentRounds: recentIds(z.string()),
  /** Requests of this round and the previous one whose abort is not confirmed yet. */
  aborting: ids,
  abortingBefore: ids,
  kind: roundKind,
  /** The open rollout round. */
  round: round.optional(),
  query: query.optional(),
  release: release.optional(),
  ...prefixes,
  /** Number of the next query or release. */
  nextId: count,
});
export type ScaleDownState = Live<z.output<typeof scaleDownState>, GpuScaleDownConfig>;
export type SavedScaleDown = z.input<typeof scaleDownState>;

export const begin = (): Partial<SavedScaleDown> => ({
  // Absent fields are listed, too, because fields that are added later make the state slower to read.
  ...{ placed: undefined, round: undefined, query: undefined, release: undefined },
  ...{ kind: 'short', prefix: '' },
});

/** Sets the fields that follow from the configuration: the histories and the engines. An engine without a status is up. */
export function link(state: ScaleDownState): void {
  const { config, placed } = state;
  for (const kind of roundKind.options) {
    const saved = state[kind] as unknown as z.output<typeof savedHistory>;
    state[kind] = new LengthHistory(config.maxResponseTokens, saved);
  }
  state.topology = topologyOf(placed ?? config.engines, config);
  state.status = state.topology.engines.map((_, engineIndex) => state.status[engineIndex] ?? 'up');
}

export interface Engine {
  readonly engineId: string;
  readonly serverId: string;
  readonly gpuIds: readonly string[];
  /** Capacity of the KV cache, in tokens. */
  readonly capacityTokens: number;
}

/**
 * The engines of the rollout, and the units that no release may split: engines joined by a tensor-parallel or communication group.
 */
export interface Topology {
  /** Engines by server id, then by engine id. */
  readonly engines: readonly Engine[];
  readonly engineIndexOf: ReadonlyMap<string, number>;
  /** Indices of the engines of each unit; the units are ordered by their least index. */
  readonly units: readonly (readonly number[])[];
}

const byId = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the topology of these engines. */
export function topologyOf(placed: readonly PlacedEngine[], config: GpuScaleDownConfig): Topology {
  const engines = placed
    .map(({ engineId, serverId, gpuIds, kvCapacityTokens, kvCapacityBytes = 0 }) => ({
      engineId,
      serverId,
      gpuIds: [...gpuIds],
      capacityTokens: kvCapacityTokens ?? Math.floor(kvCapacityBytes / config.bytesPerToken!),
    }))
    .sort((a, b) => byId(a.serverId, b.serverId) || byId(a.engineId, b.engineId));
  const engineIndexOf = new Map(engines.map((engine, engineIndex) => [engine.engineId, engineIndex]));
  const ofGpu = new Map(
    engines.flatMap((engine, engineIndex) => engine.gpuIds.map((gpu) => [gpu, engineIndex] as const)),
  );
  // The configured groups apply only if engines are given.
  const given = engines.length > 0 ? config.communicationGroups : [];
  const groups = given.map((group) => group.map((gpu) => ofGpu.get(gpu)!));
  return { engines, engineIndexOf, units: joined(engines.length, groups) };
}

/** Joins the engines 0 to n − 1 that share a group, and returns the joined sets. */
function joined(n: number, groups: readonly (readonly number[])[]): number[][] {
  const root = Array.from({ length: n }, (_, at) => at);
  const find = (engineIndex: number): number => {
    let at = engineIndex;
    while (root[at] !== at) at = root[at] = root[root[at]!]!;
    return at;
  };
  for (const group of groups) {
    for (const engineIndex of group) {
      const [a, b] = [find(group[0]!), find(engineIndex)];
      root[Math.max(a, b)] = Math.min(a, b);
    }
  }
  const units = new Map<number, number[]>();
  for (let engineIndex = 0; engineIndex < n; engineIndex += 1) {
    const unit = units.get(find(engineIndex));
    if (unit === undefined) units.set(engineIndex, [engineIndex]);
    else unit.push(engineIndex);
  }
  return [...units.values()];
}
