/** `rollflex pools`: simulates the time that RolloutPipe saves for a job with separate pools for rollout and training. */
import { refuse } from '../../errors.ts';
import { comparePools, poolsSchedulers, poolsTailSchedulers } from '../../sim/pools/compare.ts';
import {
  type PoolsTaskId,
  poolsTaskIds,
  reproducingWidth,
  rolloutpipeJob,
  rolloutpipeWorkload,
} from '../../sim/pools/presets.ts';
import type { PoolsComparison } from '../../sim/pools/result.ts';
import { cgpScheduler, poolsTailScheduler } from '../../sim/pools/scheduler.ts';
import type { PoolsJob } from '../../sim/pools/settings.ts';
import { traceWorkload, usualWorkload } from '../../sim/workload/of-trace.ts';
import type { Resampling } from '../../sim/workload/traced.ts';
import { inputFiles, readPaths } from '../files/input/paths.ts';
import { readingOf, readTraces, type TextOptions } from '../files/input/read.ts';
import { bundledTraces, heavyTailTrace, readTraceFile } from '../files/traces.ts';
import { checkOutputs } from '../files/written.ts';
import { present, type ResultOptions, seedsFrom } from '../job/simulation.ts';
import type { NamedWorkload } from '../job/workloads.ts';
import { poolsTexts } from './text.ts';

/** Options as the command line gives them. */
export interface PoolsOptions extends TextOptions, ResultOptions {
  readonly task?: PoolsTaskId;
  /** Values of R. */
  readonly groups: readonly number[];
  readonly responsesPerPrompt: number;
  readonly batch?: number;
  readonly width: number | 'auto';
  readonly tail?: boolean;
  readonly engines: number;
  readonly cap: number;
  readonly verifierSeconds?: number;
  readonly trainSecondsPerToken?: number;
  readonly rounds: number;
  readonly seeds: number;
  readonly seed: number;
  readonly resampling: Resampling;
  readonly correlation: number;
}

/** Most responses over all rounds, seeds and schedulers of a workload; more would take an hour. */
const mostResponses = 50_000_000;

/** Options of the job on pools. */
export type PoolsJobOptions = Pick<
  PoolsOptions,
  'responsesPerPrompt' | 'batch' | 'engines' | 'verifierSeconds' | 'trainSecondsPerToken' | 'rounds' | 'seeds'
>;

/** Returns the job of RolloutPipe with R groups a round, as the options change it. */
export function jobOf(groups: number, options: PoolsJobOptions): PoolsJob {
  const { responsesPerPrompt, engines, verifierSeconds, trainSecondsPerToken } = options;
  const preset = rolloutpipeJob(groups);
  const job = rolloutpipeJob(groups, {
    responsesPerPrompt,
    globalBatchSamples: options.batch ?? 2 * responsesPerPrompt,
    engines,
    verifier: { ...preset.verifier, medianSeconds: verifierSeconds ?? preset.verifier.medianSeconds },
    cost: { ...preset.cost, trainSecondsPerToken: trainSecondsPerToken ?? preset.cost.trainSecondsPerToken },
  });
  const responses = job.groupsPerRound * job.responsesPerPrompt * options.rounds * options.seeds;
  if (responses > mostResponses) {
    const path = 'responses of all rounds and seeds';
    refuse('limit_exceeded', path, `at most ${mostResponses}`, responses);
  }
  return job;
}

/** Returns the tasks of RolloutPipe, and the bundled traces on the same machines, for a report beside other workloads. */
export function bundledPools(seed: number): (() => PoolsComparison)[] {
  const workloads: (() => NamedWorkload)[] = [
    ...poolsTaskIds.map((task) => () => (one: number) => rolloutpipeWorkload(task, one)),
    ...bundledTraces().map((path) => () => traceWorkload(readTraceFile(path), usualWorkload)),
  ];
  const seeds = seedsFrom(seed, 3);
  return workloads.map((workload) => () => comparePools({ job: rolloutpipeJob(), workload: workload(), seeds }));
}

/** Runs tail batching with pipelining, on the bundled lengths with the heaviest tail, where it saves most. */
export function runBundledTail(seed: number): PoolsComparison {
  const workload = traceWorkload(readTraceFile(heavyTailTrace()), usualWorkload);
  const schedulers = [cgpScheduler, poolsTailScheduler(true)];
  return comparePools({ job: rolloutpipeJob(), workload, rounds: 10, seeds: [seed], schedulers, timeline: false });
}

/** Runs the simulation, prints it, and writes the requested files. */
export async function runPools(paths: readonly string[], options: PoolsOptions): Promise<void> {
  checkOutputs({ '--report': options.report }, readPaths(inputFiles(paths)));
  if (paths.length > 0 && options.task !== undefined) {
    refuse('invalid_input', '--task', 'traces, or --task, not both', paths[0]);
  }
  const jobs = options.groups.map((groups) => jobOf(groups, options));
  const { resampling, correlation, cap: capTokens, rounds, width } = options;
  const tasks = options.task === undefined ? poolsTaskIds : [options.task];
  const traces = await readTraces(paths, readingOf(options), options.quiet === true || options.json === true);
  const workloads: NamedWorkload[] =
    traces.length > 0
      ? traces.map((trace) => traceWorkload(trace, { resampling, correlation, capTokens }))
      : tasks.map((task) => (seed: number) => rolloutpipeWorkload(task, seed));
  const seeds = seedsFrom(options.seed, options.seeds);
  const schedulers = [...poolsSchedulers(width), ...(options.tail ? poolsTailSchedulers() : [])];
  const comparisons = jobs.flatMap((job) =>
    workloads.map((workload) => comparePools({ job, workload, rounds, seeds, schedulers })),
  );
  await present('pools', comparisons, poolsTexts, options);
}

/** Default of F_w on the command line. */
export const defaultWidth = reproducingWidth;
