/**
 * The simulated host: it runs a job for a policy, through the policy's public events and decisions only, in simulated
 * time. A step is: make the engines ready, roll out, wait for rewards, run the passes before training, train, hand the new
 * weights to the engines.
 */

import type { AnyDecision } from '../../core/machine/definition.ts';
import { isPolicyError, refuse } from '../../errors.ts';
import { recordEvents } from '../../logs/format/event-log.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import { SimulatedHost } from '../cluster/host.ts';
import { RoundRecord } from '../cluster/round-record.ts';
import type { PromptSource } from '../cluster/source.ts';
import { summarizeRun } from '../comparison/metrics.ts';
import type { RunResult, StepResult } from '../comparison/result.ts';
import { gradientSeconds, passSeconds } from '../models/cost-model.ts';
import { rewardedGroup } from '../rewards/model.ts';
import { withPredictions } from '../workload/predicted.ts';
import type { Workload } from '../workload/workload.ts';
import { buildCluster, type Cluster, gpuIdsOf, trainingReplicasOf } from './cluster.ts';
import type { Job } from './job.ts';
import { UnmetAsks } from './policy-scheduler.ts';
import type { Scheduler } from './scheduler.ts';
import { StagedPolicy } from './staged.ts';
import { type StepTimes, stepResult } from './step-result.ts';

/** Options of one simulated run. */
export interface RunOptions {
  /** Number of distinct prompts to train on; the source is exhausted after them. A whole number >= 1. */
  readonly prompts: number;
  /** The seed of the workload; goes into the result. */
  readonly seed: number;
  /** Whether engines keep their segments (default true). */
  readonly timeline?: boolean;
  /** Whether the policy checks events against their schemas (default false: the driver is trusted). */
  readonly validate?: boolean;
  /**
   * Least tokens of a long response, for the counts in `kept` of the result (see `KeptCounts`); if absent, no response counts
   * as long.
   */
  readonly longTokens?: number;
  /** Number of prompts after which the run ends although the source has more; `prompts` if absent. */
  readonly until?: number;
  /** Receives the lines of the run's event log, as `recordEvents` writes them. */
  readonly log?: (line: string) => void;
  /** Called after every step, with the prompts trained so far. */
  readonly onStep?: (step: StepResult, trainedPrompts: number) => void;
}

/**
 * Runs a job to its end: every prompt of the source is trained once, or was passed over by the policy. The same arguments give
 * the same result.
 *
 * @param workload - prompts and lengths; the same for every scheduler that is compared
 * @throws PolicyError `invalid_input` for a bad number of prompts; `infeasible` when a request can never fit an engine,
 *   or the policy stops before every prompt is trained
 */
export function simulate(job: Job, scheduler: Scheduler, workload: Workload, options: RunOptions): RunResult {
  if (!Number.isInteger(options.prompts) || options.prompts < 1) {
    refuse('invalid_input', 'prompts', 'a whole number >= 1', options.prompts);
  }
  const host = hostOf(job, scheduler, workload, options);
  const result = host.run();
  const isTried = host.isOwn && workload.predict === undefined;
  if (!isTried || !decidesByPrediction(job, scheduler, workload, options.seed)) return result;
  return { ...result, unmet: [...(result.unmet ?? []), { what: 'prediction', name: 'expectedTokens' }] };
}

function hostOf(job: Job, scheduler: Scheduler, workload: Workload, options: RunOptions): ColocatedHost {
  const { prompts, seed, timeline = true } = options;
  const { trains: elastic = false, staged = false, oneStepOff = false, keepsTokens = false, chunks } = scheduler;
  const machines = { elastic, staged, oneStepOff, keepsTokens, chunks };
  const cluster = buildCluster(job, workload, { prompts, seed, timeline, ...machines });
  return new ColocatedHost(job, scheduler, cluster, options);
}

/** Schedulers, and whether their policies decide by predicted lengths. */
const asked = new WeakMap<Scheduler, boolean>();

/**
 * Whether a policy of the user decides otherwise in two rounds if prompts come with their true lengths. That is tried, because
 * nothing in a definition tells which fields its handlers read.
 */
function decidesByPrediction(job: Job, scheduler: Scheduler, workload: Workload, seed: number): boolean {
  const known = asked.get(scheduler);
  if (known !== undefined) return known;
  const { promptsPerRound, responsesPerPrompt } = job;
  const chosen = (given: Workload): string => {
    const choices: string[] = [];
    const listening: Scheduler = {
      ...scheduler,
      create: (options) => {
        const policy = scheduler.create(options);
        return {
          id: policy.id,
          takes: (type) => policy.takes?.(type) ?? true,
          send: (event) => {
            const decisions = policy.send(event);
            choices.push(...decisions.map(choiceIn));
            return decisions;
          },
        };
      },
    };
    try {
      hostOf(job, listening, given, { prompts: 2 * promptsPerRound, seed, timeline: false }).run();
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      choices.push(error.message);
    }
    return choices.join();
  };
  const answer = chosen(workload) !== chosen(withPredictions(workload, { predict: 'oracle', responsesPerPrompt }));
  asked.set(scheduler, answer);
  return answer;
}

