/**
 * What would have been: up to an event as a log says, from there on simulated, once as it was and once with the change. The two
 * differ by the change alone; the log beside the first shows how far the simulation can be believed.
 */
import type { AnyPolicyDefinition } from '../../core/definition.ts';
import { parse } from '../../core/validate.ts';
import { refuse } from '../../errors.ts';
import type { Job } from '../colocated/job.ts';
import type { BatchShape, Scheduler } from '../colocated/scheduler.ts';
import { quantileOf, ratio, sumOf } from '../metrics.ts';
import type { Interval, StepResult } from '../result.ts';
import { type Fork, ForkedHost } from './forked-host.ts';
import { beforeRounds, enginesAt, type LoggedJob, roundAt } from './logged-job.ts';
import { checkSimulated } from './logged-scheduler.ts';
import { fittedTo, type PaceFit } from './pace.ts';
import { loggedWorkload } from './workload.ts';

/** A question about a log. */
export interface WhatIfOptions {
  readonly logged: LoggedJob;
  /** The definition of the policy of the log. */
  readonly definition: AnyPolicyDefinition;
  /** Number of the last event that is taken from the log. */
  readonly at: number;
  /** Settings that are other from there on; none for another policy, or to see what the simulation is worth. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The policy that takes over after the open round, for this shape of the batch; that of the log if absent. */
  readonly scheduler?: (shape: BatchShape) => Scheduler;
  /** What the engines and the training cost. Its number of engines is taken where the log names none. */
  readonly job: Job;
  /** Whether the speed of engines and training is fitted to the rounds before the event, where there are any. */
  readonly fits: boolean;
  readonly capTokens: number;
  /** Seeds of what the log does not know, at least one. */
  readonly seeds: readonly number[];
}

/** What is left of the job after the event: to the end of the last round that the log has to its end. */
export interface RestOfJob {
  /** Seconds from the event. */
  readonly seconds: number;
  readonly rounds: number;
  /** Tokens of the trained responses, and all that were generated, of the rounds that end after the event. */
  readonly keptTokens: number;
  readonly generatedTokens: number;
  /** Mean tokens of a trained response, of these rounds. */
  readonly meanResponseTokens: number;
  readonly deferredPrompts: number;
  /** Share of these tokens that older weights generated, and most versions by which they are behind. */
  readonly staleShare: number;
  readonly maxLag: number;
}

/** The answer. */
export interface WhatIf {
  readonly policy: string;
  /** The event, its time, and the round that was open. */
  readonly at: { readonly seq: number; readonly seconds: number; readonly roundId: string | null };
  readonly log: RestOfJob;
  /** Simulated without the change, one for each seed. */
  readonly asItWas: readonly RestOfJob[];
  /** Simulated with the change. */
  readonly changed: readonly RestOfJob[];
  /** Share of the time that the change saves, with an interval over what the log does not know. */
  readonly saved: Interval;
  /** Mean length of the trained responses with the change, over that without. */
  readonly kept: Interval;
  /** How the speed was fitted; null where no round had ended before the event, or none was to be fitted. */
  readonly fit: PaceFit | null;
  /** Responses that the log has in full, that were aborted in it, and whose end it does not have. */
  readonly lengths: { readonly known: number; readonly censored: number; readonly unknown: number };
  /** Prompts that the log has supplied and not trained. */
  readonly untrained: number;
  /** Engines that take requests. */
  readonly engines: number;
}

/** Settings that are what the job is, or how its requests are named. */
const fixedSettings = ['promptsPerRound', 'responsesPerPrompt', 'placement', 'idPrefix'];

/**
 * Answers a question about a log.
 *
 * @throws PolicyError `infeasible` for a policy, or a log, that cannot be simulated from the middle on; `invalid_input` for an event
 * that the log does not have; `invalid_config` for settings that do not fit, or that are the shape of the job
 */
