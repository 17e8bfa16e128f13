/** Turns the options of `rollflex sweep` into problems; each worker makes the same problems from the same options. */
import { createHash } from 'node:crypto';
import { refuse } from '../../errors.ts';
import { packageVersion } from '../../logs/index/package.ts';
import { usualSteps } from '../../sim/advise/advise.ts';
import { problemFor } from '../../sim/advise/advising.ts';
import { type TrainerId, trainerOf } from '../../sim/advise/trainers.ts';
import { type PoolsTaskId, rolloutpipeWorkload } from '../../sim/pools/presets.ts';
import {
  leastConfirmationSteps,
  type SweepProblem,
  type SweepRun,
  type SweepTask,
  type SynchronousProblem,
  sweepEvaluator,
} from '../../sim/sweep/run.ts';
import { keyOf } from '../../sim/sweep/settings/settings.ts';
import type { NamedTrace } from '../../sim/workload/of-trace.ts';
import type { Resampling } from '../../sim/workload/traced.ts';
import { readBundledTraces } from '../files/traces.ts';
import type { Measured } from '../job/calibration/measured.ts';
import { clusterFlags } from '../job/cluster.ts';
import { type JobOptions, jobOfOptions } from '../job/job.ts';
import { loggedLengths, workloads } from '../job/lengths.ts';
import type { NamedWorkload } from '../job/workloads.ts';
import { jobOf } from '../pools/run.ts';

/** Options of the problems to simulate, as JSON. */
export interface SweepInput extends JobOptions {
  readonly traces: readonly NamedTrace[];
  /** What the option `calibrate` names. */
  readonly measured?: Measured;
  /** The trainer that is to apply the settings: only settings that its adapter supports are searched. */
  readonly trainer?: TrainerId;
  readonly job: 'synchronous' | 'pools';
  readonly steps?: number;
  readonly resampling: Resampling;
  readonly correlation: number;
  readonly fromLog?: string;
  readonly session?: string;
  readonly task?: PoolsTaskId;
  readonly batch?: number;
  readonly verifierSeconds?: number;
  readonly trainSecondsPerToken?: number;
}

/** A problem, and a hash of all inputs of its runs. */
export interface NamedProblem {
  readonly problem: SweepProblem;
  readonly fingerprint: string;
}

/** Larger jobs would not fit in memory, or would take days, and are refused. */
const mostInRound = 200_000;
const mostInRun = 1_000_000;

/** Options that exist for only one kind of job. */
const ofKind = {
  synchronous: { ...clusterFlags, preset: '--preset', calibrate: '--calibrate' },
  pools: {
    task: '--task',
    batch: '--batch',
    verifierSeconds: '--verifier-seconds',
    trainSecondsPerToken: '--train-seconds-per-token',
  },
} as const;

function check(input: SweepInput): void {
  const other = input.job === 'pools' ? 'synchronous' : 'pools';
  for (const [name, path] of Object.entries(ofKind[other])) {
    const got = input[name as keyof SweepInput];
    if (got !== undefined) refuse('invalid_input', path, `--job ${other} with ${path}`, got);
  }
  if (input.task !== undefined && (input.traces.length > 0 || input.fromLog !== undefined)) {
    refuse('invalid_input', '--task', 'traces, --from-log or --task, not two of them', input.task);
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Returns the problems that the options describe, one for each workload.
 *
 * @throws PolicyError `invalid_input` for contradictory options and for broken traces, `limit_exceeded` for problems that would
 *   take days; the system's error for files that cannot be read
 */
export function sweepProblems(input: SweepInput): NamedProblem[] {
  check(input);
  const { job: kind, traces, task, fromLog, session, resampling, correlation } = input;
  const named = kind === 'pools' ? poolsJob(input) : synchronousJob(input);
  const { capTokens, ...problem } = named;
  checkSize(problem);
  const lists: NamedWorkload[] =
    task === undefined
      ? workloads(traces, { ...input, resampling, correlation }, capTokens)
      : [(seed) => rolloutpipeWorkload(task, seed)];
  const sources =
    task !== undefined
      ? [task]
      : fromLog !== undefined
        ? [digest(JSON.stringify(loggedLengths(fromLog, session)))]
        : (traces.length > 0 ? traces : readBundledTraces()).map((trace) => digest(JSON.stringify(trace)));
  return lists.map((workload, index) => {
    const { job, steps } = problem;
    const facts = { version: packageVersion(), kind, job, steps, resampling, correlation, capTokens };
    const fingerprint = digest(JSON.stringify({ ...facts, trainer: input.trainer, source: sources[index] }));
    const whole = { ...problem, workload } as SweepProblem;
    return { problem: whole.kind === 'pools' ? whole : forTrainer(whole, input.trainer), fingerprint };
  });
}

/** A requested run, with the index of its problem. */
export interface PlacedTask {
  readonly problemIndex: number;
  readonly task: SweepTask;
}

/** Returns a function that makes the runs of these problems. */
export function sweepWork(problems: readonly NamedProblem[]): (task: PlacedTask) => SweepRun {
  const evaluators = problems.map(({ problem }) => sweepEvaluator(problem));
  return ({ problemIndex, task }) => evaluators[problemIndex]!(task);
}

const forTrainer = (problem: SynchronousProblem, trainer: TrainerId | undefined): SweepProblem =>
  trainer === undefined ? problem : problemFor({ ...problem, trainer: trainerOf(trainer) });

/** Returns the key of a run: other settings, another trace or another version give another key. */
export function runKey(fingerprint: string, { settings, seed, part, epochs, steps, machine }: SweepTask): string {
  const of = [fingerprint, typeof settings === 'string' ? settings : keyOf(settings), seed, part];
  if (steps !== undefined) of.push(`${steps} steps`);
  if (machine !== undefined) of.push(`machine ${machine}`);
  return digest(JSON.stringify(epochs === undefined ? of : [...of, epochs]));
}

function synchronousJob({ steps = usualSteps, measured, ...options }: SweepInput) {
  const { job, capTokens } = jobOfOptions(options, measured);
  return { kind: 'synchronous' as const, job, steps, capTokens };
}

function poolsJob({ promptsPerRound = 32, responsesPerPrompt = 8, engines = 1, steps = 12, ...input }: SweepInput) {
  const job = jobOf(promptsPerRound, { ...input, responsesPerPrompt, engines, rounds: steps, seeds: 1 });
  return { kind: 'pools' as const, job, steps, capTokens: input.cap ?? 16_384 };
}

function checkSize({ job, steps }: Pick<SweepProblem, 'job' | 'steps'>): void {
  const prompts = 'groupsPerRound' in job ? job.groupsPerRound : job.promptsPerRound;
  const inRound = prompts * job.responsesPerPrompt;
  if (inRound > mostInRound) refuse('limit_exceeded', 'responses of a round', `at most ${mostInRound}`, inRound);
  const inRun = Math.max(steps, leastConfirmationSteps) * inRound;
  if (inRun > mostInRun) refuse('limit_exceeded', 'responses of all steps', `at most ${mostInRun}`, inRun);
}