/** Returns what a decision chooses, without the prompts that it carries: these have their predictions with them. */
function choiceIn(decision: AnyDecision): string {
  const { type, at, promptId, requestId, index, engineId } = decision as AnyDecision &
    Readonly<Record<string, unknown>>;
  return `${type} ${at} ${promptId} ${requestId} ${index} ${engineId}`;
}

type Recordable = Parameters<typeof recordEvents>[0];

const isRecordable = (policy: DrivenPolicy): policy is DrivenPolicy & Recordable => 'observe' in policy;

/** Refuses a policy that is none of rollflex, and so has no state to begin a log with. */
function recordable(policy: DrivenPolicy): Recordable {
  if (isRecordable(policy)) return policy;
  return refuse('invalid_input', 'log', 'a policy that `create` has made, to write its log', policy.id);
}

/** The host of {@link simulate}. */
export class ColocatedHost extends SimulatedHost {
  readonly #job: Job;
  readonly #scheduler: Scheduler;
  readonly #options: RunOptions;
  readonly #cluster: Cluster;
  readonly #asks: UnmetAsks;
  /** Whether rewards and training are simulated; if not, their time passes. */
  readonly #trains: boolean;
  readonly #steps: StepResult[] = [];
  /** Tokens of every trained response. */
  readonly #lengths: number[] = [];
  /** Deferred prompts that wait in the policy. */
  #queueDepth = 0;
  /** The policy has said that nothing is left to plan a round with. */
  #isOver = false;
  #trained = 0;
  /** Prompts of the data set, in a job that learns. */
  #data: ReturnType<PromptSource['data']> | undefined;
  /** The record of the previous round. */
  #before: RoundRecord | undefined;

  constructor(job: Job, scheduler: Scheduler, cluster: Cluster, options: RunOptions) {
    const { timeline, longTokens, validate = false } = options;
    const { responsesPerPrompt } = job;
    const { holdsDeferred } = scheduler;
    const policy = scheduler.create({ validate });
    if (options.log !== undefined) recordEvents(recordable(policy), options.log);
    const { trains = false, staged = false, chunks } = scheduler;
    const asks = new UnmetAsks(trains || chunks !== undefined ? {} : policy);
    const { kindOf } = cluster;
    const driven = staged
      ? new StagedPolicy(policy, job, { kindOf: kindOf!, unheard: (one) => asks.note(one) })
      : policy;
    super(driven, cluster, { responsesPerPrompt, holdsDeferred, timeline, longTokens });
    this.#job = job;
    this.#scheduler = scheduler;
    this.#options = options;
    this.#cluster = cluster;
    this.#trains = trains || staged;
    this.#asks = asks;
  }

  /** Whether the policy is none that rollflex ships. */
  get isOwn(): boolean {
    return this.#asks.isOwn;
  }

  /** Runs the whole job. */
  run(): RunResult {
    this.join();
    return this.goOn();
  }

  /** Tells a policy about its machines. */
  protected join(): void {
    for (const event of this.#cluster.joining) this.link.offer({ ...event, at: this.loop.now });
  }

  /** Number of the next step. */
  protected get step(): number {
    return this.#steps.length;
  }

  /** Prompts that are to be trained: all that the policy does not pass over. */
  get #wanted(): number {
    return this.#options.prompts - this.source.passed;
  }

  /** Whether all prompts of this run are trained. */
  protected get isDone(): boolean {
    return this.#trained >= Math.min(this.#options.until ?? Infinity, this.#wanted);
  }

