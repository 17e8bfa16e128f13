/** The saved state of adaptive-tp. */

import { z } from 'zod';
import { mostRecent, RecentIds } from '../../core/recent-ids.ts';
import {
  expertParallel,
  profileConfiguration,
  profileRow,
  rolloutWorkload,
  tensorParallel,
} from '../../schemas/parallelism.ts';
import { count, positiveSeconds, roundId } from '../../schemas/units.ts';
import type { TpConfig } from './schema.ts';
import { newState, recordedSteps, type TpState, takeRows } from './state.ts';
import { surfaceKey } from './surface.ts';

const parallelism = { tp: tensorParallel, ep: expertParallel.optional() };
const savedLoad = z.strictObject({ tokens: z.number().nonnegative(), routingSkew: z.number().min(1) });
const steps = z.array(z.strictObject({ workload: rolloutWorkload, seconds: positiveSeconds })).max(recordedSteps);
const kind = z.strictObject({
  current: z.strictObject(parallelism).optional(),
  pending: z.strictObject({ from: z.strictObject(parallelism), before: steps }).optional(),
  previous: count.optional(),
  calm: count,
  cooldown: count,
  anchor: savedLoad.optional(),
  toAsk: z.enum(['none', 'first', 'moved']),
  changes: count,
  used: z.array(z.strictObject(parallelism)),
  bars: z.array(z.strictObject({ ...parallelism, load: savedLoad.optional() })),
  records: steps,
});

/** Schema of the saved state. */
export const tpSnapshot = z.strictObject({
  kinds: z.strictObject({ short: kind, long: kind }),
  measured: z.array(profileRow),
  watches: z.array(
    z.strictObject({ ...parallelism, rounds: count, roundId, points: z.array(profileConfiguration).min(1) }),
  ),
  recentRounds: z.array(roundId).max(mostRecent),
});
export type SavedTp = z.output<typeof tpSnapshot>;

export function save(state: TpState): SavedTp {
  const { kinds, measured, watches, recentRounds } = state;
  // Through JSON, so that what is missing is left out in every copy alike.
  return JSON.parse(
    JSON.stringify({
      kinds: { short: kinds.short, long: kinds.long },
      measured: [...measured.values()],
      watches: [...watches.values()],
      recentRounds: [...recentRounds],
    }),
  ) as SavedTp;
}

export function load(saved: SavedTp, config: TpConfig): TpState {
  const { kinds, measured, watches, recentRounds: rounds } = structuredClone(saved);
  const state = newState(config);
  Object.assign(state.kinds.short, kinds.short);
  Object.assign(state.kinds.long, kinds.long);
  if (measured.length > 0) takeRows(state, measured);
  for (const watch of watches) state.watches.set(surfaceKey(watch), watch);
  state.recentRounds = new RecentIds(rounds);
  return state;
}
