/**
 * The simulated host of disaggregated pools: it opens a round, lets the policies' decisions be carried out by rollout
 * pool, verifier and trainer, and opens the next one when the engines have the new weights (on-policy).
 */
import type { AnyEvent } from '../../core/definition.ts';
import { refuse } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import { KeptResponses } from '../cluster/kept.ts';
import { PromptSupply } from '../cluster/prompt-supply.ts';
import { PromptSource } from '../cluster/source.ts';
import { addActivity, rolloutSegments } from '../cluster/timeline.ts';
import { Verifier } from '../cluster/verifier.ts';
import { sumOf } from '../metrics.ts';
import type { Segment } from '../result.ts';
import type { Workload } from '../workload/workload.ts';
import { MachineLoop } from './machine-loop.ts';
import type { PoolsRound, PoolsRun } from './result.ts';
import { RolloutPool } from './rollout-pool.ts';
import { RoundLog } from './round-log.ts';
import type { PoolsScheduler } from './scheduler.ts';
import type { PoolsJob } from './settings.ts';
import { TrainerPool } from './trainer-pool.ts';

/** Options of one simulated run. */
export interface PoolsRunOptions {
  /** Rounds, a whole number from 1 to 10,000. */
  readonly rounds: number;
  /** Seed of verifier and rewards; goes into the result. The workload has its own. */
  readonly seed: number;
  /** Whether timelines are kept (default true). */
  readonly timeline?: boolean;
  /** Fixed responses with at least this many tokens count as long (`kept` of the result); none if absent. */
  readonly longTokens?: number;
  /** Whether the policies check events against their schemas (default false: the driver is trusted). */
  readonly validate?: boolean;
}

/**
 * Runs a job for this many rounds. The same arguments give the same result.
 *
 * @param workload - prompts and lengths; the same for every scheduler that is compared
 * @throws PolicyError `invalid_input` for bad options; `infeasible` when a request can never fit an engine, or the
 *   policies stop before a round is trained
 */
export function simulatePools(
  job: PoolsJob,
  scheduler: PoolsScheduler,
  workload: Workload,
  options: PoolsRunOptions,
): PoolsRun {
  const { rounds, seed } = options;
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 10_000) {
    refuse('invalid_input', 'rounds', 'a whole number from 1 to 10000', rounds);
  }
  if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seed', 'a whole number', seed);
  return new PoolsHost(job, scheduler, workload, options).run();
}

class PoolsHost {
  readonly #job: PoolsJob;
  readonly #scheduler: PoolsScheduler;
  readonly #options: PoolsRunOptions;
  readonly #source: PromptSource;
  readonly #pool: RolloutPool;
  readonly #trainer: TrainerPool;
  readonly #loop: MachineLoop;
  readonly #batches = new Map<string, { responses: number; tokens: number }>();
  readonly #segments: Segment[][];
  readonly #kept: KeptResponses;
  /** Versions of the weights that the engines have been given. */
  #published = 0;
  #log: RoundLog | undefined;

  constructor(job: PoolsJob, scheduler: PoolsScheduler, workload: Workload, options: PoolsRunOptions) {
    this.#job = job;
    this.#scheduler = scheduler;
    this.#options = options;
    // Tail batching must not run out of prompts: no round ends early, and deferred prompts are not flushed.
    const perRound = scheduler.tailBatching ? 16 * job.groupsPerRound : job.groupsPerRound;
    this.#source = new PromptSource(workload, options.rounds * perRound);
    this.#kept = new KeptResponses(job.responsesPerPrompt, options.longTokens ?? Number.POSITIVE_INFINITY);
    const verifier = new Verifier(job, this.#source, options.seed);
    this.#pool = new RolloutPool(job, this.#source, options.timeline ?? true, {
      started: () => this.#log!.started(),
      completed: (requestId, at) => {
        this.#log!.ended();
        verifier.verify(requestId, at);
      },
      aborted: () => this.#log!.ended(),
    });
    this.#trainer = new TrainerPool(job.cost, (groups) => this.#batchOf(groups));
    const policy = scheduler.create(job, { validate: options.validate ?? false });
    const machines = [this.#pool, verifier, this.#trainer, new PromptSupply(this.#source)];
    this.#loop = new MachineLoop(policy, machines, (decision) => this.#note(decision));
    this.#segments = this.#pool.engines.rows.map(() => []);
  }

