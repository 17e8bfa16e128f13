/** From the options of `rollflex sweep` to the problems that it sweeps; workers make them anew from the same options. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PolicyError } from '../errors.ts';
import { type PoolsTaskId, rolloutpipeWorkload } from '../sim/pools/presets.ts';
import { jobPreset } from '../sim/presets.ts';
import type { SweepProblem, SweepTask } from '../sim/sweep/run.ts';
import { keyOf } from '../sim/sweep/settings.ts';
import type { Resampling } from '../sim/workload/traced.ts';
import { calibrated } from './calibrate.ts';
import { bundledTraces, packageVersion } from './files.ts';
import { jobOf } from './pools.ts';
import { loggedLengths, withRealCode, workloads } from './simulate.ts';
import type { NamedWorkload } from './workloads.ts';

/** Options that say what is simulated: JSON. */
export interface SweepInput {
  readonly paths: readonly string[];
  readonly job: 'synchronous' | 'pools';
  readonly preset?: string;
  readonly calibrate?: string;
  readonly promptsPerRound?: number;
  readonly responsesPerPrompt?: number;
  readonly engines?: number;
  readonly cap?: number;
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

/** A problem, and the hash of everything that its runs follow from. */
export interface NamedProblem {
  readonly problem: SweepProblem;
  readonly fingerprint: string;
}

/** What would not fit in memory, or take days, is refused at once. */
const mostInRound = 200_000;
const mostInRun = 1_000_000;

/** Options that only one kind of job has. */
const ofKind = {
  synchronous: { preset: '--preset', calibrate: '--calibrate' },
  pools: {
    task: '--task',
    batch: '--batch',
    verifierSeconds: '--verifier-seconds',
    trainSecondsPerToken: '--train-seconds-per-token',
  },
} as const;

function check(input: SweepInput): void {
  const refuse = (expected: string, path: string, got: unknown): never => {
    throw new PolicyError('invalid_input', { expected, got, path });
  };
  const other = input.job === 'pools' ? 'synchronous' : 'pools';
  for (const [name, path] of Object.entries(ofKind[other])) {
    const got = input[name as keyof SweepInput];
    if (got !== undefined) refuse(`--job ${other} with ${path}`, path, got);
  }
  if (input.task !== undefined && (input.paths.length > 0 || input.fromLog !== undefined)) {
    refuse('traces, --from-log or --task, not two of them', '--task', input.task);
  }
}

const digest = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

/**
 * The problems of some options, one for each workload.
 *
 * @throws PolicyError `invalid_input` for options that do not go together and for broken traces, `limit_exceeded` for
 *   what would take days; the system's error for files that cannot be read
 */
export function sweepProblems(input: SweepInput): NamedProblem[] {
  check(input);
  const { job: kind, paths, task, fromLog, session, resampling, correlation } = input;
  const named = kind === 'pools' ? poolsJob(input) : synchronousJob(input);
  const { capTokens, ...problem } = named;
  checkSize(problem);
  const lists: NamedWorkload[] =
    task === undefined
      ? workloads(paths, { ...input, resampling, correlation }, capTokens)
      : [(seed) => rolloutpipeWorkload(task, seed)];
  const files = paths.length > 0 ? paths : bundledTraces();
  const sources =
    task !== undefined
      ? [task]
      : fromLog !== undefined
        ? [digest(JSON.stringify(loggedLengths(fromLog, session)))]
        : files.map((path) => digest(readFileSync(path)));
  return lists.map((workload, index) => {
    const { job, steps } = problem;
    const facts = { version: packageVersion(), kind, job, steps, resampling, correlation, capTokens };
    const fingerprint = digest(JSON.stringify({ ...facts, source: sources[index] }));
    return { problem: { ...problem, workload } as SweepProblem, fingerprint };
  });
}

/** The key of a run: other settings, another trace or another version have another one. */
export function runKey(fingerprint: string, { settings, seed }: SweepTask): string {
  return digest(JSON.stringify([fingerprint, settings === 'baseline' ? settings : keyOf(settings), seed]));
}

function synchronousJob({ preset: id = 'qwen2.5-14b-16k', ...input }: SweepInput) {
  const preset = jobPreset(id);
  const { promptsPerRound, responsesPerPrompt, engines } = preset.job;
  const asked = {
    ...preset.job,
    promptsPerRound: input.promptsPerRound ?? promptsPerRound,
    responsesPerPrompt: input.responsesPerPrompt ?? responsesPerPrompt,
    engines: input.engines ?? engines,
  };
  const job = withRealCode(input.calibrate === undefined ? asked : calibrated(asked, input.calibrate).job);
  return { kind: 'synchronous' as const, job, steps: input.steps ?? 10, capTokens: input.cap ?? preset.capTokens };
}

function poolsJob({ promptsPerRound = 32, responsesPerPrompt = 8, engines = 1, steps = 12, ...input }: SweepInput) {
  const job = jobOf(promptsPerRound, { ...input, responsesPerPrompt, engines, rounds: steps, seeds: 1 });
  return { kind: 'pools' as const, job, steps, capTokens: input.cap ?? 16_384 };
}

function checkSize({ job, steps }: Pick<SweepProblem, 'job' | 'steps'>): void {
  const prompts = 'groupsPerRound' in job ? job.groupsPerRound : job.promptsPerRound;
  const refuse = (path: string, expected: string, got: number): never => {
    throw new PolicyError('limit_exceeded', { path, expected, got });
  };
  const inRound = prompts * job.responsesPerPrompt;
  if (inRound > mostInRound) refuse('responses of a round', `at most ${mostInRound}`, inRound);
  const inRun = steps * inRound;
  if (inRun > mostInRun) refuse('responses of all steps', `at most ${mostInRun}`, inRun);
}
