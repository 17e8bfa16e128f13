/**
 * What would have happened: up to an event as the log says, and from there on simulated, once unchanged and once with the change.
 * The two simulations differ only by the change; comparing the first with the log shows how far the simulation can be trusted.
 */
import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { basisOf } from '../colocated/basis.ts';
import type { Job } from '../colocated/job.ts';
import type { BatchShape, Scheduler } from '../colocated/scheduler.ts';
import { mostOf, ratio, ratioOf, sumOf } from '../comparison/metrics.ts';
import type { Interval, StepResult, Unmet } from '../comparison/result.ts';
import { type PredictionOptions, withPredictions } from '../workload/predicted.ts';
import { type Fork, ForkedHost } from './forked-host.ts';
import { checkPossible, type Miss, missOf, ratioInterval } from './interval.ts';
import { beforeRounds, enginesAt, type LoggedJob, roundAt, roundBeginnings } from './logged-job.ts';
import { checkSimulated } from './logged-scheduler.ts';
import { fittedTo, type PaceFit } from './pace.ts';
import { loggedWorkload } from './workload.ts';

/** A question about a log. */
export interface WhatIfOptions {
  readonly logged: LoggedJob;
  /** The definition of the log's policy. */
  readonly definition: AnyPolicyDefinition;
  /** Number of the last event that is taken from the log. */
  readonly at: number;
  /** Settings that change from there on; none for another policy, or to see how accurate the simulation is. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The policy that takes over after the open round, for this shape of the batch; that of the log if absent. */
  readonly scheduler?: (shape: BatchShape) => Scheduler;
  /** Predicted lengths for that policy. */
  readonly predict?: Omit<PredictionOptions, 'responsesPerPrompt' | 'seed'>;
  /** Costs of engines and training. The number of engines in it counts where the log names none. */
  readonly job: Job;
  /** Whether the speed of engines and training is fitted to the rounds before the event, if there are any. */
  readonly fits: boolean;
  readonly capTokens: number;
  /** Seeds for what the log does not know, at least one. */
  readonly seeds: readonly number[];
  /** Receives the share of the simulations that are done, 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
  /** Receives, after each seed, what gives the answer by the seeds so far. */
  readonly onSeed?: ((soFar: () => WhatIf) => void) | undefined;
}

/** The rest of the job after the event, up to the end of the last round that is complete in the log. */
export interface RestOfJob {
  /** Seconds from the event. */
  readonly seconds: number;
  /** Rounds that end after the event. */
  readonly rounds: number;
  /** Tokens of the responses that these rounds trained. */
  readonly keptTokens: number;
  /** All tokens that these rounds generated. */
  readonly generatedTokens: number;
  /** Mean tokens per trained response in these rounds. */
  readonly meanResponseTokens: number;
  /** Prompts that these rounds deferred. */
  readonly deferredPrompts: number;
  /** Share of the kept tokens that older weights generated: 0 to 1. */
  readonly staleShare: number;
  /** Largest number of versions by which a token is behind. */
  readonly maxLag: number;
}

/** The answer. */
export interface WhatIf {
  /** What nobody said about the cluster and was assumed, as phrases. */
  readonly assumed: readonly string[];
  /** What lies outside of the measurements that the time model was fitted to, as phrases. */
  readonly outside: readonly string[];
  /** Id of the log's policy. */
  readonly policy: string;
  /** Number of the event, its time, and the open round. */
  readonly at: { readonly seq: number; readonly seconds: number; readonly roundId: string | null };
  /** Numbers of the log itself. */
  readonly log: RestOfJob;
  /** Simulations without the change, one per seed. */
  readonly asItWas: readonly RestOfJob[];
  /** Simulated with the change. */
  readonly changed: readonly RestOfJob[];
  /**
   * Share of time that the change saves, with an interval for the true value, which covers what the log does not know and the
   * error of the simulation in earlier rounds.
   */
  readonly saved: Interval;
  /** Mean length of the trained responses with the change, over that without; an interval likewise. */
  readonly kept: Interval;
  /** The fit of the speed; null if no round had ended before the event, or fitting is off. */
  readonly fit: PaceFit | null;
  /** Error of the simulation against the log; absent if nothing is changed. */
  readonly misses: { readonly seconds: Miss; readonly tokens: Miss };
  /** Numbers of responses: complete in the log, aborted in the log, and without an end in the log. */
  readonly lengths: { readonly known: number; readonly censored: number; readonly unknown: number };
  /** Prompts that the log has supplied and not trained. */
  readonly untrained: number;
  /** Engines that take requests. */
  readonly engines: number;
  /** What a policy of your own that takes over asks for and does not get; absent if there is nothing. */
  readonly unmet?: readonly Unmet[];
}

