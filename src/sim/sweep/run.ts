/** One run of a sweep: a job under some settings, with one seed. */
import { PolicyError, refuse } from '../../errors.ts';
import { simulate } from '../colocated/driver.ts';
import type { Job } from '../colocated/job.ts';
import { fixedPrompts, longestOf } from '../kept-shares.ts';
import type { FixedPrompt } from '../lower-bound.ts';
import { oracleSchedule } from '../oracle.ts';
import { simulatePools } from '../pools/driver.ts';
import type { PoolsJob } from '../pools/settings.ts';
import type { Workload } from '../workload/workload.ts';
import type { Levers } from './levers.ts';
import { deferredPerRound, type MeasuredRound, type RoundRates, ratesOf, roundsNeeded } from './measure.ts';
import { poolsSchedulerOf, synchronousScheduler } from './schedulers.ts';
import type { PoolsSettings, SweepSettings, SynchronousSettings } from './settings.ts';
import { partOf, type SweepPart } from './split.ts';

interface Problem {
  /** The workload of a seed: every candidate gets the same one. Of a trace, each seed draws half of the prompts of a part. */
  readonly workload: (seed: number) => Workload;
  /**
   * Training steps (rounds) of a run of the search, a whole number >= 1; more where a candidate needs them for a long round,
   * and at least 40 in the confirmation.
   */
  readonly steps: number;
}

/** A synchronous job, which the recipe `rollpacker` schedules. */
export interface SynchronousProblem extends Problem {
  /** Kind of the job. */
  readonly kind: 'synchronous';
  /** Engines, batch shape and cost model; with `hardware` and `rewards`, as the presets have them. */
  readonly job: Job;
  /** The levers of the host; all if absent. */
  readonly levers?: Levers;
}

/** A job with pools of its own for rollout and training: `rolloutpipe`, and `tail-pipelining`. */
export interface PoolsProblem extends Problem {
  /** Kind of the job. */
  readonly kind: 'pools';
  /** Engines, trainer and batch shape. */
  readonly job: PoolsJob;
}

/** The job that is swept. */
export type SweepProblem = SynchronousProblem | PoolsProblem;

/** A run to be made: JSON. */
export interface SweepTask {
  /** The settings to try, the job without any of them, or the oracle schedule of a synchronous job. */
  readonly settings: SweepSettings | 'baseline' | 'oracle';
  /** Seed of lengths and rewards, a whole number. */
  readonly seed: number;
  /** The prompts, and the number of steps; absent: all prompts of the workload, and the steps of the problem. */
  readonly part?: SweepPart;
}

/** The result of a run: JSON. */
export type SweepRun =
  | (RoundRates & {
      /** Responses of the trained prompts among the longest 1 % that the baseline trains on. */
      readonly longFixed: number;
      /** Responses trained on that are as long. */
      readonly longTrained: number;
    })
  | {
      /** The reason why the job cannot run with these settings. */
      readonly infeasible: string;
    };

/** Steps of a run of the confirmation, at least: policies that learn have learned by then. */
export const leastConfirmationSteps = 40;

/** Returns the number of steps of a run of a part. */
export const stepsOf = ({ steps }: SweepProblem, part?: SweepPart): number =>
  part === 'confirmation' ? Math.max(leastConfirmationSteps, steps) : steps;

/** Error codes of settings that do not fit the job: such a candidate is left out, and the sweep continues. */
const unfit = new Set(['infeasible', 'invalid_config']);

/**
 * Makes runs. The same problem and task give the same run, wherever it is made.
 *
 * @throws PolicyError `infeasible` and the like where the job cannot run even as the baseline, `invalid_input` for the
 *   oracle of pools
 */