  run(): PoolsRun {
    const rounds = Array.from({ length: this.#options.rounds }, (_, round) => this.#runRound(round));
    const { cost, trainerGpus } = this.#job;
    const { rows } = this.#pool.engines;
    const engines = rows.map(({ rowId, busySeconds }, index) => ({
      rowId,
      pool: 'rollout' as const,
      gpus: cost.gpus,
      busySeconds,
      timeline: this.#segments[index]!,
    }));
    const { busySeconds, segments } = this.#trainer;
    const timeline = this.#options.timeline === false ? [] : [...segments];
    const trainer = { rowId: 'trainer', pool: 'trainer' as const, gpus: trainerGpus, busySeconds, timeline };
    return {
      scheduler: this.#scheduler.id,
      seed: this.#options.seed,
      rounds,
      rows: [...engines, trainer],
      totalSeconds: this.#loop.now,
      kept: this.#kept.counts(),
    };
  }

  #runRound(round: number): PoolsRound {
    const { cost } = this.#job;
    const { engines } = this.#pool;
    const loop = this.#loop;
    const startSeconds = loop.now;
    loop.now += cost.fixedRolloutSeconds;
    const [busyBefore, preemptedBefore] = [sumOf(engines.rows, (row) => row.busySeconds), this.#pool.preemptions];
    const log = new RoundLog(`r${round}`, loop.now, this.#scheduler.width !== 'all', this.#scheduler.tailBatching);
    this.#log = log;
    const weightVersion = this.#published;
    this.#openRound(log.roundId, weightVersion);
    loop.report();
    while (!log.isOver) {
      if (loop.runOnce()) continue;
      refuse('infeasible', '', `${this.#scheduler.id} to train round ${log.roundId}`, 'nothing in flight');
    }
    const lag = this.#published - weightVersion;
    this.#published += 1;
    engines.collect();
    const busySeconds = sumOf(engines.rows, (row) => row.busySeconds) - busyBefore;
    const offered = engines.rows.length * (log.lastResponseAt - log.openedSeconds);
    const result = log.result({
      round,
      startSeconds,
      endSeconds: loop.now,
      lag,
      preemptions: this.#pool.preemptions - preemptedBefore,
      // Rounding may leave the engines busy a hair longer than the rollout.
      bubbleRatio: offered > 0 ? Math.max(0, 1 - busySeconds / offered) : 0,
    });
    this.#draw(startSeconds, log, result);
    for (const promptId of this.#batches.keys()) this.#source.trained(promptId);
    this.#source.endStep();
    this.#batches.clear();
    return result;
  }

  /** Opens a round: all its requests arrive at once, group by group; or the policy launches them. */
  #openRound(roundId: string, weightVersion: number): void {
    const loop = this.#loop;
    const at = loop.now;
    if (this.#scheduler.tailBatching) {
      return loop.send({ type: 'round.requested', at, roundId, weightVersion } as AnyEvent);
    }
    const { groupsPerRound, responsesPerPrompt } = this.#job;
    const prompts = this.#source.take(groupsPerRound);
    loop.send({ type: 'round.opened', at, roundId, kind: 'long', weightVersion, prompts } as AnyEvent);
    for (const { promptId } of prompts) {
      for (let index = 0; index < responsesPerPrompt; index += 1) {
        const requestId = `${promptId}/${index}#0`;
        loop.send({ type: 'request.arrived', at, requestId, promptId, roundId, index } as AnyEvent);
      }
    }
  }

  /** Records decisions about prompts, and about the round. */
  #note(decision: VocabularyDecision): void {
    this.#log!.note(decision);
    if (decision.type === 'prompt.deferred') this.#source.deferred(decision.prompt);
    if (decision.type === 'group.rewarded') this.#kept.rewarded(decision.responses);
    if (decision.type !== 'prompt.counted') return;
    const { promptId, responses } = decision;
    this.#kept.add(this.#source, promptId, responses);
    const drawn = responses.map(({ requestId }) => this.#source.drawn(requestId)!);
    for (const { tokens, capped } of drawn) this.#log!.counted(tokens, capped);
    const tokens = sumOf(drawn, (one) => one.promptTokens + one.tokens);
    this.#batches.set(promptId, { responses: drawn.length, tokens });
  }

  #batchOf(groups: readonly string[]): { responses: number; tokens: number } {
    const batches = groups.map((promptId) => this.#batches.get(promptId)!);
    return { responses: sumOf(batches, (one) => one.responses), tokens: sumOf(batches, (one) => one.tokens) };
  }

  /** Adds the round to the timelines of the engines; the trainer keeps its own. */
  #draw(
    startSeconds: number,
    { openedSeconds, lastResponseAt }: RoundLog,
    { mainSeconds, endSeconds }: PoolsRound,
  ): void {
    if (this.#options.timeline === false) return;
    this.#pool.engines.rows.forEach((row, index) => {
      const segments = this.#segments[index]!;
      addActivity(segments, 'overhead', startSeconds, openedSeconds);
      segments.push(...rolloutSegments(row.segments.splice(0), openedSeconds, lastResponseAt));
      addActivity(segments, 'sync', openedSeconds + mainSeconds, endSeconds);
    });
  }
}
