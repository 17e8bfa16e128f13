/** The state of gpu-scale-down, and how it is saved. */

import { z } from 'zod';
import { RecentIds } from '../../core/recent-ids.ts';
import { LengthHistory, savedHistory } from '../../core/survival.ts';
import { type PlacedEngine, placedEngine } from '../../schemas/gpus.ts';
import { roundKind } from '../../schemas/units.ts';
import { Columns } from './columns.ts';
import type { Report } from './load.ts';
import { Moves } from './moves.ts';
import type { ScaleDownConfig } from './schema.ts';
import { type Topology, topologyOf } from './topology.ts';

/** `drained` engines keep what they have and are no target. */
export type EngineStatus = 'up' | 'drained' | 'lost';

/** The rollout round that is open. */
export interface Round {
  readonly roundId: string;
  /** Responses or prompts finished. */
  finished: number;
  /** `finished` when it was evaluated last. */
  evaluated: number;
  /** It has been evaluated, since the host restarted if it did: its engines stay. */
  fixed: boolean;
  /** No more evaluations: GPUs have been released, or the fixed fraction has been passed. */
  settled: boolean;
}

/** A `progress.query` that is not answered. */
export interface Query {
  readonly queryId: string;
  readonly roundId: string;
  /** `finished` when it was asked. */
  readonly finished: number;
  /** Requests that have ended since: the report may still name them. */
  readonly ended: Set<string>;
}

/** GPUs that are on their way to training, there, or on their way back. */
export interface Release {
  readonly releaseId: string;
  phase: 'releasing' | 'released' | 'reclaiming';
  /** Places of the engines released, ascending. */
  readonly engines: readonly number[];
  moves: Moves;
  /** Projected free KV of each engine at its peak, by place; 0 for those released. */
  readonly free: number[];
}

export interface ScaleDownState {
  readonly config: ScaleDownConfig;
  /** Engines as they were placed last; `undefined` while those of the configuration hold. */
  placed: readonly PlacedEngine[] | undefined;
  /** Ids of engines of the layout before that are no longer there. */
  replaced: ReadonlySet<string>;
  topology: Topology;
  readonly histories: { readonly short: LengthHistory; readonly long: LengthHistory };
  status: EngineStatus[];
  readonly recentRounds: RecentIds;
  /** Requests whose abort has been decided and not confirmed, of this round and of the one before. */
  aborting: Set<string>;
  abortingBefore: Set<string>;
  kind: 'short' | 'long';
  round: Round | undefined;
  query: Query | undefined;
  release: Release | undefined;
  idPrefix: string;
  /** Number of the next query or release. */
  nextId: number;
  /** A report that has been read to check it, so that it need not be read again; not saved. */
  checked: Report | undefined;
  /** What reports are read into; not saved. */
  readonly columns: Columns;
}

const whole = z.int().nonnegative();
const ids = z.array(z.string());
const engineStatus = z.enum(['up', 'drained', 'lost']);

/** Schema of the saved state. */
export const scaleDownSnapshot = z.strictObject({
  short: savedHistory,
  long: savedHistory,
  placed: z.array(placedEngine).optional(),
  replaced: ids,
  status: z.array(engineStatus),
  recentRounds: ids,
  aborting: ids,
  abortingBefore: ids,
  kind: roundKind,
  round: z
    .strictObject({ roundId: z.string(), finished: whole, evaluated: whole, fixed: z.boolean(), settled: z.boolean() })
    .optional(),
  query: z.strictObject({ queryId: z.string(), roundId: z.string(), finished: whole, ended: ids }).optional(),
  release: z
    .strictObject({
      releaseId: z.string(),
      phase: z.enum(['releasing', 'released', 'reclaiming']),
      engines: z.array(whole),
      moves: z.array(
        z.strictObject({
          requestId: z.string(),
          from: whole,
          to: whole,
          tokens: whole,
          attempts: whole,
          status: z.enum(['moving', 'moved', 'failed', 'ended']),
        }),
      ),
      free: z.array(z.number()),
    })
    .optional(),
  idPrefix: z.string(),
  nextId: whole,
});
export type SavedScaleDown = z.output<typeof scaleDownSnapshot>;

export function newScaleDown(config: ScaleDownConfig): ScaleDownState {
  const topology = topologyOf(config.engines, config);
  return {
    config,
    placed: undefined,
    replaced: new Set(),
    topology,
    histories: {
      short: new LengthHistory(config.maxResponseTokens),
      long: new LengthHistory(config.maxResponseTokens),
    },
    status: topology.engines.map(() => 'up'),
    recentRounds: new RecentIds(),
    aborting: new Set(),
    abortingBefore: new Set(),
    kind: 'short',
    round: undefined,
    query: undefined,
    release: undefined,
    idPrefix: '',
    nextId: 0,
    checked: undefined,
    columns: new Columns(),
  };
}

export function save(state: ScaleDownState): SavedScaleDown {
  const { histories, placed, round, query, release } = state;
  return {
    short: histories.short.save(),
    long: histories.long.save(),
    ...(placed && { placed: structuredClone([...placed]) }),
    replaced: [...state.replaced],
    status: [...state.status],
    recentRounds: [...state.recentRounds],
    aborting: [...state.aborting],
    abortingBefore: [...state.abortingBefore],
    kind: state.kind,
    ...(round && { round: { ...round } }),
    ...(query && { query: { ...query, ended: [...query.ended] } }),
    ...(release && {
      release: {
        releaseId: release.releaseId,
        phase: release.phase,
        engines: [...release.engines],
        moves: release.moves.save(),
        free: [...release.free],
      },
    }),
    idPrefix: state.idPrefix,
    nextId: state.nextId,
  };
}

export function load(saved: SavedScaleDown, config: ScaleDownConfig): ScaleDownState {
  const { short, long, placed, replaced, status, aborting, abortingBefore, query, release, ...rest } =
    structuredClone(saved);
  const state = newScaleDown(config);
  state.histories.short.load(short);
  state.histories.long.load(long);
  const topology = placed === undefined ? state.topology : topologyOf(placed, config);
  return {
    ...state,
    ...rest,
    placed,
    replaced: new Set(replaced),
    topology,
    status: topology.engines.map((_, place) => status[place] ?? 'up'),
    recentRounds: new RecentIds(rest.recentRounds),
    aborting: new Set(aborting),
    abortingBefore: new Set(abortingBefore),
    round: rest.round,
    query: query && { ...query, ended: new Set(query.ended) },
    release: release && {
      ...release,
      moves: Moves.load(release.moves),
    },
  };
}
