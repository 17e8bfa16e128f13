/**
 * The simulated host of an asynchronous trainer: engines generate groups without a pause, and the trainer, on GPUs of its own, takes
 * batches of groups and publishes a version of the weights after each. New weights reach the engines while they generate.
 */

import type { AnyEvent } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Message } from '../../schemas/messages.ts';
import { EnginePool } from '../cluster/engines/engine-pool.ts';
import { type DrivenPolicy, EventLoop } from '../cluster/event-loop.ts';
import type { Machine } from '../cluster/machines/machine.ts';
import { type CostModel, gradientSeconds, passSeconds } from '../models/cost-model.ts';
import type { Workload } from '../workload/workload.ts';

/** Engines, trainer and batch of a job. */
export interface AsynchronousJob {
  /** Number of inference engines. */
  readonly engines: number;
  /** Costs of an engine, and of the trainer with all its GPUs. */
  readonly cost: CostModel;
  /** P: groups per batch. */
  readonly groupsPerBatch: number;
  /** Responses per group. */
  readonly responsesPerPrompt: number;
}

/** Counts of a run, from the first to the last measured version. */
export interface AsynchronousRun {
  readonly seconds: number;
  /** Trained groups, and the tokens of their responses. */
  readonly groups: number;
  readonly tokens: number;
  /** Tokens that were generated and discarded. */
  readonly wastedTokens: number;
  /** Share of the time in which the trainer waited for groups. */
  readonly trainerWaits: number;
  /** Mean and largest number of versions from the launch of a trained group to its batch. */
  readonly meanLag: number;
  readonly largestLag: number;
  readonly preemptions: number;
}

/** Options of a run. */
export interface AsynchronousOptions {
  /** Number of measured batches, after the first `warmUp` ones. */
  readonly batches: number;
  readonly warmUp: number;
}

const roundId = 'run';

/** Counts from the beginning of the run. */
interface Counts {
  seconds: number;
  groups: number;
  tokens: number;
  wastedTokens: number;
  trainingSeconds: number;
  lag: number;
  preemptions: number;
}

interface Running {
  readonly launch: Message<'group.launch'>;
  tokens: number;
  left: number;
}

/**
 * Runs a policy with the messages of `staleness-pacing` for so many batches. The same arguments give the same result.
 *
 * @throws PolicyError `infeasible` when the policy stops before they are trained
 */
export function simulateAsynchronous(
  job: AsynchronousJob,
  policy: DrivenPolicy,
  workload: Workload,
  options: AsynchronousOptions,
): AsynchronousRun {
  return new Host(job, workload, options).run(policy);
}