export function whatIf(options: WhatIfOptions): WhatIf {
  const { logged, definition, settings = {}, capTokens, seeds } = options;
  check(options);
  const { events, snapshot } = logged;
  const { promptsPerRound, responsesPerPrompt } = snapshot.config as BatchShape;
  const asked: Job = { ...options.job, promptsPerRound, responsesPerPrompt };
  const first = beforeRounds(logged);
  const at = Math.max(first, options.at);
  const seconds = events[at - 1]?.event.at ?? snapshot.at;
  const fork = { logged, definition, at, settings: {}, engineIds: enginesAt(logged, at), usualPace: usualPace(logged) };
  const hostOf = (job: Job, one: Fork, seed: number, trained: number): ForkedHost =>
    new ForkedHost(job, one, loggedWorkload(logged, { name: 'log', capTokens, seed }), trained, seed);
  // Nothing is simulated after the last event: these are the rounds of the log.
  const whole = hostOf(asked, { ...fork, at: events.length }, seeds[0]!, 0).run();
  const fitted = options.fits
    ? fittedTo(
        whole.steps.filter(({ endSeconds }) => endSeconds <= seconds),
        asked,
        (prompts) => hostOf(asked, { ...fork, at: first }, seeds[0]!, prompts).run().steps,
      )
    : { job: asked, fit: null };
  let drained = 0;
  const restOf = (one: Fork) =>
    seeds.map((seed) => {
      const host = hostOf(fitted.job, one, seed, whole.trainedPrompts);
      const { steps } = host.run();
      drained = host.drainedRounds;
      return rest(steps.slice(drained), seconds);
    });
  const scheduler = options.scheduler?.({ promptsPerRound, responsesPerPrompt });
  const asItWas = restOf(fork);
  const isSame = Object.keys(settings).length === 0 && scheduler === undefined;
  const changed = isSame ? asItWas : restOf({ ...fork, settings, scheduler });
  const over = (of: (one: RestOfJob) => number): number[] =>
    asItWas.map((one, index) => (of(one) === 0 ? 1 : of(changed[index]!) / of(one)));
  return {
    policy: definition.id,
    at: { seq: at, seconds, roundId: roundAt(logged, at) ?? null },
    log: rest(whole.steps.slice(drained), seconds),
    asItWas,
    changed,
    saved: intervalOf(over((one) => one.seconds).map((share) => 1 - share)),
    kept: intervalOf(over((one) => one.meanResponseTokens)),
    fit: fitted.fit,
    lengths: lengthsOf(logged),
    untrained: logged.supplied.length - whole.trainedPrompts,
    engines: fork.engineIds.length || asked.engines,
  };
}

function check({ logged, definition, at, settings = {} }: WhatIfOptions): void {
  const { events, snapshot } = logged;
  checkSimulated(definition.id, snapshot.config);
  if (!Number.isInteger(at) || at < 0 || at > events.length) {
    refuse('invalid_input', 'at', `the number of an event, 0 to ${events.length}`, at);
  }
  for (const name of fixedSettings) {
    if (Object.hasOwn(settings, name)) refuse('invalid_config', name, 'a setting that a running job can change', name);
  }
  const changed = { ...(snapshot.config as object), ...settings };
  parse(definition.config, changed, 'invalid_config');
  checkSimulated(definition.id, changed);
}

/** Returns the tokens a second of all requests of which the log says how far they came. */
function usualPace({ requests }: LoggedJob): number {
  let [tokens, seconds] = [0, 0];
  for (const one of requests.values()) {
    if (one.tokens === undefined) continue;
    tokens += one.tokens - one.keptTokens;
    seconds += one.endSeconds - one.startSeconds;
  }
  return ratio(tokens, seconds);
}

function lengthsOf({ supplied, requests }: LoggedJob): WhatIf['lengths'] {
  const samples = supplied.flatMap((one) => [...one.samples.values()]);
  const censored = samples.filter((one) => one.censored).length;
  let unknown = 0;
  for (const { tokens } of requests.values()) if (tokens === undefined) unknown += 1;
  return { known: samples.length - censored, censored, unknown };
}

/** Sums up the steps after an event. */
function rest(steps: readonly StepResult[], from: number): RestOfJob {
  const tokens = sumOf(steps, (one) => one.keptTokens);
  const last = steps.at(-1);
  return {
    seconds: last === undefined ? 0 : last.startSeconds + last.rolloutSeconds - from,
    rounds: steps.length,
    keptTokens: tokens,
    generatedTokens: sumOf(steps, (one) => one.generatedTokens),
    meanResponseTokens: ratio(
      tokens,
      sumOf(steps, (one) => one.responses),
    ),
    deferredPrompts: sumOf(steps, (one) => one.deferredPrompts),
    staleShare: ratio(
      sumOf(steps, (one) => one.staleTokens),
      tokens,
    ),
    maxLag: steps.reduce((most, one) => Math.max(most, one.lag), 0),
  };
}

const confidence = 0.95;

/** Returns the mean over draws, and the interval that holds 95 % of them: what really happened is one draw. */
function intervalOf(values: readonly number[]): Interval {
  const ascending = Float64Array.from(values).sort();
  const tail = (1 - confidence) / 2;
  const value = ratio(
    sumOf(values, (one) => one),
    values.length,
  );
  return { value, low: quantileOf(ascending, tail), high: quantileOf(ascending, 1 - tail), confidence };
}
