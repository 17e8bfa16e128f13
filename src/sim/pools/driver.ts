/**
 * The simulated host of disaggregated pools: it opens a round, lets rollout pool, verifier and trainer carry out the policies'
 * decisions, and opens the next round when the engines have the new weights (on-policy).
 */
import type { AnyEvent } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import { EnginePool } from '../cluster/engines/engine-pool.ts';
import { SimulatedHost } from '../cluster/host.ts';
import { InferenceMachine } from '../cluster/machines/inference.ts';
import { Trainer } from '../cluster/machines/trainer.ts';
import { Verifier } from '../cluster/machines/verifier.ts';
import { RoundRecord } from '../cluster/round-record.ts';
import { PromptSource } from '../cluster/source.ts';
import { sumOf } from '../comparison/metrics.ts';
import type { Workload } from '../workload/workload.ts';
import type { PoolsRound, PoolsRun } from './result.ts';
import { roundResult } from './round-result.ts';
import type { PoolsScheduler } from './scheduler.ts';
import type { PoolsJob } from './settings.ts';

/** Options of one simulated run. */
export interface PoolsRunOptions {
  /** Rounds, a whole number from 1 to 10,000. */
  readonly rounds: number;
  /** Seed for verifier and rewards, which the result names. The workload has its own seed. */
  readonly seed: number;
  /** Whether timelines are kept (default true). */
  readonly timeline?: boolean;
  /**
   * Least tokens of a long response, for the counts in `kept` of the result (see `KeptCounts`); if absent, no response counts
   * as long.
   */
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

class PoolsHost extends SimulatedHost {
  readonly #job: PoolsJob;
  readonly #scheduler: PoolsScheduler;
  readonly #options: PoolsRunOptions;
  readonly #trainer: Trainer;
  /** By prompt: responses and tokens of counting prompts, until their round is over. */
  readonly #batches: Map<string, { readonly responses: number; readonly tokens: number }>;
  /** Versions of the weights that the engines have been given. */
  #published = 0;

  constructor(job: PoolsJob, scheduler: PoolsScheduler, workload: Workload, options: PoolsRunOptions) {
    const { rounds, seed, timeline = true, longTokens, validate = false } = options;
    // Tail batching must not run out of prompts: no round ends early, and deferred prompts are not flushed.
    const perRound = scheduler.tailBatching ? 16 * job.groupsPerRound : job.groupsPerRound;
    const source = new PromptSource(workload, rounds * perRound);
    const verifier = new Verifier(job.verifier, source, seed);
    const pool = new EnginePool(job.engines, job.cost, timeline);
    const inference = new InferenceMachine(pool, source, (requestId, at) => verifier.verify(requestId, at));
    const batches = new Map<string, { readonly responses: number; readonly tokens: number }>();
    const trainer = new Trainer(['trainer'], job.cost, (groups) => {
      const found = groups.map((promptId) => batches.get(promptId)!);
      return { responses: sumOf(found, 'responses'), tokens: sumOf(found, 'tokens') };
    });
    const policy = scheduler.create(job, { validate });
    const { responsesPerPrompt } = job;
    const machines = [inference, verifier, trainer];
    super(policy, { source, inference, machines }, { responsesPerPrompt, holdsDeferred: true, timeline, longTokens });
    this.#job = job;
    this.#scheduler = scheduler;
    this.#options = options;
    this.#trainer = trainer;
    this.#batches = batches;
  }

