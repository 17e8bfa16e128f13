/** What adaptive-tp knows: the parallelism of each kind of round, how its last steps went, and the profile. */
import { z } from 'zod';
import type { Live } from '../../core/definition.ts';
import { recentIds } from '../../core/recent-ids.ts';
import { derived } from '../../core/state.ts';
import {
  expertParallel,
  type ProfileRow,
  profileConfiguration,
  profileRow,
  type RolloutWorkload,
  rolloutWorkload,
  tensorParallel,
} from '../../schemas/parallelism.ts';
import { count, positiveSeconds, roundId } from '../../schemas/units.ts';
import { degreesOf } from './bounds.ts';
import type { TpConfig } from './schema.ts';
import { pointKey, type Surface, surfaceKey, surfacesOf } from './surface.ts';

export type Kind = 'short' | 'long';
export const kinds: readonly Kind[] = ['short', 'long'];

/** How many steps a judgement looks back. */
export const recordedSteps = 4;

const degrees = { tp: tensorParallel, ep: expertParallel.optional() };
const parallelism = z.strictObject(degrees);

const load = z.strictObject({ tokens: z.number().nonnegative(), routingSkew: z.number().min(1) });
/** What a load is told apart by: all tokens of a step, and the routing skew. */
export type Load = z.output<typeof load>;

const stepRecord = z.strictObject({ workload: rolloutWorkload, seconds: positiveSeconds });
/** A step that ran with the parallelism of its kind. */
export type StepRecord = z.output<typeof stepRecord>;

const kind = z.strictObject({
  /** What was told by the last `tp.set`; missing until the first. */
  current: parallelism.optional(),
  /** A change that no step has run with yet; `before` are the steps to judge it by, none if it is not judged. */
  pending: z.strictObject({ from: parallelism, before: z.array(stepRecord).max(recordedSteps) }).optional(),
  /** Preemptions of the step before, of the same parallelism. */
  previous: count.optional(),
  /** Steps in a row without a preemption. */
  calm: count,
  /** Steps to come in which nothing changes. */
  cooldown: count,
  /** Where the load was when changes were last counted from 0. */
  anchor: load.optional(),
  /** Whether the profile is to be asked: for the first time, or because the load has moved. */
  toAsk: z.enum(['none', 'first', 'moved']),
  changes: count,
  /** What was used since the load moved. */
  used: z.array(parallelism),
  /** What is not tried again until the load moves; `load` is missing until one is known. */
  bars: z.array(z.strictObject({ ...degrees, load: load.optional() })),
  /** The last steps with the current parallelism. */
  records: z.array(stepRecord).max(recordedSteps),
});
/** A kind of round. */
export type KindState = z.output<typeof kind>;

const watch = z.strictObject({ ...degrees, rounds: count, roundId, points: z.array(profileConfiguration).min(1) });
/** Far observations in a row, of one parallelism. */
export type Watch = z.output<typeof watch>;

/** A map by a key that is made of several fields of its values, saved as a list of them. */
const mapByKey = <S extends z.ZodType>(keyOf: (one: z.output<S>) => string, item: S) =>
  z.codec(z.array(item), z.custom<Map<string, z.output<S>>>(), {
    decode: (items) => new Map((items as z.output<S>[]).map((one) => [keyOf(one), one])),
    encode: (map) => [...map.values()] as never,
  });

/** Schema of the state. */
export const tpState = z.strictObject({
  kinds: z.strictObject({ short: kind, long: kind }),
  /** Rows that were measured since the beginning, by their point. */
  measured: mapByKey(pointKey, profileRow),
  watches: mapByKey(surfaceKey, watch),
  /** The last rounds whose end was told. */
  recentRounds: recentIds(roundId),
  degrees: derived<readonly number[]>(),
  gpus: derived<number>(),
  memoryBytes: derived<number>(),
  mostChanges: derived<number>(),
  surfaces: derived<Map<string, Surface>>(),
  /** Predictions made from these surfaces; nothing depends on which are kept. */
  forecasts: derived(() => new Map<string, number | 'does_not_fit'>()),
});
/** The state. */
export type TpState = Live<z.output<typeof tpState>, TpConfig>;
/** The state as it is saved. */
export type SavedTp = z.input<typeof tpState>;

const newKind = (): z.input<typeof kind> => {
  return { calm: 0, cooldown: 0, toAsk: 'first', changes: 0, used: [], bars: [], records: [] };
};

/** The state at the beginning. */
export function begin(): SavedTp {
  return { kinds: { short: newKind(), long: newKind() }, measured: [], watches: [], recentRounds: [] };
}

/** Sets what follows from the configuration and from what was measured. */
export function link(state: TpState): void {
  const { config } = state;
  state.degrees = degreesOf(config);
  state.gpus = config.servers.reduce((sum, one) => sum + one.gpuIds.length, 0);
  state.memoryBytes = config.gpuMemoryBytes * config.memoryUtilization;
  state.mostChanges = Math.round(Math.log2(state.degrees.at(-1)! / state.degrees[0]!)) + 1;
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
