/** Chooses the first parallelism, and asks the profile for predictions. */
import type { RolloutWorkload } from '../../schemas/parallelism.ts';
import { expertDegreesOf, isSame, type Parallelism } from './bounds.ts';
import { only, type SetReason } from './decisions.ts';
import { predictSeconds } from './predict.ts';
import { best, type TpCandidate } from './select-tp.ts';
import type { Kind, TpState } from './state.ts';
import { surfaceKey } from './surface.ts';

/** Limit on the predictions that are kept: a job has few parallelisms, and asks for the same loads again. */
const mostForecasts = 64;

/** Returns the predicted seconds; `does_not_fit`, or `undefined` if the profile does not know the parallelism. */
export function forecast(
  state: TpState,
  parallelism: Parallelism,
  workload: RolloutWorkload,
): number | 'does_not_fit' | undefined {
  const key = surfaceKey(parallelism);
  const surface = state.surfaces.get(key);
  if (surface === undefined) return undefined;
  const { responses, promptTokens, responseTokens, longestTokens, routingSkew } = workload;
  const point = `${key}/${responses}/${promptTokens}/${responseTokens}/${longestTokens}/${routingSkew}`;
  const known = state.forecasts.get(point);
  if (known !== undefined) return known;
  const seconds = predictSeconds(surface, workload, state.gpus / parallelism.tp, state.memoryBytes) ?? 'does_not_fit';
  if (state.forecasts.size >= mostForecasts) state.forecasts.clear();
  state.forecasts.set(point, seconds);
  return seconds;
}

/** Returns every parallelism with this TP degree. Without experts there is only one, which has no EP. */
function within(state: TpState, tp: number): Parallelism[] {
  const { experts } = state.config;
  return experts === undefined ? [{ tp }] : expertDegreesOf(tp, experts).map((ep) => ({ tp, ep }));
}

function candidates(state: TpState, tps: readonly number[], workload: RolloutWorkload): TpCandidate[] {
  return tps
    .flatMap((tp) => within(state, tp))
    .map((one) => {
      const predictedSeconds = forecast(state, one, workload);
      return typeof predictedSeconds === 'number' ? { ...one, predictedSeconds } : one;
    });
}

/**
 * Returns the best parallelism of the profile for a workload, without barred ones; `undefined` if the profile knows none that fits.
 */
export function selected(state: TpState, kind: Kind, workload: RolloutWorkload) {
  const { bars } = state.kinds[kind];
  return best(candidates(state, state.degrees, workload).filter((one) => !bars.some((bar) => isSame(bar, one))));
}

/** Returns the parallelism of a TP with the best EP by the profile, or else the largest EP up to the current one. */
export function withExperts(
  state: TpState,
  tp: number,
  like: Parallelism | undefined,
  workload: RolloutWorkload | undefined,
): Parallelism {
  if (state.config.experts === undefined) return { tp };
  const chosen = workload && best(candidates(state, [tp], workload));
  if (chosen !== undefined) return only(chosen);
  const degrees = expertDegreesOf(tp, state.config.experts);
  const ep = degrees.filter((one) => one <= (like?.ep ?? 1)).at(-1) ?? degrees[0]!;
  return { tp, ep };
}

/**
 * Chooses the first parallelism of a kind: the configured one, otherwise the best one in the profile, otherwise the one with the
 * least degree.
 */
export function start(
  state: TpState,
  kind: Kind,
  seen: RolloutWorkload | undefined,
): { parallelism: Parallelism; reason: SetReason } {
  const workload = state.config.expectedWorkload[kind] ?? seen;
  const configured = state.config.startTp[kind];
  if (configured !== undefined) {
    return { parallelism: withExperts(state, configured, undefined, workload), reason: { code: 'start_configured' } };
  }
  const chosen = workload && selected(state, kind, workload);
  if (chosen !== undefined) {
    const { predictedSeconds } = chosen;
    return { parallelism: only(chosen), reason: { code: 'start_profile', predictedSeconds } };
  }
  const least = withExperts(state, state.degrees[0]!, undefined, workload);
  return { parallelism: least, reason: { code: 'start_smallest' } };
}