class Host implements Machine {
  readonly #job: AsynchronousJob;
  readonly #workload: Workload;
  readonly #options: AsynchronousOptions;
  readonly #loop = new EventLoop();
  readonly #pool: EnginePool;
  readonly #groups = new Map<string, Running>();
  /** Events that the policy has not been told yet. */
  #news: AnyEvent[] = [];
  #prompts = 0;
  /** The batch in training, and the time at which its weights reach the engines. */
  #batch: { readonly decision: Message<'train.batch'>; readonly endsAt: number } | undefined;
  #versions = 0;
  #largestLag = 0;
  readonly #counts: Counts = {
    ...{ seconds: 0, groups: 0, tokens: 0, wastedTokens: 0 },
    ...{ trainingSeconds: 0, lag: 0, preemptions: 0 },
  };

  constructor(job: AsynchronousJob, workload: Workload, options: AsynchronousOptions) {
    this.#job = job;
    this.#workload = workload;
    this.#options = options;
    this.#pool = new EnginePool(job.engines, job.cost, false);
  }

  run(policy: DrivenPolicy): AsynchronousRun {
    const { warmUp, batches } = this.#options;
    const link = this.#loop.add(policy, [this]);
    link.send({ type: 'round.requested', at: 0, roundId, weightVersion: 0 } as AnyEvent);
    const until = (versions: number): Counts => {
      while (this.#versions < versions) {
        if (this.#loop.runOnce()) continue;
        refuse('infeasible', '', `${policy.id} to train ${versions} batches`, this.#versions);
      }
      this.#pool.collect();
      const preemptions = this.#pool.rows.reduce((sum, row) => sum + row.preemptions, 0);
      return { ...this.#counts, seconds: this.#loop.now, preemptions };
    };
    const before = until(warmUp);
    this.#largestLag = 0;
    const after = until(warmUp + batches);
    const of = (key: keyof Counts): number => after[key] - before[key];
    return {
      seconds: of('seconds'),
      groups: of('groups'),
      tokens: of('tokens'),
      wastedTokens: of('wastedTokens'),
      trainerWaits: 1 - of('trainingSeconds') / of('seconds'),
      meanLag: of('lag') / of('groups'),
      largestLag: this.#largestLag,
      preemptions: of('preemptions'),
    };
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'prompts.request': {
        const prompts = Array.from({ length: decision.count }, () => ({ promptId: `p${this.#prompts++}` }));
        this.#news.push({ type: 'prompts.supplied', at, roundId, prompts } as AnyEvent);
        return;
      }
      case 'group.launch':
        return this.#launch(decision, at);
      case 'group.drop': {
        const { launchId, reason } = decision;
        this.#counts.wastedTokens += reason.tokens;
        const one = this.#groups.get(launchId);
        if (one === undefined) return;
        this.#counts.wastedTokens += one.tokens;
        this.#groups.delete(launchId);
        for (let index = 0; index < this.#job.responsesPerPrompt; index += 1)
          this.#pool.abort(`${launchId}/${index}`, at);
        return;
      }
      case 'train.batch':
        return this.#train(decision, at);
    }
  }

  #launch(launch: Message<'group.launch'>, at: number): void {
    const { groupId, launchId } = launch;
    const { responsesPerPrompt: left } = this.#job;
    const prompt = this.#workload.prompt(Number(groupId.slice(1)));
    this.#groups.set(launchId, { launch, tokens: 0, left });
    for (let index = 0; index < left; index += 1) {
      const request = { requestId: `${launchId}/${index}`, promptTokens: prompt.promptTokens };
      this.#pool.launch({ ...request, responseTokens: prompt.sample(index).tokens }, undefined, at);
    }
  }

  #train(decision: Message<'train.batch'>, at: number): void {
    const { cost } = this.#job;
    const { groups, samples, tokens, weightVersion } = decision;
    const size = { responses: samples, tokens };
    const seconds =
      cost.trainBaseSeconds + gradientSeconds(cost, size) + passSeconds(cost, size) + cost.weightSyncSeconds;
    this.#batch = { decision, endsAt: at + seconds };
    this.#counts.trainingSeconds += seconds;
    for (const one of groups) {
      const lag = weightVersion - 1 - one.weightVersion;
      this.#counts.lag += lag;
      this.#largestLag = Math.max(this.#largestLag, lag);
    }
  }

  nextAt(): number {
    if (this.#news.length > 0) return this.#loop.now;
    return Math.min(this.#pool.nextEventAt(), this.#batch?.endsAt ?? Number.POSITIVE_INFINITY);
  }

  advanceTo(at: number): readonly AnyEvent[] {
    const events = this.#news;
    this.#news = [];
    for (const { requestId, kind, tokens } of this.#pool.advanceTo(at)) {
      const launchId = requestId.slice(0, requestId.lastIndexOf('/'));
      const one = this.#groups.get(launchId);
      if (one === undefined) {
        // A request of a group that was given up.
        this.#counts.wastedTokens += tokens;
        continue;
      }
      if (kind !== 'completed') continue;
      one.tokens += tokens;
      one.left -= 1;
      if (one.left > 0) continue;
      this.#groups.delete(launchId);
      const { groupId } = one.launch;
      const samples = this.#job.responsesPerPrompt;
      events.push({ type: 'group.completed', at, roundId, groupId, launchId, samples, tokens: one.tokens } as AnyEvent);
    }
    if (this.#batch !== undefined && this.#batch.endsAt <= at) {
      const { publicationId, weightVersion, groups, tokens } = this.#batch.decision;
      this.#batch = undefined;
      this.#versions += 1;
      this.#counts.groups += groups.length;
      this.#counts.tokens += tokens;
      events.push({ type: 'weights.published', at, roundId, publicationId, weightVersion } as AnyEvent);
    }
    return events;
  }
}
