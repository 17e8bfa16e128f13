/**
 * The simulated host: it runs a job for a policy, through the policy's public events and decisions only, in simulated
 * time. A step is: make the engines ready, roll out, wait for rewards, train, hand the new weights to the engines.
 */
import { PolicyError } from '../../errors.ts';
import { summarizeRun, sumOf } from '../metrics.ts';
import type { RunResult, Segment, StepResult } from '../result.ts';
import type { Workload } from '../workload/workload.ts';
import { EnginePool } from './engine-pool.ts';
import { InferenceMachine } from './inference.ts';
import { type Job, trainSeconds } from './job.ts';
import { PolicyLink } from './policy-link.ts';
import { RoundRecord, type StepTimes } from './round-record.ts';
import type { Scheduler } from './scheduler.ts';
import { PromptSource } from './source.ts';
import { addActivity, rolloutSegments } from './timeline.ts';

/** One simulated run. */
export interface RunOptions {
  /** Prompts to train on, each once; the source is exhausted after them. A whole number >= 1. */
  readonly prompts: number;
  /** The seed of the workload; goes into the result. */
  readonly seed: number;
  /** Whether engines keep their segments (default true). */
  readonly timeline?: boolean;
  /** Whether the policy checks events against their schemas (default false: the driver is trusted). */
  readonly validate?: boolean;
  /** Called after every step, with the prompts trained so far. */
  readonly onStep?: (step: StepResult, trainedPrompts: number) => void;
}

/**
 * Runs a job to its end: every prompt of the source is trained once. The same arguments give the same result.
 *
 * @param workload - prompts and lengths; the same for every scheduler that is compared
 * @throws PolicyError `invalid_input` for a bad number of prompts; `infeasible` when a request can never fit an engine,
 *   or the policy stops before every prompt is trained
 */
export function simulate(job: Job, scheduler: Scheduler, workload: Workload, options: RunOptions): RunResult {
  if (!Number.isInteger(options.prompts) || options.prompts < 1) {
    throw new PolicyError('invalid_input', { expected: 'a whole number >= 1', got: options.prompts, path: 'prompts' });
  }
  return new Host(job, scheduler, workload, options).run();
}

class Host {
  readonly #job: Job;
  readonly #scheduler: Scheduler;
  readonly #options: RunOptions;
  readonly #pool: EnginePool;
  readonly #source: PromptSource;
  readonly #link: PolicyLink;
  readonly #steps: StepResult[] = [];
  readonly #segments: Segment[][];
  #trained = 0;

  constructor(job: Job, scheduler: Scheduler, workload: Workload, options: RunOptions) {
    this.#job = job;
    this.#scheduler = scheduler;
    this.#options = options;
    this.#pool = new EnginePool(job.engines, job.cost, options.timeline ?? true);
    this.#segments = this.#pool.rows.map(() => []);
    this.#source = new PromptSource(workload, options.prompts);
    const inference = new InferenceMachine(this.#pool, this.#source);
    const { engineIds } = this.#pool;
    const cluster = { inference, machines: [inference], source: this.#source, engineIds };
    this.#link = new PolicyLink(scheduler, cluster, options.validate ?? false);
  }

  run(): RunResult {
    while (this.#trained < this.#options.prompts) {
      const { left } = this.#source;
      const trained = this.#trained;
      this.#runStep();
      const isStuck = this.#trained === trained && this.#source.left === left;
      if (isStuck || (this.#link.isOver && this.#trained < this.#options.prompts)) this.#stopped();
    }
    return summarizeRun({
      job: this.#job,
      scheduler: this.#scheduler.id,
      seed: this.#options.seed,
      steps: this.#steps,
      lengths: this.#link.lengths,
      rows: this.#pool.rows,
      segments: this.#segments,
    });
  }

  #runStep(): void {
    const { cost } = this.#job;
    const { rows } = this.#pool;
    const link = this.#link;
    const step = this.#steps.length;
    const record = new RoundRecord(step, `r${step}`);
    const busyBefore = sumOf(rows, (row) => row.busySeconds);
    const preemptedBefore = sumOf(rows, (row) => row.preemptions);
    const startSeconds = link.now;
    link.passTime(startSeconds + cost.fixedRolloutSeconds);
    const openedSeconds = link.now;
    link.rollOut(record);
    if (link.isOver) return;
    const drainedSeconds = link.now;
    this.#pool.collect();
    const rewardedSeconds = drainedSeconds + cost.rewardTailSeconds;
    const trainedSeconds = rewardedSeconds + trainSeconds(this.#job, record.keptTokens);
    const endSeconds = trainedSeconds + cost.weightSyncSeconds;
    const times = { startSeconds, openedSeconds, drainedSeconds, rewardedSeconds, trainedSeconds, endSeconds };
    const busySeconds = sumOf(rows, (row) => row.busySeconds) - busyBefore;
    const offeredSeconds = rows.length * (drainedSeconds - openedSeconds);
    // Rounding may leave the engines busy a hair longer than the rollout.
    const bubbleRatio = offeredSeconds > 0 ? Math.max(0, 1 - busySeconds / offeredSeconds) : 0;
    const preemptions = sumOf(rows, (row) => row.preemptions) - preemptedBefore;
    const result = record.result(times, { preemptions, bubbleRatio }, link.queueDepth);
    this.#trained += result.prompts;
    this.#steps.push(result);
    this.#draw(times);
    link.passTime(endSeconds);
    this.#options.onStep?.(result, this.#trained);
  }

  /** Adds the step to the segments of every engine. */
  #draw(times: StepTimes): void {
    if (this.#options.timeline === false) return;
    this.#pool.rows.forEach((row, index) => {
      const segments = this.#segments[index]!;
      addActivity(segments, 'overhead', times.startSeconds, times.openedSeconds);
      segments.push(...rolloutSegments(row.segments.splice(0), times.openedSeconds, times.drainedSeconds));
      addActivity(segments, 'reward', times.drainedSeconds, times.rewardedSeconds);
      addActivity(segments, 'train', times.rewardedSeconds, times.trainedSeconds);
      addActivity(segments, 'sync', times.trainedSeconds, times.endSeconds);
    });
  }

  #stopped(): never {
    throw new PolicyError('infeasible', {
      expected: `${this.#scheduler.id} to go on until every prompt is trained`,
      got: `${this.#trained} of ${this.#options.prompts} trained`,
    });
  }
}
