/**
 * The simulated host: it runs a job for a policy, through the policy's public events and decisions only, in simulated
 * time. A step is: make the engines ready, roll out, wait for rewards, run the passes before training, train, hand the new
 * weights to the engines.
 */
import { refuse } from '../../errors.ts';
import { KeptResponses } from '../cluster/kept.ts';
import { RoundRecord, type StepTimes } from '../cluster/round-record.ts';
import { addActivity, rolloutSegments } from '../cluster/timeline.ts';
import { gradientSeconds, passSeconds } from '../cost-model.ts';
import { summarizeRun, sumOf } from '../metrics.ts';
import type { RunResult, Segment, StepResult } from '../result.ts';
import type { Workload } from '../workload/workload.ts';
import { buildCluster, type Cluster, gpuIdsOf, trainingReplicasOf } from './cluster.ts';
import type { Job } from './job.ts';
import { PolicyLink } from './policy-link.ts';
import type { Scheduler } from './scheduler.ts';

/** Options of one simulated run. */
export interface RunOptions {
  /** Prompts to train on, each once; the source is exhausted after them. A whole number >= 1. */
  readonly prompts: number;
  /** The seed of the workload; goes into the result. */
  readonly seed: number;
  /** Whether engines keep their segments (default true). */
  readonly timeline?: boolean;
  /** Whether the policy checks events against their schemas (default false: the driver is trusted). */
  readonly validate?: boolean;
  /** Fixed responses with at least this many tokens count as long (`kept` of the result); none if absent. */
  readonly longTokens?: number;
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
    refuse('invalid_input', 'prompts', 'a whole number >= 1', options.prompts);
  }
  return new Host(job, scheduler, workload, options).run();
}

class Host {
  readonly #job: Job;
  readonly #scheduler: Scheduler;
  readonly #options: RunOptions;
  readonly #cluster: Cluster;
  readonly #link: PolicyLink;
  readonly #kept: KeptResponses;
  readonly #steps: StepResult[] = [];
  readonly #segments: Segment[][];
  #trained = 0;
  /** The record of the round before. */
  #before: RoundRecord | undefined;