  run(): PoolsRun {
    const rounds = Array.from({ length: this.#options.rounds }, (_, round) => this.#runRound(round));
    const { cost, trainerGpus } = this.#job;
    const engines = this.rows.map(({ rowId, busySeconds }, index) => ({
      rowId,
      pool: 'rollout' as const,
      gpus: cost.gpus,
      busySeconds,
      timeline: this.segments[index]!,
    }));
    const segments = this.#trainer.trained.map(({ startSeconds, endSeconds, activity }) => {
      return { startSeconds, endSeconds, activity, running: 0 };
    });
    const trained = segments.filter(({ activity }) => activity === 'train');
    const busySeconds = sumOf(trained, (one) => one.endSeconds - one.startSeconds);
    const timeline = this.#options.timeline === false ? [] : segments;
    const trainer = { rowId: 'trainer', pool: 'trainer' as const, gpus: trainerGpus, busySeconds, timeline };
    return {
      scheduler: this.#scheduler.id,
      seed: this.#options.seed,
      rounds,
      rows: [...engines, trainer],
      totalSeconds: this.loop.now,
      kept: this.kept.counts(),
    };
  }

  #runRound(round: number): PoolsRound {
    const startSeconds = this.loop.now;
    this.loop.now += this.#job.cost.fixedRolloutSeconds;
    const record = new RoundRecord(round, this.loop.now);
    const { roundId, openedSeconds } = record;
    const weightVersion = this.#published;
    this.open(record, this.#opening(roundId, weightVersion));
    this.runUntil(
      () => this.#isOver(record),
      () => refuse('infeasible', '', `${this.#scheduler.id} to train round ${roundId}`, 'nothing in flight'),
    );
    const lag = this.#published - weightVersion;
    this.#published += 1;
    this.inference.pool.collect();
    const endSeconds = this.loop.now;
    const rolledOutSeconds = record.completedAt;
    const bubbleRatio = this.bubbleRatio(openedSeconds, rolledOutSeconds);
    const { preemptions } = this.inference;
    const hasFrontier = this.#scheduler.width !== 'all';
    const result = roundResult(record, { startSeconds, endSeconds, preemptions, bubbleRatio, lag, hasFrontier });
    // The trainer keeps its own timeline.
    this.draw({ startSeconds, openedSeconds, rolledOutSeconds }, [
      ['sync', openedSeconds + result.mainSeconds, endSeconds],
    ]);
    this.records.delete(roundId);
    for (const promptId of this.#batches.keys()) this.source.trained(promptId);
    this.source.endStep();
    this.#batches.clear();
    return result;
  }

  /** Whether the engines have the round's weights, its measures have come, and every abort is confirmed. */
  #isOver({ trainedAt, measured, drainedAt }: RoundRecord): boolean {
    const isDrained = drainedAt !== undefined || !this.#scheduler.tailBatching;
    return trainedAt !== undefined && measured !== undefined && isDrained;
  }

  /** Returns the events that open a round: all requests arrive at once, group by group, or the policy launches them. */
  #opening(roundId: string, weightVersion: number): AnyEvent[] {
    const at = this.loop.now;
    if (this.#scheduler.tailBatching) return [{ type: 'round.requested', at, roundId, weightVersion } as AnyEvent];
    const { groupsPerRound, responsesPerPrompt } = this.#job;
    const prompts = this.source.take(groupsPerRound);
    const arrivals = prompts.flatMap(({ promptId }) =>
      Array.from({ length: responsesPerPrompt }, (_, index) => {
        const requestId = `${promptId}/${index}#0`;
        return { type: 'request.arrived', at, requestId, promptId, roundId, index } as AnyEvent;
      }),
    );
    return [{ type: 'round.opened', at, roundId, kind: 'long', weightVersion, prompts } as AnyEvent, ...arrivals];
  }

  protected note(decision: VocabularyDecision, record: RoundRecord | undefined): void {
    if (decision.type === 'group.rewarded') this.kept.rewarded(decision.responses);
    if (decision.type !== 'prompt.counted') return;
    const { promptId, responses } = decision;
    this.kept.add(this.source, promptId, responses);
    const drawn = responses.map(({ requestId }) => this.source.drawn(requestId)!);
    for (const { tokens, capped } of drawn) record!.counted(tokens, capped);
    const tokens = sumOf(drawn, (one) => one.promptTokens + one.tokens);
    this.#batches.set(promptId, { responses: drawn.length, tokens });
  }
}
