/** Makes, judges and undoes changes of parallelism, and tells the host. The first one is configured, or chosen by the profile. */
import { given } from '../../core/collections/given.ts';
import type { Message } from '../../schemas/messages.ts';
import type { RolloutWorkload } from '../../schemas/parallelism.ts';
import { best, predictSeconds, type TpCandidate } from './predict.ts';
import { expertDegreesOf, isSame, type Parallelism, replicasOf } from './schema.ts';
import { type Ctx, type Kind, type KindState, loadOf, type StepRecord, type TpState } from './state.ts';
import { surfaceKey } from './surface.ts';

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

/** Forgets the steps of the current parallelism, which is replaced. */
function leave(kind: KindState, to: Parallelism, cooldown: number): void {
  kind.current = only(to);
  kind.previous = undefined;
  kind.calm = 0;
  kind.cooldown = cooldown;
  kind.records = [];
}

function use(kind: KindState, parallelism: Parallelism): void {
  if (!kind.used.some((one) => isSame(one, parallelism))) kind.used.push(only(parallelism));
}

/** Makes the first choice for a kind, and tells the host. */
export function begin(
  state: TpState,
  name: Kind,
  seen: RolloutWorkload | undefined,
  roundId: string | undefined,
  ctx: Ctx,
): void {
  const kind = state.kinds[name];
  const { parallelism, reason } = start(state, name, seen);
  kind.current = parallelism;
  use(kind, parallelism);
  // An anchor is set only for choices by the profile, which are valid as long as the real load resembles the expected one.
  const chosenFor = state.config.expectedWorkload[name] ?? seen;
  if (reason.code === 'start_profile') kind.anchor = loadOf(chosenFor!);
  kind.toAsk = reason.code === 'start_profile' ? 'none' : 'first';
  tell(state, name, parallelism, reason, roundId, ctx);
}

/** Changes to another parallelism after a step. A parallelism that was used at this load before is not judged again. */
export function change(
  state: TpState,
  event: Message<'step.finished'>,
  to: Parallelism,
  reason: SetReason,
  ctx: Ctx,
): void {
  const kind = state.kinds[event.kind];
  const from = kind.current!;
  const isKnown = kind.used.some((one) => isSame(one, to));
  kind.pending = { from, before: isKnown ? [] : kind.records };
  kind.changes += 1;
  // Without a bar, quiet steps would lower the TP again, and the preemptions would come back.
  if (reason.code === 'preemptions_rose') bar(kind, from, event.workload);
  leave(kind, to, state.config.cooldownSteps);
  use(kind, to);
  tell(state, event.kind, to, reason, event.roundId, ctx);
}

function bar(kind: KindState, parallelism: Parallelism, workload: RolloutWorkload | undefined): void {
  kind.bars = kind.bars.filter((one) => !isSame(one, parallelism));
  kind.bars.push({ ...only(parallelism), ...(workload === undefined ? undefined : { load: loadOf(workload) }) });
}

/** Returns the expected seconds of steps with a parallelism; if the profile does not know it, returns their tokens instead. */
function expected(state: TpState, parallelism: Parallelism, steps: readonly StepRecord[]): number[] {
  const known = steps.map((step) => forecast(state, parallelism, step.workload));
  if (known.every((one) => typeof one === 'number')) return known as number[];
  return steps.map((step) => loadOf(step.workload).tokens);
}

/**
 * Compares the first step after a change with the steps before it. The seconds of each step are divided by the prediction for the
 * former parallelism, so that changes of the load and errors of the profile cancel out.
 *
 * @returns the reason to undo the change, or `undefined` if it stays
 */
export function regressionOf(
  state: TpState,
  event: Message<'step.finished'>,
): { ratio: number; before: number; from: Parallelism } | undefined {
  const { pending } = state.kinds[event.kind];
  if (pending === undefined || pending.before.length === 0) return undefined;
  const steps = [...pending.before, event];
  const wanted = expected(state, pending.from, steps);
  const ratios = steps.map((step, at) => step.seconds / wanted[at]!);
  const ratio = ratios.pop()!;
  // Without the mean, one step that was quick by chance would make all other steps look slow.
  const before = Math.max(ratios.at(-1)!, mean(ratios));
  return ratio > before * (1 + state.config.undoTolerance) ? { ratio, before, from: pending.from } : undefined;
}