  /** Runs the remaining steps. */
  protected goOn(): RunResult {
    while (!this.isDone) {
      const { left } = this.source;
      const trained = this.#trained;
      this.#runStep();
      const isStuck = this.#trained === trained && this.source.left === left;
      if (isStuck || (this.#isOver && this.#trained < this.#wanted)) this.#stopped();
    }
    return summarizeRun({
      job: this.#job,
      scheduler: this.#scheduler.id,
      seed: this.#options.seed,
      steps: this.#steps,
      lengths: this.#lengths,
      rows: this.rows,
      segments: this.segments,
      kept: this.kept.counts(),
      unmet: this.#asks.found(),
    });
  }

  #runStep(): void {
    const { oneStepOff = false } = this.#scheduler;
    const { step } = this;
    const startSeconds = this.loop.now;
    this.loop.passTime(startSeconds + this.#job.cost.fixedRolloutSeconds);
    const record = this.newRecord(step);
    // A one-step off-policy pipeline opens a round before the previous round is trained.
    const lag = oneStepOff && step > 0 ? 1 : 0;
    this.#rollOut(record, record.weightVersion - lag);
    if (!this.#isOver) this.finish(record, startSeconds);
  }

  /** Returns the record of a round that begins now. */
  protected newRecord(step: number): RoundRecord {
    return new RoundRecord(step, this.loop.now);
  }

  /**
   * Trains on a round whose requests have all ended, and lets the time for it pass.
   *
   * @param endedSeconds - the end of the step, if known: then no time passes
   */
  protected finish(record: RoundRecord, startSeconds: number, endedSeconds?: number): void {
    const { cost } = this.#job;
    const { oneStepOff = false } = this.#scheduler;
    this.inference.pause(this.loop.now);
    this.inference.pool.collect();
    this.source.endStep(oneStepOff);
    const openedSeconds = record.openedSeconds + record.reshardSeconds;
    const stages = this.#stages(record);
    const { drainedSeconds, rewardedSeconds, referencedSeconds, trainedSeconds } = stages;
    this.#countTraining(openedSeconds, drainedSeconds);
    // A one-step off-policy pipeline has no new weights before its second round begins.
    const hasWeights = !oneStepOff || this.#before !== undefined || this.#isLast(record);
    const endSeconds = endedSeconds ?? trainedSeconds + (hasWeights ? cost.weightSyncSeconds : 0);
    this.#before = record;
    const times = { startSeconds, openedSeconds, ...stages, endSeconds };
    const bubbleRatio = this.bubbleRatio(openedSeconds, drainedSeconds);
    const { preemptions } = this.inference;
    const host = { preemptions, bubbleRatio, queueDepth: this.#queueDepth, passRate: this.#passRate() };
    const result = stepResult(record, times, host);
    this.#trained += result.prompts;
    this.#steps.push(result);
    this.draw({ startSeconds, openedSeconds, rolledOutSeconds: drainedSeconds }, [
      ['reward', drainedSeconds, rewardedSeconds],
      ['reference', rewardedSeconds, referencedSeconds],
      ['train', referencedSeconds, trainedSeconds],
      ['sync', trainedSeconds, endSeconds],
    ]);
    if (endedSeconds === undefined) this.loop.passTime(endSeconds);
    this.#options.onStep?.(result, this.#trained);
  }

  /**
   * Opens a round and runs it until all requests have ended and, if the policy manages weights, the new weights are there: those
   * of this round or, in a one-step off-policy pipeline, of the previous one. Stops earlier if the policy has nothing left to
   * plan.
   */
  #rollOut(record: RoundRecord, weightVersion: number): void {
    const { roundId } = record;
    const { oneStepOff = false } = this.#scheduler;
    const awaited = oneStepOff ? this.#before : record;
    this.inference.goOn(weightVersion, this.loop.now);
    this.open(record, [this.#scheduler.openRound({ at: this.loop.now, roundId, weightVersion })]);
    this.#runOut(
      record,
      () =>
        record.drainedAt !== undefined && (!this.#trains || awaited === undefined || awaited.trainedAt !== undefined),
    );
  }

  /** Runs an open round until all its requests have ended. */
  protected rollOutRest(record: RoundRecord): void {
    this.#runOut(record, () => record.drainedAt !== undefined);
  }

  #runOut({ roundId }: RoundRecord, isDone: () => boolean): void {
    this.runUntil(
      () => this.#isOver || isDone(),
      () => {
        const expected = `${this.#scheduler.id} to drain round ${roundId}`;
        refuse('infeasible', '', expected, 'no request in flight and no timer set');
      },
    );
  }

  protected note(decision: VocabularyDecision, record: RoundRecord | undefined): void {
    this.#asks.note(decision);
    switch (decision.type) {
      case 'round.planned':
      case 'prompts.released':
        this.#queueDepth -= decision.queued.filter(({ deferral }) => deferral !== undefined).length;
        break;
      case 'prompt.deferred':
        if (this.#scheduler.holdsDeferred) this.#queueDepth += 1;
        break;
      case 'prompt.returned':
        if (this.#scheduler.holdsDeferred && decision.prompt.deferral !== undefined) this.#queueDepth += 1;
        break;
      case 'round.completed':
        this.#complete(record!);
        break;
      case 'round.drained':
        if (!this.#trains) this.records.delete(decision.roundId);
        break;
      case 'group.rewarded':
        this.#learn(decision.responses[0]!.requestId, decision.responses);
        if (this.#tellsRewards) this.link.offer(decision);
        break;
      case 'round.trained':
        this.records.delete(decision.roundId);
        break;
      case 'source.drained':
        this.#isOver = true;
        break;
      default:
    }
  }

  #complete(record: RoundRecord): void {
    const { rewardsOf } = this.#cluster;
    for (const { promptId, responses } of record.prompts) {
      for (const { requestId, tokens } of responses) {
        this.#lengths.push(tokens);
        record.counted(tokens, this.source.drawn(requestId)?.capped ?? false);
      }
      record.behind(this.inference.versions.trained(promptId, responses, record.weightVersion));
      this.kept.add(this.source, promptId, responses);
      if (rewardsOf !== undefined) {
        const rewards = rewardsOf(responses);
        this.#learn(responses[0]!.requestId, rewards);
        if (this.#tellsRewards) {
          const rewarded = responses.map(({ requestId, tokens }, n) => ({ requestId, tokens, ...rewards[n]! }));
          const { roundId } = record;
          this.link.offer(rewardedGroup({ at: this.loop.now, roundId, promptId, responses: rewarded }));
        }
      }
      this.source.trained(promptId);
    }
  }

  /** Whether the policy is told of rewards, which it does not compute. */
  get #tellsRewards(): boolean {
    const { trains = false, hearsRewards = false } = this.#scheduler;
    return hearsRewards && !trains;
  }

  /** Trains on the group of a request. */
  #learn(requestId: string, rewards: readonly { readonly reward: number }[]): void {
    this.kept.rewarded(rewards);
    const prompt = this.source.drawn(requestId);
    if (prompt !== undefined) this.#cluster.model?.train(prompt, rewards);
  }

  /** Returns the mean pass rate of the data, in a job that learns. */
  #passRate(): number | undefined {
    if (this.#job.rewards?.learning === undefined) return undefined;
    this.#data ??= this.source.data();
    return this.#cluster.model?.passRate(this.#data);
  }

  /** Returns the ends of the stages of the step: as the policy ran the stages, or in sequence. */
  #stages(record: RoundRecord): Omit<StepTimes, 'startSeconds' | 'openedSeconds' | 'endSeconds'> {
    const drainedSeconds = record.drainedAt!;
    const { oneStepOff } = this.#scheduler;
    if (oneStepOff && !this.#isLast(record)) {
      // The GPUs train the previous round, whose rewards are known, so only the wait for them counts.
      const trainedSeconds = Math.max(drainedSeconds, this.#before?.trainedAt ?? 0);
      this.#cluster.trainer!.takePassSeconds();
      return { drainedSeconds, rewardedSeconds: drainedSeconds, referencedSeconds: drainedSeconds, trainedSeconds };
    }
    if (oneStepOff) this.#runOut(record, () => record.trainedAt !== undefined);
    if (this.#trains) {
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
    return this.#trained + prompts.length >= this.#wanted;
  }

  /** GPUs that train beside the rollout are busy. */
  #countTraining(openedSeconds: number, drainedSeconds: number): void {
    const { trainer } = this.#cluster;
    if (trainer === undefined) return;
    // In a one-step off-policy pipeline, training has GPUs of its own.
    if (this.#scheduler.oneStepOff) trainer.trained.length = 0;
    const perReplica = this.rows.length / trainingReplicasOf(this.#job, gpuIdsOf(this.#job).length);
    for (const { replica, activity, startSeconds, endSeconds } of trainer.trained.splice(0)) {
      const end = Math.min(endSeconds, drainedSeconds);
      const start = Math.max(startSeconds, openedSeconds);
      if (replica === undefined || end <= start) continue;
      for (const row of this.rows.slice(Math.floor(replica * perReplica), Math.floor((replica + 1) * perReplica))) {
        row.busySeconds += end - start;
        row.segments.push({ startSeconds: start, endSeconds: end, activity, running: 0 });
      }
    }
  }

  /** Says what the last round came to, and what the policy says that it waits for. */
  #lastRound(): string {
    const { roundId = '', prompts = [], mostInService = 0 } = this.record ?? {};
    const trained = `round ${roundId} completed with ${prompts.length} of ${this.#job.promptsPerRound} prompts`;
    return `${trained} and had at most ${mostInService} requests in flight`;
  }

  #stopped(): never {
    refuse(
      'infeasible',
      '',
      `${this.#scheduler.id} to go on until every prompt is trained`,
      `${this.#trained} of ${this.#wanted} trained: ${this.#lastRound()}`,
    );
  }
}
