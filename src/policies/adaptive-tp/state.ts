/** What adaptive-tp knows: the parallelism of each kind of round, how its last steps went, and the profile. */
import { RecentIds } from '../../core/recent-ids.ts';
import type { ProfileConfiguration, ProfileRow, RolloutWorkload } from '../../schemas/parallelism.ts';
import { degreesOf, type Parallelism } from './bounds.ts';
import type { TpConfig } from './schema.ts';
import { pointKey, type Surface, surfacesOf } from './surface.ts';

export type Kind = 'short' | 'long';
export const kinds: readonly Kind[] = ['short', 'long'];

/** What a load is told apart by: all tokens of a step, and the routing skew. */
export interface Load {
  readonly tokens: number;
  readonly routingSkew: number;
}

/** A step that ran with the parallelism of its kind. */
export interface StepRecord {
  readonly workload: RolloutWorkload;
  readonly seconds: number;
}

/** A parallelism that is not tried again until the load moves; `load` is missing until one is known. */
export interface Bar extends Parallelism {
  load?: Load | undefined;
}

/** A change that no step has run with yet. */
export interface Pending {
  readonly from: Parallelism;
  /** Steps before it, to be held against the first one after it; empty if it is not judged. */
  readonly before: readonly StepRecord[];
}

/** A kind of round. */
export interface KindState {
  /** What was told by the last `tp.set`; missing until the first. */
  current: Parallelism | undefined;
  pending: Pending | undefined;
  /** Preemptions of the step before, of the same parallelism. */
  previous: number | undefined;
  /** Steps in a row without a preemption. */
  calm: number;
  /** Steps to come in which nothing changes. */
  cooldown: number;
  /** Where the load was when changes were last counted from 0. */
  anchor: Load | undefined;
  /** Whether the profile is to be asked: for the first time, or because the load has moved. */
  toAsk: 'none' | 'first' | 'moved';
  changes: number;
  /** What was used since the load moved. */
  used: Parallelism[];
  bars: Bar[];
  /** The last steps with the current parallelism, at most {@link recordedSteps}. */
  records: StepRecord[];
}

/** Far observations in a row, of one parallelism. */
export interface Watch extends Parallelism {
  rounds: number;
  roundId: string;
  points: ProfileConfiguration[];
}

export interface TpState {
  readonly config: TpConfig;
  readonly degrees: readonly number[];
  readonly gpus: number;
  readonly memoryBytes: number;
  readonly mostChanges: number;
  readonly kinds: Readonly<Record<Kind, KindState>>;
  /** Rows that were measured since the beginning, by their point. */
  readonly measured: Map<string, ProfileRow>;
  surfaces: Map<string, Surface>;
  /** Predictions made from these surfaces; nothing depends on which are kept. */
  readonly forecasts: Map<string, number | 'does_not_fit'>;
  readonly watches: Map<string, Watch>;
  /** The last rounds whose end was told. */
  recentRounds: RecentIds;
}

/** How many steps a judgement looks back. */
export const recordedSteps = 4;

export function newKind(): KindState {
  return {
    current: undefined,
    pending: undefined,
    previous: undefined,
    calm: 0,
    cooldown: 0,
    anchor: undefined,
    toAsk: 'first',
    changes: 0,
    used: [],
    bars: [],
    records: [],
  };
}

export function newState(config: TpConfig): TpState {
  const degrees = degreesOf(config);
  return {
    config,
    degrees,
    gpus: config.servers.reduce((sum, one) => sum + one.gpuIds.length, 0),
    memoryBytes: config.gpuMemoryBytes * config.memoryUtilization,
    mostChanges: Math.round(Math.log2(degrees.at(-1)! / degrees[0]!)) + 1,
    kinds: { short: newKind(), long: newKind() },
    measured: new Map(),
    surfaces: surfacesOf(config.profile),
    forecasts: new Map(),
    watches: new Map(),
    recentRounds: new RecentIds(),
  };
}

/** Takes measured rows over into the profile. */
export function takeRows(state: TpState, rows: readonly ProfileRow[]): void {
  for (const row of rows) state.measured.set(pointKey(row), { ...row });
  state.forecasts.clear();
  state.surfaces = surfacesOf([...state.config.profile, ...state.measured.values()]);
}

export function loadOf({ responses, promptTokens, responseTokens, routingSkew = 1 }: RolloutWorkload): Load {
  return { tokens: responses * (promptTokens + responseTokens), routingSkew };
}

/** Whether the load has moved by more than the tolerance. */
export function hasMoved(from: Load, to: Load, tolerance: number): boolean {
  return (
    Math.abs(to.tokens - from.tokens) > tolerance * from.tokens ||
    Math.abs(to.routingSkew - from.routingSkew) > tolerance * from.routingSkew
  );
}
