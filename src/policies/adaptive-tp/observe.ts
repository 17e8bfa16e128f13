/** Compares observations with the profile, and asks for new measurements (RollPacker §7). */
import type { Message } from '../../schemas/messages.ts';
import type { ProfileConfiguration } from '../../schemas/parallelism.ts';
import { type Ctx, only } from './decisions.ts';
import { kinds, type TpState, takeRows, type Watch } from './state.ts';
import { cornersOf, pointKey, surfaceKey, valueAt } from './surface.ts';

type Observed = Message<'profile.observed'>;
type Measured = Message<'profile.measured'>;

/** Limit on the points that are kept from a run of observations far from the profile. */
const mostPoints = 8;

/** Counts the rounds in a row that were far from the profile, and asks for a measurement after enough of them. */
export function observe(state: TpState, event: Observed, ctx: Ctx): void {
  const { observedTolerance, observedRounds } = state.config;
  const { roundId, batchSize, sequenceLength, routingSkew, decodeStepSeconds: observedSeconds } = event;
  const key = surfaceKey(event);
  const surface = state.surfaces.get(key);
  const profileSeconds = surface && valueAt(surface, 'decodeStepSeconds', batchSize, sequenceLength, routingSkew);
  if (
    profileSeconds !== undefined &&
    Math.abs(observedSeconds - profileSeconds) <= observedTolerance * profileSeconds
  ) {
    state.watches.delete(key);
    return;
  }
  const watch = state.watches.get(key) ?? { ...only(event), rounds: 0, roundId: '', points: [] };
  const skew = routingSkew === undefined ? undefined : { routingSkew };
  const point: ProfileConfiguration = { ...only(event), ...skew, batchSize, sequenceLength };
  if (!watch.points.some((one) => pointKey(one) === pointKey(point))) watch.points.push(point);
  if (watch.points.length > mostPoints) watch.points.shift();
  state.watches.set(key, watch);
  if (watch.roundId === roundId) return;
  watch.roundId = roundId;
  watch.rounds += 1;
  if (watch.rounds < observedRounds) return;
  const { rounds } = watch;
  state.watches.delete(key);
  ctx.emit({
    type: 'profile.measure',
    at: ctx.at,
    configurations: toMeasure(state, watch),
    reason:
      profileSeconds === undefined
        ? { code: 'not_profiled', rounds, observedSeconds }
        : { code: 'observed_far', rounds, observedSeconds, profileSeconds },
  });
}

/** Returns the observed points, and the points of the profile from which their values were read. */
function toMeasure(state: TpState, { tp, ep, points }: Watch): ProfileConfiguration[] {
  const surface = state.surfaces.get(surfaceKey({ tp, ep }));
  const all = new Map<string, ProfileConfiguration>();
  for (const point of points) {
    const { batchSize, sequenceLength, routingSkew } = point;
    all.set(pointKey(point), { ...point });
    for (const corner of surface ? cornersOf(surface, batchSize, sequenceLength, routingSkew) : []) {
      const { routingSkew: skew, ...rest } = corner;
      const one = { ...only({ tp, ep }), ...(skew === 1 ? undefined : { routingSkew: skew }), ...rest };
      if (!all.has(pointKey(one))) all.set(pointKey(one), one);
    }
  }
  return [...all.values()].sort(
    (a, b) =>
      (a.routingSkew ?? 1) - (b.routingSkew ?? 1) || a.batchSize - b.batchSize || a.sequenceLength - b.sequenceLength,
  );
}

/** Takes measured rows into the profile. At the end of the next step the profile is asked again, as if the load had changed. */
export function measure(state: TpState, { rows }: Measured): void {
  takeRows(state, rows);
  for (const name of kinds) {
    state.kinds[name].anchor = undefined;
    state.kinds[name].toAsk = 'first';
  }
  for (const row of rows) state.watches.delete(surfaceKey(row));
}