export function sweepEvaluator(problem: SweepProblem): (task: SweepTask) => SweepRun {
  const known = new Map<string, Given>();
  const given = ({ seed, part }: SweepTask): Given => {
    const key = `${part} ${seed}`;
    const one = known.get(key) ?? givenOf(problem, seed, part);
    known.set(key, one);
    return one;
  };
  return (task) => {
    const { settings, seed } = task;
    try {
      return problem.kind === 'pools'
        ? poolsRun(problem, settings as PoolsSettings | 'baseline' | 'oracle', given(task), seed)
        : synchronousRun(problem, settings as SynchronousSettings | 'baseline' | 'oracle', given(task), seed);
    } catch (error) {
      if (typeof settings === 'string' || !(error instanceof PolicyError) || !unfit.has(error.code)) throw error;
      return { infeasible: error.message };
    }
  };
}

/** Inputs that all candidates of a seed share. */
interface Given {
  readonly workload: Workload;
  readonly steps: number;
  /** The prompts that the baseline trains on. */
  readonly fixed: readonly FixedPrompt[];
  readonly longTokens: number;
}

function givenOf(problem: SweepProblem, seed: number, part: SweepPart | undefined): Given {
  const all = problem.workload(seed);
  const workload = part === undefined ? all : partOf(all, part, seed);
  const steps = stepsOf(problem, part);
  const fixed = fixedPrompts(workload, steps * promptsOf(problem), problem.job.responsesPerPrompt);
  return { workload, steps, fixed, longTokens: longestOf(fixed) };
}

/** Returns the number of prompts of a round. */
export const promptsOf = (problem: SweepProblem): number =>
  problem.kind === 'pools' ? problem.job.groupsPerRound : problem.job.promptsPerRound;

const factorOf = (settings: SweepSettings | string): number =>
  typeof settings === 'string' ? 1 : settings.promptSpeculation;

function synchronousRun(
  { job }: SynchronousProblem,
  settings: SynchronousSettings | 'baseline' | 'oracle',
  { workload, steps, fixed, longTokens }: Given,
  seed: number,
): SweepRun {
  const { promptsPerRound } = job;
  const prompts = promptsPerRound * roundsNeeded(steps, promptsPerRound, factorOf(settings));
  const of =
    settings === 'oracle'
      ? oracleSchedule({ job, workload, fixed, seed, trains: true })
      : { scheduler: synchronousScheduler(job, settings), workload };
  const run = simulate(job, of.scheduler, of.workload, { prompts, seed, timeline: false, longTokens });
  const rounds = run.steps.map(
    (step): MeasuredRound => ({
      kind: step.kind,
      seconds: step.endSeconds - step.startSeconds,
      prompts: step.prompts,
      responses: step.responses,
      tokens: step.keptTokens,
      capped: step.cappedResponses,
      lag: step.lag,
    }),
  );
  const { longFixed, longTrained } = run.kept;
  const rates = ratesOf(rounds, promptsPerRound, deferredPerRound(promptsPerRound, factorOf(settings)));
  return { ...rates, longFixed, longTrained };
}

function poolsRun(
  { job }: PoolsProblem,
  settings: PoolsSettings | 'baseline' | 'oracle',
  { workload, steps, longTokens }: Given,
  seed: number,
): SweepRun {
  if (settings === 'oracle') {
    refuse('invalid_input', 'settings', 'a synchronous job', 'pools');
  }
  const { groupsPerRound } = job;
  const needed = roundsNeeded(steps, groupsPerRound, factorOf(settings));
  const options = { rounds: needed, seed, timeline: false, longTokens };
  const run = simulatePools(job, poolsSchedulerOf(settings), workload, options);
  const rounds = run.rounds.map(
    (round): MeasuredRound => ({
      kind: round.kind,
      seconds: round.endSeconds - round.startSeconds,
      prompts: round.groups,
      responses: round.responses,
      tokens: round.tokens,
      capped: round.cappedResponses,
      lag: round.lag,
    }),
  );
  const { longFixed, longTrained } = run.kept;
  const rates = ratesOf(rounds, groupsPerRound, deferredPerRound(groupsPerRound, factorOf(settings)));
  return { ...rates, longFixed, longTrained };
}
