/** One run of a sweep: a job with some settings and one seed. */
import { scaledCount } from '../../core/rollout/prompts.ts';
import { PolicyError, refuse } from '../../errors.ts';
import type { FixedPrompt } from '../bounds/lower-bound.ts';
import { oracleSchedule } from '../bounds/oracle.ts';
import { machinesOf } from '../calibration/machines.ts';
import { simulate } from '../colocated/driver.ts';
import type { Job } from '../colocated/job.ts';
import { fixedPrompts, longestOf } from '../comparison/kept-shares.ts';
import { simulatePools } from '../pools/driver.ts';
import type { PoolsJob } from '../pools/settings.ts';
import { returning } from '../workload/epochs.ts';
import type { Workload } from '../workload/workload.ts';
import { deferredPerRound, type MeasuredRound, type RoundRates, ratesOf, roundsNeeded } from './measure.ts';
import type { Levers } from './settings/levers.ts';
import { poolsSchedulerOf, synchronousScheduler } from './settings/schedulers.ts';
import { isPartial, type PoolsSettings, type SweepSettings, type SynchronousSettings } from './settings/settings.ts';
import { partOf, type SweepPart } from './split.ts';

interface Problem {
  /** Returns the workload for a seed, the same for every candidate. With a trace, each seed draws half of a part's prompts. */
  readonly workload: (seed: number) => Workload;
  /**
   * Training steps (rounds) in a run of the search, a whole number >= 1. A candidate gets more if it needs them for a long round;
   * runs of the confirmation have at least 40.
   */
  readonly steps: number;
}

/** A synchronous job, scheduled by the recipe `rollpacker`. */
export interface SynchronousProblem extends Problem {
  /** Kind of the job. */
  readonly kind: 'synchronous';
  /** Engines, batch shape and cost model, including `hardware` and `rewards`, as in the presets. */
  readonly job: Job;
  /** The levers of the host; by default all. */
  readonly levers?: Levers;
}

/** A job with separate pools for rollout and training, scheduled by `rolloutpipe` or `tail-pipelining`. */
export interface PoolsProblem extends Problem {
  /** Kind of the job. */
  readonly kind: 'pools';
  /** Engines, trainer and batch shape. */
  readonly job: PoolsJob;
}

/** The job of a sweep. */
export type SweepProblem = SynchronousProblem | PoolsProblem;

/** A run to make, as JSON. */
export interface SweepTask {
  /** The settings to try; `baseline` for the job without any of them, or `oracle` for the oracle schedule of a synchronous job. */
  readonly settings: SweepSettings | 'baseline' | 'oracle';
  /** Seed of lengths and rewards, a whole number. */
  readonly seed: number;
  /**
   * The part, which determines the prompts and the number of steps; by default all prompts of the workload, and the steps of the
   * problem.
   */
  readonly part?: SweepPart;
  /** Times that each prompt comes, a whole number > 1; then the run has all prompts, and the steps of the confirmation. */
  readonly epochs?: number;
  /** Steps in place of those of the part, a whole number >= 1: where a budget of work cuts the runs. */
  readonly steps?: number;
  /** Index of the machine among those that the job may turn out to run on; only for a synchronous job, which is itself the first. */
  readonly machine?: number;
}

/** The result of a run, as JSON. */
export type SweepRun =
  | (RoundRates & {
      /** Trained responses among the longest 1 % of the baseline's responses. */
      readonly longFixed: number;
      /** Number of trained responses with at least this length. */
      readonly longTrained: number;
    })
  | {
      /** The reason why the job cannot run with these settings. */
      readonly infeasible: string;
    };

/** Least number of steps per confirmation run: after so many, policies that learn have learned. */
export const leastConfirmationSteps = 40;

/** Returns the number of steps per run in a part. */
export const stepsOf = ({ steps }: SweepProblem, part?: SweepPart): number =>
  part === 'confirmation' ? Math.max(leastConfirmationSteps, steps) : steps;

/** Error codes of settings that do not fit the job: the sweep leaves such candidates out. */
const unfit = new Set(['infeasible', 'invalid_config']);

/**
 * Returns a function that makes runs. The same problem and task always give the same run, in any process.
 *
 * @throws PolicyError `infeasible` or a similar code if not even the baseline can run; `invalid_input` for the oracle of pools
 */
export function sweepEvaluator(problem: SweepProblem): (task: SweepTask) => SweepRun {
  const known = new Map<string, Given>();
  const given = (task: SweepTask): Given => {
    const { seed, part, epochs, steps } = task;
    const key = `${part} ${epochs} ${seed} ${steps}`;
    const one = known.get(key) ?? givenOf(problem, task);
    known.set(key, one);
    return one;
  };
  const machines = problem.kind === 'pools' ? [] : machinesOf(problem.job);
  return (task) => {
    const { settings, seed, machine = 0 } = task;
    try {
      return problem.kind === 'pools'
        ? poolsRun(problem, settings as PoolsSettings | 'baseline' | 'oracle', given(task), seed)
        : synchronousRun(
            machines[machine]!,
            settings as SynchronousSettings | 'baseline' | 'oracle',
            given(task),
            seed,
          );
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
  /** Whether the task has fewer steps than its part. */
  readonly isCut: boolean;
  /** The prompts that the baseline trains on. */
  readonly fixed: readonly FixedPrompt[];
  readonly longTokens: number;
}

function givenOf(problem: SweepProblem, { seed, part, epochs, steps: cut }: SweepTask): Given {
  const all = problem.workload(seed);
  const drawn = part === undefined ? all : partOf(all, part, seed);
  const steps = cut ?? stepsOf(problem, epochs === undefined ? part : 'confirmation');
  const workload = epochs === undefined ? drawn : returning(drawn, steps * promptsOf(problem), epochs, seed);
  const fixed = fixedPrompts(workload, steps * promptsOf(problem), problem.job.responsesPerPrompt);
  return { workload, steps, isCut: cut !== undefined, fixed, longTokens: longestOf(fixed) };
}

/** Returns the number of prompts in a round. */
export const promptsOf = (problem: SweepProblem): number =>
  problem.kind === 'pools' ? problem.job.groupsPerRound : problem.job.promptsPerRound;

/** Returns the factor by which a short round has more prompts than it trains, which leads to long rounds; 1 if there are none. */
export const factorOf = (settings: SweepSettings | string): number =>
  typeof settings === 'string' || isPartial(settings) ? 1 : settings.promptSpeculation;

function synchronousRun(
  job: Job,
  settings: SynchronousSettings | 'baseline' | 'oracle',
  { workload, steps, isCut, fixed, longTokens }: Given,
  seed: number,
): SweepRun {
  const { promptsPerRound } = job;
  const least = promptsPerRound * roundsNeeded(steps, promptsPerRound, factorOf(settings));
  // In a run of few rounds it would weigh that the last short round finds fewer prompts than it asks for.
  const launched = isCut ? scaledCount(factorOf(settings), promptsPerRound) : promptsPerRound;
  const prompts = launched * Math.ceil(least / launched);
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
      staleTokens: step.staleTokens,
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
      staleTokens: round.lag > 0 ? round.tokens : 0,
      lag: round.lag,
    }),
  );
  const { longFixed, longTrained } = run.kept;
  const rates = ratesOf(rounds, groupsPerRound, deferredPerRound(groupsPerRound, factorOf(settings)));
  return { ...rates, longFixed, longTrained };
}