/** Goes back to the parallelism before a change. */
export function undo(
  state: TpState,
  event: Message<'step.finished'>,
  verdict: NonNullable<ReturnType<typeof regressionOf>>,
  ctx: Ctx,
): void {
  const kind = state.kinds[event.kind];
  const failed = kind.current!;
  const { from, ratio, before } = verdict;
  bar(kind, failed, event.workload);
  kind.bars = kind.bars.filter((one) => !isSame(one, from));
  kind.pending = { from: failed, before: [] };
  kind.changes += 1;
  leave(kind, from, state.config.cooldownSteps);
  const reason: SetReason = { code: 'undone', ...fromOf(failed), measuredToPredicted: ratio, before };
  tell(state, event.kind, from, reason, event.roundId, ctx);
}

/** Returns the parallelism to use if the current one cannot be set up; `undefined` if none is left. */
function fallback(state: TpState, kind: KindState): Parallelism | undefined {
  if (kind.pending !== undefined) return kind.pending.from;
  const { tp, ep } = kind.current!;
  const others = state.degrees
    .filter((one) => one !== tp)
    .sort((a, b) => Number(a < tp) - Number(b < tp) || Math.abs(a - tp) - Math.abs(b - tp));
  const open = others
    .map((one): Parallelism => (ep === undefined ? { tp: one } : { tp: one, ep: Math.min(ep, one) }))
    .filter((one) => !kind.bars.some((barred) => isSame(barred, one)));
  return open[0];
}

/** Handles a parallelism that could not be set up: bars it, and tells the host the former parallelism, or the next larger one. */
export function fail(state: TpState, name: Kind, ctx: Ctx): boolean {
  const kind = state.kinds[name];
  const failed = kind.current!;
  const workload = kind.pending?.before.at(-1)?.workload ?? kind.records.at(-1)?.workload;
  bar(kind, failed, workload);
  const next = fallback(state, kind);
  if (next === undefined) return false;
  kind.bars = kind.bars.filter((one) => !isSame(one, next));
  kind.pending = undefined;
  leave(kind, next, 0);
  use(kind, next);
  tell(state, name, next, { code: 'not_applied', ...fromOf(failed) }, undefined, ctx);
  return true;
}

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

export type SetReason = Message<'kind-tp.set'>['reason'];

/** Returns the fields of a parallelism that are present. */
export const only = ({ tp, ep }: Parallelism): Parallelism => (ep === undefined ? { tp } : { tp, ep });
/** Returns the same fields for the former parallelism. */
export const fromOf = ({ tp, ep }: Parallelism) => (ep === undefined ? { fromTp: tp } : { fromTp: tp, fromEp: ep });
/** Returns the same fields for the wanted parallelism. */
export const wantedOf = ({ tp, ep }: Parallelism) =>
  ep === undefined ? { wantedTp: tp } : { wantedTp: tp, wantedEp: ep };

/** Tells the host with which parallelism a round runs. */
export function tellRound(state: TpState, code: Message<'round-tp.set'>['reason']['code'], ctx: Ctx): void {
  if (state.round === null) return;
  const { roundId, kind, tp, ep } = state.round;
  ctx.emit({
    type: 'round-tp.set',
    at: ctx.at,
    roundId,
    kind,
    tp,
    ...given({ ep }),
    replicas: replicasOf(state.config.servers, tp),
    reason: { code },
  });
}

/** Tells the host the parallelism of a kind. */
export function tell(
  state: TpState,
  kind: Kind,
  { tp, ep }: Parallelism,
  reason: SetReason,
  roundId: string | undefined,
  ctx: Ctx,
): void {
  ctx.emit({
    type: 'kind-tp.set',
    at: ctx.at,
    ...given({ roundId }),
    kind,
    tp,
    ...given({ ep }),
    replicas: replicasOf(state.config.servers, tp),
    reason,
  });
}

/** Reports that a kind keeps its parallelism. */
export function keep(
  kind: Kind,
  { tp, ep }: Parallelism,
  reason: Message<'kind-tp.kept'>['reason'],
  roundId: string,
  ctx: Ctx,
): void {
  const { at } = ctx;
  // Every step emits a decision, and an object spread would be most of its cost.
  if (ep === undefined) ctx.emit({ type: 'kind-tp.kept', at, roundId, kind, tp, reason });
  else ctx.emit({ type: 'kind-tp.kept', at, roundId, kind, tp, ep, reason });
}
