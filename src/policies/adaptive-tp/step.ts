/**
 * The rule that follows preemptions (RollPacker §4.2) decides at the end of each step. Observations are compared with the profile, which
 * is measured anew where they are far from it (RollPacker §7).
 */
import type { Message } from '../../schemas/messages.ts';
import type { ProfileConfiguration } from '../../schemas/parallelism.ts';
import {
  begin,
  change,
  forecast,
  fromOf,
  keep,
  only,
  regressionOf,
  type SetReason,
  selected,
  undo,
  wantedOf,
  withExperts,
} from './change.ts';
import { isSame, type Parallelism, reported } from './schema.ts';
import {
  type Ctx,
  endRound,
  hasMoved,
  type KindState,
  kinds,
  type Load,
  loadOf,
  recordedSteps,
  type TpState,
  takeRows,
  type Watch,
} from './state.ts';
import { cornersOf, pointKey, surfaceKey, valueAt } from './surface.ts';

interface Wish {
  readonly to: Parallelism;
  readonly reason: SetReason;
}

/** Answers the end of a step by one `kind-tp.set` or `kind-tp.kept`. */
export function finishStep(state: TpState, event: Message<'step.finished'>, ctx: Ctx): void {
  const { roundId, workload, seconds } = event;
  const kind = state.kinds[event.kind];
  if (state.recentRounds.has(roundId)) {
    const current = kind.current ?? reported(event, state.config.experts);
    return keep(event.kind, current, { code: 'repeated' }, roundId, ctx);
  }
  state.recentRounds.add(roundId);
  endRound(state, roundId);
  const wasTold = kind.current !== undefined;
  if (!wasTold) begin(state, event.kind, workload, roundId, ctx);
  const current = kind.current!;
  const ran = reported(event, state.config.experts);
  if (!isSame(current, ran)) {
    const reason = { code: 'other_parallelism', ...ranOf(ran) } as const;
    if (wasTold) keep(event.kind, current, reason, roundId, ctx);
    return;
  }
  const load = loadOf(workload);
  if (follow(state, kind, load) && kind.toAsk === 'none') kind.toAsk = 'moved';
  const verdict = regressionOf(state, event);
  kind.pending = undefined;
  if (verdict !== undefined) return undo(state, event, verdict, ctx);
  const { previous } = kind;
  note(kind, event);
  kind.records.push({ workload: { ...workload }, seconds });
  if (kind.records.length > recordedSteps) kind.records.shift();
  if (!wasTold) return;
  if (kind.cooldown > 0) {
    kind.cooldown -= 1;
    const reason = { code: 'cooldown', preemptions: event.preemptions, stepsLeft: kind.cooldown } as const;
    return keep(event.kind, current, reason, roundId, ctx);
  }
  if (kind.toAsk !== 'none') {
    // The margin protects an earlier choice from the profile; the first choice needs none.
    const margin = kind.toAsk === 'first' ? 0 : state.config.selectionMargin;
    kind.toAsk = 'none';
    const wish = reselect(state, event, current, margin);
    if (wish !== undefined) return change(state, event, wish.to, wish.reason, ctx);
  }
  decide(state, event, current, previous, load, ctx);
}

const ranOf = ({ tp, ep }: Parallelism) => (ep === undefined ? { ranTp: tp } : { ranTp: tp, ranEp: ep });

function note(kind: KindState, { preemptions }: Message<'step.finished'>): void {
  kind.previous = preemptions;
  kind.calm = preemptions === 0 ? kind.calm + 1 : 0;
}

/** Follows the load: if the load has moved, lifts bars and resets the count of changes. Returns whether it has moved. */
function follow(state: TpState, kind: KindState, load: Load): boolean {
  const { loadTolerance } = state.config;
  if (kind.bars.length > 0) {
    for (const bar of kind.bars) bar.load ??= load;
    kind.bars = kind.bars.filter((bar) => !hasMoved(bar.load!, load, loadTolerance));
  }
  if (kind.anchor !== undefined && !hasMoved(kind.anchor, load, loadTolerance)) return false;
  const isOther = kind.anchor !== undefined;
  kind.anchor = load;
  kind.changes = 0;
  kind.used = [only(kind.current!)];
  return isOther;
}