  constructor(job: Job, scheduler: Scheduler, workload: Workload, options: RunOptions) {
    this.#job = job;
    this.#scheduler = scheduler;
    this.#options = options;
    const { prompts, seed, timeline = true, validate = false } = options;
    this.#cluster = buildCluster(job, workload, {
      prompts,
      seed,
      timeline,
      elastic: scheduler.trains ?? false,
      oneStepOff: scheduler.oneStepOff ?? false,
    });
    this.#segments = this.#cluster.pool.rows.map(() => []);
    this.#kept = new KeptResponses(job.responsesPerPrompt, options.longTokens ?? Infinity);
    this.#link = new PolicyLink(scheduler, this.#cluster, this.#kept, validate);
  }

  run(): RunResult {
    while (this.#trained < this.#options.prompts) {
      const { source } = this.#cluster;
      const { left } = source;
      const trained = this.#trained;
      this.#runStep();
      const isStuck = this.#trained === trained && source.left === left;
      if (isStuck || (this.#link.isOver && this.#trained < this.#options.prompts)) this.#stopped();
    }
    return summarizeRun({
      job: this.#job,
      scheduler: this.#scheduler.id,
      seed: this.#options.seed,
      steps: this.#steps,
      lengths: this.#link.lengths,
      rows: this.#cluster.pool.rows,
      segments: this.#segments,
      kept: this.#kept.counts(),
    });
  }

  #runStep(): void {
    const { cost } = this.#job;
    const { rows } = this.#cluster.pool;
    const link = this.#link;
    const step = this.#steps.length;
    // A one-step off-policy pipeline opens a round before the one before it is trained.
    const record = new RoundRecord(step, `r${step}`, this.#scheduler.oneStepOff && step > 0 ? 1 : 0);
    const busyBefore = sumOf(rows, (row) => row.busySeconds);
    const startSeconds = link.now;
    link.passTime(startSeconds + cost.fixedRolloutSeconds);
    const launchedSeconds = link.now;
    link.rollOut(record);
    if (link.isOver) return;
    this.#cluster.pool.collect();
    this.#cluster.source.endStep(this.#scheduler.oneStepOff);
    const openedSeconds = launchedSeconds + record.reshardSeconds;
    const stages = this.#stages(record);
    const { drainedSeconds, trainedSeconds } = stages;
    this.#countTraining(openedSeconds, drainedSeconds);
    // A one-step off-policy pipeline has no new weights before its second round has begun.
    const hasWeights = !this.#scheduler.oneStepOff || this.#before !== undefined || this.#isLast(record);
    const endSeconds = trainedSeconds + (hasWeights ? cost.weightSyncSeconds : 0);
    this.#before = record;
    const times = { startSeconds, openedSeconds, ...stages, endSeconds };
    const busySeconds = sumOf(rows, (row) => row.busySeconds) - busyBefore;
    const offeredSeconds = rows.length * (drainedSeconds - openedSeconds);
    // Rounding may leave the engines busy a hair longer than the rollout.
    const bubbleRatio = offeredSeconds > 0 ? Math.max(0, 1 - busySeconds / offeredSeconds) : 0;
    const { preemptions } = this.#cluster.inference;
    const result = record.result(times, { preemptions, bubbleRatio }, link.queueDepth);
    this.#trained += result.prompts;
    this.#steps.push(result);
    this.#draw(times);
    link.passTime(endSeconds);
    this.#options.onStep?.(result, this.#trained);
  }

  /** Returns the ends of the stages of the step: as the policy ran them, or one after the other. */
  #stages(record: RoundRecord): Omit<StepTimes, 'startSeconds' | 'openedSeconds' | 'endSeconds'> {
    const drainedSeconds = record.drainedAt!;
    const { trains, oneStepOff } = this.#scheduler;
    if (oneStepOff && !this.#isLast(record)) {
      // The GPUs train the round before, whose rewards are known: only the wait for it counts.
      const trainedSeconds = Math.max(drainedSeconds, this.#before?.trainedAt ?? 0);
      this.#cluster.trainer!.takePassSeconds();
      return { drainedSeconds, rewardedSeconds: drainedSeconds, referencedSeconds: drainedSeconds, trainedSeconds };
    }
    if (oneStepOff) this.#link.trainLast(record);
    if (trains) {
      const rewardedSeconds = Math.max(drainedSeconds, record.rewardedAt ?? 0);
      const passes = rewardedSeconds + this.#cluster.trainer!.takePassSeconds();
      const referencedSeconds = Math.min(passes, record.trainedAt!);
      return { drainedSeconds, rewardedSeconds, referencedSeconds, trainedSeconds: record.trainedAt! };
    }
    const { cost } = this.#job;
    const batch = { responses: record.keptResponses, tokens: record.keptTokens };
    const rewardedSeconds = drainedSeconds + cost.rewardTailSeconds;
    const referencedSeconds = rewardedSeconds + passSeconds(cost, batch);
    const trainedSeconds = referencedSeconds + cost.trainBaseSeconds + gradientSeconds(cost, batch);
    return { drainedSeconds, rewardedSeconds, referencedSeconds, trainedSeconds };
  }

  #isLast({ prompts }: RoundRecord): boolean {
    return this.#trained + prompts.length >= this.#options.prompts;
  }

  /** GPUs that train beside the rollout are busy. */
  #countTraining(openedSeconds: number, drainedSeconds: number): void {
    const { trainer, pool } = this.#cluster;
    if (trainer === undefined) return;
    // In a one-step off-policy pipeline, training has GPUs of its own.
    if (this.#scheduler.oneStepOff) trainer.trained.length = 0;
    const perReplica = pool.rows.length / trainingReplicasOf(this.#job, gpuIdsOf(this.#job).length);
    for (const { replica, activity, startSeconds, endSeconds } of trainer.trained.splice(0)) {
      const end = Math.min(endSeconds, drainedSeconds);
      const start = Math.max(startSeconds, openedSeconds);
      if (end <= start) continue;
      for (const row of pool.rows.slice(Math.floor(replica * perReplica), Math.floor((replica + 1) * perReplica))) {
        row.busySeconds += end - start;
        row.segments.push({ startSeconds: start, endSeconds: end, activity, running: 0 });
      }
    }
  }

  /** Adds the step to the segments of every engine. */
  #draw(times: StepTimes): void {
    if (this.#options.timeline === false) return;
    this.#cluster.pool.rows.forEach((row, index) => {
      const segments = this.#segments[index]!;
      addActivity(segments, 'overhead', times.startSeconds, times.openedSeconds);
      segments.push(...rolloutSegments(row.segments.splice(0), times.openedSeconds, times.drainedSeconds));
      addActivity(segments, 'reward', times.drainedSeconds, times.rewardedSeconds);
      addActivity(segments, 'reference', times.rewardedSeconds, times.referencedSeconds);
      addActivity(segments, 'train', times.referencedSeconds, times.trainedSeconds);
      addActivity(segments, 'sync', times.trainedSeconds, times.endSeconds);
    });
  }

  #stopped(): never {
    refuse(
      'infeasible',
      '',
      `${this.#scheduler.id} to go on until every prompt is trained`,
      `${this.#trained} of ${this.#options.prompts} trained`,
    );
  }
}