/** Settings that define the job, or the names of its requests. */
export const fixedSettings: readonly string[] = ['promptsPerRound', 'responsesPerPrompt', 'placement', 'idPrefix'];

/**
 * Answers a question about a log.
 *
 * @throws PolicyError `infeasible` for a policy, or a log, that cannot be simulated from the middle on; `invalid_input` for an event
 * that the log does not have; `invalid_config` for settings that do not fit, or that are the shape of the job
 */
export function whatIfOf(options: WhatIfOptions): WhatIf {
  const { logged, definition, settings = {}, capTokens, seeds } = options;
  check(options);
  const { events, snapshot } = logged;
  const { promptsPerRound, responsesPerPrompt } = snapshot.config as BatchShape;
  const asked: Job = { ...options.job, promptsPerRound, responsesPerPrompt };
  const first = beforeRounds(logged);
  const at = Math.max(first, options.at);
  const seconds = events[at - 1]?.event.at ?? snapshot.at;
  const fork = { logged, definition, at, settings: {}, engineIds: enginesAt(logged, at), usualPace: usualPace(logged) };
  const hostOf = (job: Job, one: Fork, seed: number, trained: number): ForkedHost => {
    const lengths = loggedWorkload(logged, { name: 'log', capTokens, seed });
    const { predict } = options;
    const isPredicted = one.scheduler !== undefined && predict !== undefined;
    const workload = isPredicted ? withPredictions(lengths, { ...predict, responsesPerPrompt, seed }) : lengths;
    return new ForkedHost(job, one, workload, trained, seed);
  };
  // Nothing is simulated after the last event, so these are the rounds of the log.
  const whole = hostOf(asked, { ...fork, at: events.length }, seeds[0]!, 0).run();
  const fitted = options.fits
    ? fittedTo(
        whole.steps.filter(({ endSeconds }) => endSeconds <= seconds),
        asked,
        (prompts) => hostOf(asked, { ...fork, at: first }, seeds[0]!, prompts).run().steps,
      )
    : { job: asked, fit: null };
  const isSame = Object.keys(settings).length === 0 && options.scheduler === undefined;
  const before = isSame ? [] : roundsBefore(logged, whole.steps, seconds);
  const simulations = before.length + (isSame ? 1 : 2) * seeds.length;
  let done = 0;
  const told = <T>(made: T): T => {
    done += 1;
    options.onProgress?.(done / simulations);
    return made;
  };
  const again = before.map(([seq, step]) => {
    const trained = sumOf(whole.steps.slice(0, step + 1), (one) => one.prompts);
    const simulated = hostOf(fitted.job, { ...fork, at: seq }, seeds[0]!, trained).run().steps[step]!;
    return told({ log: whole.steps[step]!, simulated });
  });
  let drained = 0;
  let unmet: readonly Unmet[] = [];
  const restOf = (one: Fork, seed: number): RestOfJob => {
    const host = hostOf(fitted.job, one, seed, whole.trainedPrompts);
    const { steps, unmet: found = [] } = host.run();
    drained = host.drainedRounds;
    if (one.scheduler !== undefined && host.isOwn) unmet = withPrediction(found, one, seed, steps);
    return told(rest(steps.slice(drained), seconds));
  };
  let isPredictionAsked: boolean | undefined;
  /** Adds predicted lengths where there are none and the policy decides otherwise with the true ones, which is tried once. */
  const withPrediction = (found: readonly Unmet[], one: Fork, seed: number, steps: readonly StepResult[]): Unmet[] => {
    if (options.predict === undefined && isPredictionAsked === undefined) {
      const known = withPredictions(loggedWorkload(logged, { name: 'log', capTokens, seed }), {
        ...{ predict: 'oracle', responsesPerPrompt, seed },
      });
      const other = new ForkedHost(fitted.job, one, known, whole.trainedPrompts, seed).run();
      isPredictionAsked = JSON.stringify(other.steps) !== JSON.stringify(steps);
    }
    return isPredictionAsked === true ? [...found, { what: 'prediction', name: 'expectedTokens' }] : [...found];
  };
  const scheduler = options.scheduler?.({ promptsPerRound, responsesPerPrompt });
  const changedFork = { ...fork, settings, scheduler };
  const [plain, other]: [RestOfJob[], RestOfJob[]] = [[], []];
  const answered = (): WhatIf => {
    const changed = isSame ? plain : other;
    // Whoever asks in between has no change for the last seed yet.
    const asItWas = plain.slice(0, changed.length);
    const over = (of: (one: RestOfJob) => number): number[] =>
      asItWas.map((one, index) => (of(one) === 0 ? 1 : of(changed[index]!) / of(one)));
    const log = rest(whole.steps.slice(drained), seconds);
    const missing = (ofRound: (one: StepResult) => number, ofRest: (one: RestOfJob) => number, extra = 0): Miss => ({
      rounds: missOf(again.map((one) => [ofRound(one.log), ofRound(one.simulated) + extra])),
      rest: isSame ? 0 : (missOf([[ofRest(log), mean(asItWas, ofRest)]])[0] ?? 0),
    });
    // The round in which the fork happens has no seconds before its first token; later rounds do.
    const misses = {
      seconds: missing(
        (one) => one.rolloutSeconds,
        (one) => one.seconds,
        fitted.job.cost.fixedRolloutSeconds,
      ),
      tokens: missing(
        (one) => one.meanResponseTokens,
        (one) => one.meanResponseTokens,
      ),
    };
    const rounds = mean(changed, (one) => one.rounds);
    const time = ratioInterval(
      over((one) => one.seconds),
      misses.seconds,
      rounds,
    );
    const { assumed, outside } = basisOf(options.job);
    checkPossible(time);
    return {
      assumed,
      outside,
      policy: definition.id,
      at: { seq: at, seconds: seconds + logged.beginsAt, roundId: roundAt(logged, at) ?? null },
      log,
      asItWas,
      changed,
      saved: { ...time, value: 1 - time.value, low: 1 - time.high, high: 1 - time.low },
      kept: ratioInterval(
        over((one) => one.meanResponseTokens),
        misses.tokens,
        rounds,
      ),
      fit: fitted.fit,
      misses,
      lengths: lengthsOf(logged),
      untrained: logged.supplied.length - whole.trainedPrompts,
      engines: fork.engineIds.length || asked.engines,
      ...(unmet.length > 0 && { unmet }),
    };
  };
  for (const seed of seeds) {
    plain.push(restOf(fork, seed));
    if (!isSame) other.push(restOf(changedFork, seed));
    options.onSeed?.(answered);
  }
  return answered();
}

