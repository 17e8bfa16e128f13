/** The state of adaptive-tp: the parallelism of each kind of round, its last steps, and the profile. */
import { z } from 'zod';
import { recentIds } from '../../core/ids/recent-ids.ts';
import type { Context, Live } from '../../core/machine/definition.ts';
import { derived, mapBy } from '../../core/machine/state.ts';
import type { AdaptiveTpConfig, AdaptiveTpDecision } from '../../generated/settings/adaptive-tp.ts';
import {
  expertParallel,
  type ProfileRow,
  profileConfiguration,
  profileRow,
  type RolloutWorkload,
  rolloutWorkload,
  tensorParallel,
} from '../../schemas/parallelism.ts';
import { count, positiveSeconds, roundId, roundKind } from '../../schemas/units.ts';
import { degreesOf } from './schema.ts';
import { pointKey, type Surface, surfaceKey, surfacesOf } from './surface.ts';

export type Kind = 'short' | 'long';
export const kinds: readonly Kind[] = ['short', 'long'];

/** Number of steps that are kept as evidence. */
export const recordedSteps = 4;

const parallelism = { tp: tensorParallel, ep: expertParallel.optional() };

const load = z.strictObject({
  /** Tokens of a step, in total. */
  tokens: z.number().nonnegative(),
  routingSkew: z.number().min(1),
});
/** The figures that are compared between two loads. */
export type Load = Readonly<z.output<typeof load>>;

const step = z.strictObject({ workload: rolloutWorkload, seconds: positiveSeconds });
/** A step that ran with the parallelism of its kind of round. */
export type StepRecord = Readonly<z.output<typeof step>>;

const kind = z.strictObject({
  /** The parallelism of the latest `kind-tp.set`; missing before the first one. */
  current: z.strictObject(parallelism).optional(),
  /** A change after which no step has run yet. */
  pending: z
    .strictObject({
      from: z.strictObject(parallelism),
      /** Steps before the change, for comparison with the first step after it; empty if the change is not judged. */
      before: z.array(step).max(recordedSteps),
    })
    .optional(),
  /** Preemptions in the previous step, if that step had the same parallelism. */
  previous: count.optional(),
  /** Steps in a row without a preemption. */
  calm: count,
  /** Number of coming steps in which nothing changes. */
  cooldown: count,
  /** The load when the count of changes was last reset. */
  anchor: load.optional(),
  /** Whether to ask the profile: for the first time, or because the load has moved. */
  toAsk: z.enum(['none', 'first', 'moved']),
  changes: count,
  /** Parallelisms used since the load moved. */
  used: z.array(z.strictObject(parallelism)),
  /** Parallelisms that are not tried again until the load moves; `load` is missing until one is known. */
  bars: z.array(z.strictObject({ ...parallelism, load: load.optional() })),
  /** The last steps with the current parallelism. */
  records: z.array(step).max(recordedSteps),
});
/** State of a kind of round. */
export type KindState = z.output<typeof kind>;

const watch = z.strictObject({
  ...parallelism,
  rounds: count,
  roundId,
  points: z.array(profileConfiguration).min(1),
});
/** Observations in a row of one parallelism that were far from the profile. */
export type Watch = z.output<typeof watch>;

export const tpState = z.strictObject({
  /** The last planned round with its parallelism, until the round is over. */
  round: z.strictObject({ roundId, kind: roundKind, ...parallelism }).nullable(),
  kinds: z.strictObject({ short: kind, long: kind }),
  /** Rows that were measured during the session, by point. */
  measured: mapBy((row: ProfileRow) => pointKey(row), profileRow),
  watches: mapBy(surfaceKey, watch),
  /** The latest rounds whose end was reported. */
  recentRounds: recentIds(roundId),
  degrees: derived<readonly number[]>(),
  gpus: derived(() => 0),
  memoryBytes: derived(() => 0),
  mostChanges: derived(() => 0),
  surfaces: derived<Map<string, Surface>>(),
  /** Cached predictions from these surfaces; no decision depends on the cache. */
  forecasts: derived(() => new Map<string, number | 'does_not_fit'>()),
});
export type TpState = Live<z.output<typeof tpState>, AdaptiveTpConfig>;
export type SavedTp = z.input<typeof tpState>;
/** The context through which handlers emit decisions. */
export type Ctx = Context<AdaptiveTpDecision>;

const newKind = (): KindState => ({
  calm: 0,
  cooldown: 0,
  toAsk: 'first',
  changes: 0,
  used: [],
  bars: [],
  records: [],
});

export const begin = (): Partial<SavedTp> => ({ kinds: { short: newKind(), long: newKind() } });

/** Adds the running round, which version 2 has. A round that is open is unknown, and is not told again. */
export const migrateFromOne = (saved: unknown): SavedTp => ({ ...(saved as SavedTp), round: null });

/** Notes that a round is over. */
export function endRound(state: TpState, roundId: string): void {
  if (state.round?.roundId === roundId) state.round = null;
}

export function link(state: TpState): void {
  const { config } = state;
  const degrees = degreesOf(config);
  state.degrees = degrees;
  state.gpus = config.servers.reduce((sum, one) => sum + one.gpuIds.length, 0);
  state.memoryBytes = config.gpuMemoryBytes * config.memoryUtilization;
  state.mostChanges = Math.round(Math.log2(degrees.at(-1)! / degrees[0]!)) + 1;
  state.surfaces = surfacesOf([...config.profile, ...state.measured.values()]);
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
