/** One run of a sweep: a job under some settings, with one seed. */
import { PolicyError } from '../../errors.ts';
import { simulate } from '../host/driver.ts';
import type { Job } from '../host/job.ts';
import { clairvoyantLowerBound } from '../lower-bound.ts';
import { simulatePools } from '../pools/driver.ts';
import type { PoolsJob } from '../pools/settings.ts';
import type { Workload } from '../workload/workload.ts';
import { drawnHalf } from './halves.ts';
import { deferredPerRound, type MeasuredRound, type RoundRates, ratesOf, roundsNeeded } from './measure.ts';
import { poolsSchedulerOf, synchronousScheduler } from './schedulers.ts';
import type { PoolsSettings, SweepSettings, SynchronousSettings } from './settings.ts';

interface Problem {
  /** The workload of a seed: every candidate gets the same one. Of a trace, each seed draws half of its prompts. */
  readonly workload: (seed: number) => Workload;
  /** Training steps (rounds) of a run, a whole number >= 1; more where a candidate needs them for a long round. */
  readonly steps: number;
}

/** A synchronous job, which the recipe `rollpacker` schedules. */
export interface SynchronousProblem extends Problem {
  /** Which kind of job it is. */
  readonly kind: 'synchronous';
  /** Engines, batch shape and cost model; with `hardware` and `rewards`, as the presets have them. */
  readonly job: Job;
}

/** A job with pools of its own for rollout and training: `rolloutpipe`, and `tail-pipelining`. */
export interface PoolsProblem extends Problem {
  /** Which kind of job it is. */
  readonly kind: 'pools';
  /** Engines, trainer and batch shape. */
  readonly job: PoolsJob;
}

/** What is swept. */
export type SweepProblem = SynchronousProblem | PoolsProblem;

/** A run to be made: JSON. */
export interface SweepTask {
  /** What is tried, or the job without any of it. */
  readonly settings: SweepSettings | 'baseline';
  /** Seed of lengths and rewards, a whole number. */
  readonly seed: number;
}

/** What a run gives: JSON. */
export type SweepRun =
  | (RoundRates & {
      /** Of the baseline only: least seconds a prompt for a scheduler that knows all lengths. */
      readonly boundSecondsPerPrompt?: number;
    })
  | {
      /** Why the job cannot run with these settings. */
      readonly infeasible: string;
    };

/** The codes of settings that do not fit the job: such a candidate is left out, and the sweep goes on. */
const unfit = new Set(['infeasible', 'invalid_config']);

/**
 * Makes runs. The same problem and task give the same run, wherever it is made.
 *
 * @throws PolicyError `infeasible` and the like where the job cannot run even as the baseline
 */
export function sweepEvaluator(problem: SweepProblem): (task: SweepTask) => SweepRun {
  const workloads = new Map<number, Workload>();
  const workload = (seed: number): Workload => {
    const known = workloads.get(seed) ?? drawnHalf(problem.workload(seed), seed);
    workloads.set(seed, known);
    return known;
  };
  return ({ settings, seed }) => {
    try {
      return problem.kind === 'pools'
        ? poolsRun(problem, settings as PoolsSettings | 'baseline', workload(seed), seed)
        : synchronousRun(problem, settings as SynchronousSettings | 'baseline', workload(seed), seed);
    } catch (error) {
      if (settings === 'baseline' || !(error instanceof PolicyError) || !unfit.has(error.code)) throw error;
      return { infeasible: error.message };
    }
  };
}

const factorOf = (settings: SweepSettings | 'baseline'): number =>
  settings === 'baseline' ? 1 : settings.promptSpeculation;

function synchronousRun(
  { job, steps }: SynchronousProblem,
  settings: SynchronousSettings | 'baseline',
  workload: Workload,
  seed: number,
): SweepRun {
  const { promptsPerRound } = job;
  const prompts = promptsPerRound * roundsNeeded(steps, promptsPerRound, factorOf(settings));
  const scheduler = synchronousScheduler(job, settings);
  const run = simulate(job, scheduler, workload, { prompts, seed, timeline: false });
  const rounds = run.steps.map(
    (step): MeasuredRound => ({
      kind: step.kind,
      seconds: step.endSeconds - step.startSeconds,
      prompts: step.prompts,
      responses: step.responses,
      tokens: step.keptTokens,
      capped: step.cappedResponses,
    }),
  );
  const rates = ratesOf(rounds, promptsPerRound, deferredPerRound(promptsPerRound, factorOf(settings)));
  if (settings !== 'baseline') return rates;
  const bound = clairvoyantLowerBound(
    fixedPrompts(workload, prompts, job.responsesPerPrompt),
    promptsPerRound,
    job.engines,
    job.cost,
    { overlap: true },
  );
  return { ...rates, boundSecondsPerPrompt: bound.totalSeconds / prompts };
}

function poolsRun(
  { job, steps }: PoolsProblem,
  settings: PoolsSettings | 'baseline',
  workload: Workload,
  seed: number,
): SweepRun {
  const { groupsPerRound, responsesPerPrompt, engines, cost } = job;
  const needed = roundsNeeded(steps, groupsPerRound, factorOf(settings));
  const run = simulatePools(job, poolsSchedulerOf(settings), workload, { rounds: needed, seed, timeline: false });
  const rounds = run.rounds.map(
    (round): MeasuredRound => ({
      kind: round.kind,
      seconds: round.endSeconds - round.startSeconds,
      prompts: round.groups,
      responses: round.responses,
      tokens: round.tokens,
      capped: round.cappedResponses,
    }),
  );
  const rates = ratesOf(rounds, groupsPerRound, deferredPerRound(groupsPerRound, factorOf(settings)));
  if (settings !== 'baseline') return rates;
  const prompts = needed * groupsPerRound;
  const fixed = fixedPrompts(workload, prompts, responsesPerPrompt);
  const bound = clairvoyantLowerBound(fixed, groupsPerRound, engines, cost, { oneOff: true });
  // Rollouts and training may overlap at best; every round ends with new weights, which nothing overlaps.
  const seconds = bound.totalSeconds + needed * cost.weightSyncSeconds;
  return { ...rates, boundSecondsPerPrompt: seconds / prompts };
}

function fixedPrompts(workload: Workload, count: number, responses: number) {
  return Array.from({ length: count }, (_, index) => {
    const prompt = workload.prompt(index);
    const responseTokens = Array.from({ length: responses }, (_unused, k) => prompt.sample(k).tokens);
    return { promptTokens: prompt.promptTokens, responseTokens };
  });
}