const mean = (all: readonly RestOfJob[], of: (one: RestOfJob) => number): number => sumOf(all, of) / all.length;

/** Most rounds before the event that are simulated again. */
const mostAgain = 8;

/** Returns the last rounds that had ended before a time: for each, its number and the event that begins it. */
function roundsBefore(logged: LoggedJob, steps: readonly StepResult[], seconds: number): [seq: number, step: number][] {
  const begins = roundBeginnings(logged);
  return begins
    .flatMap((seq, step): [number, number][] =>
      steps[step] !== undefined && steps[step].endSeconds <= seconds ? [[seq, step]] : [],
    )
    .slice(-mostAgain);
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

/** Returns the tokens per second over all requests whose progress is in the log. */
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
  const tokens = sumOf(steps, 'keptTokens');
  const last = steps.at(-1);
  return {
    seconds: last === undefined ? 0 : last.startSeconds + last.rolloutSeconds - from,
    rounds: steps.length,
    keptTokens: tokens,
    generatedTokens: sumOf(steps, 'generatedTokens'),
    meanResponseTokens: ratio(tokens, sumOf(steps, 'responses')),
    deferredPrompts: sumOf(steps, 'deferredPrompts'),
    staleShare: ratioOf(steps, 'staleTokens', 'keptTokens'),
    maxLag: mostOf(steps, 'lag'),
  };
}
