/** The simulated host of an agentic rollout: programs that begin together on engines with prefix caches, until all are over. */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { PolicyOptions } from '../../core/machine/policy.ts';
import { create } from '../../core/machine/start.ts';
import { refuse } from '../../errors.ts';
import { environmentSlots } from '../../policies/environment-slots/index.ts';
import { type DrivenPolicy, EventLoop } from '../cluster/event-loop.ts';
import { quantileOf, ratio, sumOf } from '../comparison/metrics.ts';
import { EngineTimeline } from '../engine/timeline.ts';
import { type EngineLoss, TurnEngines } from './engines.ts';
import { Programs } from './programs.ts';
import type { AgenticRun } from './result.ts';
import type { AgenticScheduler } from './scheduler.ts';
import type { AgenticJob } from './settings.ts';
import { Slots } from './slots.ts';
import { type AgenticWorkload, checkPrograms } from './workload.ts';

/** Options of one simulated run. */
export interface AgenticRunOptions {
  /** Seed for the starts of environments (default 1). The workload has its own seed. */
  readonly seed?: number;
  /** Engines that crash, and come back with an empty cache. */
  readonly losses?: readonly EngineLoss[];
  /** Whether the policy checks events against their schemas (default false: the driver is trusted). */
  readonly validate?: boolean;
  /**
   * Length of the stretches for the engines' activity in the result, in seconds, above 0; without it, the result has no activity.
   */
  readonly timelineSeconds?: number;
}

/**
 * Runs a workload to its end. The same arguments give the same result.
 *
 * @throws PolicyError `invalid_input` for bad options or programs; `infeasible` when a program can never fit an engine, or the
 *   scheduler leaves programs waiting for ever
 */
export function simulateAgentic(
  job: AgenticJob,
  scheduler: AgenticScheduler,
  workload: AgenticWorkload,
  options: AgenticRunOptions = {},
): AgenticRun {
  const { seed = 1, losses = [], validate = false, timelineSeconds } = options;
  if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seed', 'a whole number', seed);
  checkPrograms(workload.programs, job);
  const programs = new Programs(workload.programs, job.slots !== undefined);
  const engines = new TurnEngines(job, programs, losses);
  if (timelineSeconds !== undefined) record(engines, timelineSeconds);
  const slots = job.slots === undefined ? undefined : new Slots(job.slots, seed);
  const loop = new EventLoop();
  const link = loop.add(policyOf(job, scheduler, { validate }), [
    engines,
    programs,
    ...(slots === undefined ? [] : [slots]),
  ]);
  for (const event of [...engines.opening(), ...(slots?.opening() ?? []), ...programs.opening()]) link.send(event);
  link.report();
  while (programs.open > 0) {
    if (!loop.runOnce()) {
      refuse(
        'infeasible',
        '',
        `${scheduler.id} to run every program`,
        `${programs.open} that wait, and nothing in flight`,
      );
    }
  }
  return resultOf(scheduler, loop.now, programs, engines, slots);
}

/**
 * Joins policies into one, each of which is sent only the events that it takes. Slots are scheduled by `environment-slots` unless
 * another policy does that.
 */
function policyOf(job: AgenticJob, scheduler: AgenticScheduler, options: PolicyOptions): DrivenPolicy {
  const first = scheduler.create(job, options);
  const takes = (one: DrivenPolicy, type: string): boolean => one.takes?.(type) ?? true;
  const policies = [first];
  if (job.slots !== undefined && !takes(first, 'slot.requested'))
    policies.push(create(environmentSlots, {}, options) as unknown as DrivenPolicy);
  const ofTimer = new Map<string, DrivenPolicy>();
  const send = (one: DrivenPolicy, event: AnyEvent): readonly AnyDecision[] => {
    const decisions = one.send(event);
    for (const { type, timerId } of decisions as readonly (AnyDecision & { readonly timerId?: string })[])
      if (type === 'timer.set') ofTimer.set(timerId!, one);
    return decisions;
  };
  return {
    id: scheduler.id,
    send: (event) => {
      const { type, timerId } = event as AnyEvent & { readonly timerId?: string };
      if (type === 'timer.fired') return send(ofTimer.get(timerId!)!, event);
      return policies.flatMap((one) => (takes(one, type) ? send(one, event) : []));
    },
  };
}

function record({ engines }: TurnEngines, seconds: number): void {
  if (!(seconds > 0 && seconds < Infinity)) refuse('invalid_input', 'timelineSeconds', 'seconds above 0', seconds);
  for (const engine of engines) engine.activity = new EngineTimeline(seconds);
}

function resultOf(
  scheduler: AgenticScheduler,
  makespanSeconds: number,
  { book, size }: Programs,
  { engines }: TurnEngines,
  slots: Slots | undefined,
): AgenticRun {
  const { turnSeconds, pauses, contextTokens, cachedTokens, generatedTokens, failedPrograms } = book;
  const ascending = Float64Array.from(turnSeconds).sort();
  const turns = turnSeconds.length;
  const total = sumOf(turnSeconds, (one) => one);
  const busy = sumOf(engines, 'busySeconds');
  return {
    scheduler: scheduler.id,
    makespanSeconds,
    programs: size - failedPrograms,
    failedPrograms,
    turns,
    generatedTokens,
    tokensPerSecond: ratio(generatedTokens, makespanSeconds),
    contextTokens,
    cachedTokens,
    prefixHitRate: ratio(cachedTokens, contextTokens),
    prefilledTokens: sumOf(engines, 'prefilledTokens'),
    preemptions: sumOf(engines, 'preemptions'),
    idleShare: 1 - ratio(busy, engines.length * makespanSeconds),
    turnSeconds: { mean: ratio(total, turns), p50: quantileOf(ascending, 0.5), p99: quantileOf(ascending, 0.99) },
    heldSeconds: ratio(book.heldSeconds, turns),
    pauses: pauses.length,
    pausedSeconds: sumOf(pauses, (one) => one),
    longestPauseSeconds: pauses.reduce((most, one) => Math.max(most, one), 0),
    ...(slots === undefined
      ? {}
      : { slots: { use: slots.use(makespanSeconds), starts: slots.starts, failures: slots.failures } }),
    engines: engines.map(({ engineId, busySeconds, prefillSeconds, preemptions, activity }) => {
      const timeline = activity === undefined ? {} : { timeline: activity.stretches };
      return { engineId, busySeconds, prefillSeconds, preemptions, ...timeline };
    }),
  };
}