/** Asks the profile again because the load has moved (RollPacker §4.1, step 2). */
function reselect(
  state: TpState,
  { kind, workload }: Message<'step.finished'>,
  current: Parallelism,
  margin: number,
): Wish | undefined {
  const chosen = selected(state, kind, workload);
  if (chosen === undefined || isSame(chosen, current)) return undefined;
  const from = forecast(state, current, workload);
  const { predictedSeconds } = chosen;
  if (typeof from === 'number' && predictedSeconds >= from * (1 - margin)) return undefined;
  const numbers = {
    ...fromOf(current),
    predictedSeconds,
    ...(typeof from === 'number' ? { fromPredictedSeconds: from } : undefined),
  };
  const isSkew = chosen.tp === current.tp;
  const reason: SetReason = isSkew
    ? { code: 'routing_skewed', ...numbers, routingSkew: workload.routingSkew ?? 1 }
    : { code: 'profile_selected', ...numbers };
  return { to: only(chosen), reason };
}

/** Doubles the TP when preemptions rise, and halves it after quiet steps, within bounds and unless there is an objection. */
function decide(
  state: TpState,
  event: Message<'step.finished'>,
  current: Parallelism,
  previous: number | undefined,
  load: Load,
  ctx: Ctx,
): void {
  const { roundId, preemptions } = event;
  const { riseFactor, preemptionFloor, calmSteps } = state.config;
  const kind = state.kinds[event.kind];
  const rises = previous !== undefined && preemptions > preemptionFloor && preemptions > riseFactor * previous;
  const steps = kind.calm;
  if (!rises && steps < calmSteps) {
    const reason: Message<'kind-tp.kept'>['reason'] =
      previous === undefined
        ? { code: 'first_step', preemptions }
        : { code: 'steady', preemptions, previousPreemptions: previous, calmSteps: steps };
    return keep(event.kind, current, reason, roundId, ctx);
  }
  kind.calm = 0;
  const tp = rises ? current.tp * 2 : current.tp / 2;
  if (!state.degrees.includes(tp)) {
    const [minTp, maxTp] = [state.degrees[0]!, state.degrees.at(-1)!];
    return keep(event.kind, current, { code: 'at_bound', minTp, maxTp }, roundId, ctx);
  }
  const to = withExperts(state, tp, current, event.workload);
  const objection = objectionTo(state, event, current, to, load, rises);
  if (objection !== undefined) return keep(event.kind, current, objection, roundId, ctx);
  const reason: SetReason = rises
    ? { code: 'preemptions_rose', ...fromOf(current), preemptions, previousPreemptions: previous! }
    : { code: 'preemption_free', ...fromOf(current), steps };
  change(state, event, to, reason, ctx);
}

/**
 * Returns the objection to a change by the rule, if any: the new parallelism is barred at this load, no change is left, or the
 * profile predicts a longer time.
 */
function objectionTo(
  state: TpState,
  { kind: name, workload, seconds }: Message<'step.finished'>,
  current: Parallelism,
  to: Parallelism,
  load: Load,
  rises: boolean,
): Message<'kind-tp.kept'>['reason'] | undefined {
  const { bars, changes, used } = state.kinds[name];
  const { mostChanges } = state;
  const barred = bars.find((one) => isSame(one, to));
  if (barred !== undefined) {
    const loads = { loadTokens: load.tokens, barredAtTokens: barred.load!.tokens };
    return { code: 'load_unchanged', ...wantedOf(to), ...loads };
  }
  // The last change is reserved for an undo; going back to a parallelism that was used at this load needs no undo.
  if (changes + (used.some((one) => isSame(one, to)) ? 1 : 2) > mostChanges) {
    return { code: 'settled', ...wantedOf(to), changes, mostChanges };
  }
  const wantedPredictedSeconds = forecast(state, to, workload);
  if (wantedPredictedSeconds === 'does_not_fit') return { code: 'does_not_fit', ...wantedOf(to) };
  const predictedSeconds = forecast(state, current, workload);
  const isKnown = typeof predictedSeconds === 'number' && wantedPredictedSeconds !== undefined;
  if (!isKnown || wantedPredictedSeconds <= predictedSeconds) return undefined;
  // With preemptions, the step itself tells more than a profile: means of lengths do not show which responses meet in the cache.
  if (rises && wantedPredictedSeconds < seconds) return undefined;
  return { code: 'vetoed', ...wantedOf(to), wantedPredictedSeconds, predictedSeconds };
}

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
