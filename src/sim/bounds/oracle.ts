/**
 * The oracle schedule: the result of a scheduler that knows all lengths, in the same simulator and with every response kept.
 * Rewards and training run during the rollout, as in the recipe `rollpacker`, and
 *
 * - prompts are grouped: in a window of rounds, prompts with the longest responses come first, so that long responses wait only for
 * each other;
 * - the requests of a round are placed longest first, each on the engine with the least work;
 * - code that would not end within its budget is stopped at its start; its reward is the same.
 *
 * The oracle is a schedule, not a bound: a scheduler that knows all lengths beforehand can reach this time.
 */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import { rollpackerScheduler } from '../colocated/ablation.ts';
import type { Job } from '../colocated/job.ts';
import { type Scheduler, synchronousBaseline } from '../colocated/scheduler.ts';
import { baseSeconds, type CostModel, secondsOfPrefill } from '../models/cost-model.ts';
import { RewardModel } from '../rewards/model.ts';
import type { Workload } from '../workload/workload.ts';
import { contextTokens, type FixedPrompt } from './lower-bound.ts';

/**
 * Most rounds of a window. Tail batching with both factors 1.25 moves prompts by 4 rounds; with an unlimited window, the oracle
 * would improve with the length of the job.
 */
export const oracleWindowRounds = 8;

/** Options of the oracle. */
export interface OracleOptions {
  /** Engines, batch shape and cost model. */
  readonly job: Job;
  /** Prompts and their lengths. */
  readonly workload: Workload;
  /** All trained prompts, in the order of the workload. */
  readonly fixed: readonly FixedPrompt[];
  /** Seed of the rewards. */
  readonly seed: number;
  /** Whether the scheduler also schedules rewards and training, as with `Scheduler.trains`; otherwise these follow the rollout. */
  readonly trains?: boolean;
  /** Whether training has GPUs of its own, as in `Scheduler.oneStepOff`. */
  readonly oneStepOff?: boolean;
  /** Most rounds of a window in which prompts may change places; all windows have the same size. A whole number >= 1. */
  readonly windowRounds?: number;
}

/** A scheduler, and the workload in the order that this scheduler chooses. */
export interface OracleSchedule {
  /** The scheduler, which uses known durations to place requests and to give rewards up. */
  readonly scheduler: Scheduler;
  /** The same prompts, in the order of the scheduler. */
  readonly workload: Workload;
}

/** Returns the oracle of a workload. Throws `PolicyError` as `rollpackerScheduler` does. */
export function oracleSchedule(options: OracleOptions): OracleSchedule {
  const { job, workload, fixed, trains = false, windowRounds = oracleWindowRounds } = options;
  const order = clairvoyantWindows(fixed, job.promptsPerRound, windowRounds);
  const known = new Map<string, Known>();
  for (const [index, prompt] of fixed.entries()) {
    const { promptId, place = index, firstSample = 0 } = workload.prompt(index);
    known.set(promptId, { ...prompt, place, firstSample });
  }
  const scheduler = trains ? allBeside(job, options.oneStepOff ?? false) : synchronousBaseline(job);
  const rewards = trains && job.rewards !== undefined ? new RewardModel(job.rewards, options.seed) : undefined;
  return {
    scheduler: {
      ...scheduler,
      id: 'oracle',
      label: 'oracle',
      create: (given) => new Knowing(scheduler.create(given), job.cost, known, rewards),
    },
    workload: {
      ...workload,
      prompt: (index) => {
        const at = order[index] ?? index;
        // The oracle chooses the order, so no prompt is bound to an earlier epoch.
        const { comesBack: _, place = at, ...prompt } = workload.prompt(at);
        return { ...prompt, place };
      },
    },
  };
}

/** Returns a scheduler with all mechanisms of RollPacker that keep all responses and all rewards. */
function allBeside(job: Job, oneStepOff: boolean): Scheduler {
  return rollpackerScheduler(job, 'oracle', {
    tailBatching: false,
    asyncReward: true,
    adaptiveTimeout: false,
    adaptiveTp: true,
    streamTraining: !oneStepOff,
    oneStepOff,
  });
}

/** Returns the order of the prompts: in each window of rounds, prompts with the longest responses come first. */
export function clairvoyantWindows(
  fixed: readonly FixedPrompt[],
  promptsPerRound: number,
  windowRounds: number,
): number[] {
  const longest = fixed.map(({ responseTokens }) => responseTokens.reduce((most, one) => Math.max(most, one), 0));
  const rounds = Math.ceil(fixed.length / promptsPerRound);
  const windows = Math.ceil(rounds / windowRounds);
  const begin = (window: number): number =>
    Math.min(fixed.length, Math.floor((window * rounds) / windows) * promptsPerRound);
  return Array.from({ length: windows }, (_, window) =>
    Array.from({ length: begin(window + 1) - begin(window) }, (_place, index) => begin(window) + index).sort(
      (a, b) => longest[b]! - longest[a]! || a - b,
    ),
  ).flat();
}

interface Known extends FixedPrompt {
  /** Index in the data set. */
  readonly place: number;
  readonly firstSample: number;
}

type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;
type Launch = Decision<'request.launch'>;

/** Wraps a policy, and uses known durations to place requests and to give rewards up. */
class Knowing implements DrivenPolicy {
  readonly id: string;
  readonly #policy: DrivenPolicy;
  readonly #cost: CostModel;
  readonly #known: ReadonlyMap<string, Known>;
  readonly #rewards: RewardModel | undefined;
  /** Launched requests that have no reward yet. */
  readonly #launched = new Map<string, Launch>();

  constructor(
    policy: DrivenPolicy,
    cost: CostModel,
    known: ReadonlyMap<string, Known>,
    rewards: RewardModel | undefined,
  ) {
    this.id = policy.id;
    this.#policy = policy;
    this.#cost = cost;
    this.#known = known;
    this.#rewards = rewards;
  }

  takes(type: string): boolean {
    return this.#policy.takes?.(type) ?? true;
  }

  send(event: AnyEvent): readonly AnyDecision[] {
    const decisions = this.#policy.send(event) as readonly VocabularyDecision[];
    const launches = decisions.filter((one) => one.type === 'request.launch');
    const placed = launches.length > 0 ? this.#place(launches) : launches;
    let next = 0;
    const mine = decisions.map((one) => {
      if (one.type === 'request.launch') return placed[next++]!;
      return one.type === 'reward.dispatch' ? this.#dispatched(one) : one;
    });
    // The policy is told which engines really run its requests.
    const answers = placed.flatMap(({ requestId, engineId }) =>
      this.#policy.send({ type: 'request.started', at: event.at, requestId, engineId } as AnyEvent),
    );
    return [...(mine as AnyDecision[]), ...answers];
  }

  /** Places simultaneous requests: longest first, each on the engine that would finish earliest with it. */
  #place(launches: readonly Launch[]): Launch[] {
    const loads = new Map<string | undefined, EngineLoad>();
    for (const { engineId } of launches) loads.set(engineId, new EngineLoad(this.#cost));
    return launches
      .map((launch) => ({ launch, tokens: this.#tokens(launch) }))
      .sort((a, b) => b.tokens - a.tokens)
      .map(({ launch, tokens }) => {
        const { promptTokens } = this.#known.get(launch.promptId)!;
        let engineId: string | undefined;
        let least = Number.POSITIVE_INFINITY;
        for (const [one, load] of loads) {
          const after = load.secondsWith(promptTokens, tokens);
          if (after < least) [engineId, least] = [one, after];
        }
        loads.get(engineId)!.add(promptTokens, tokens);
        if (this.#rewards !== undefined) this.#launched.set(launch.requestId, launch);
        return engineId === undefined ? launch : { ...launch, engineId };
      });
  }

  #tokens({ promptId, index }: Launch): number {
    return this.#known.get(promptId)!.responseTokens[index]!;
  }

  /**
   * Sets the budget of a dispatch to 0 seconds if the dispatch would exceed it, so that the dispatch ends at once with the reward
   * for a timeout.
   */
  #dispatched(dispatch: Decision<'reward.dispatch'>): Decision<'reward.dispatch'> {
    const launch = this.#launched.get(dispatch.requestId);
    if (launch === undefined || this.#rewards === undefined) return dispatch;
    this.#launched.delete(dispatch.requestId);
    const { place: promptIndex, firstSample } = this.#known.get(launch.promptId)!;
    const one = { promptIndex, sample: firstSample + launch.index, tokens: this.#tokens(launch) };
    const { seconds } = this.#rewards.work(dispatch.kind, one);
    return seconds > dispatch.budgetSeconds ? { ...dispatch, budgetSeconds: 0 } : dispatch;
  }
}

/** The requests of an engine, and an estimate of their time from the cost model, without a simulation. */
class EngineLoad {
  readonly #cost: CostModel;
  #longest = 0;
  #tokens = 0;
  #context = 0;
  #prefill = 0;

  constructor(cost: CostModel) {
    this.#cost = cost;
  }

  add(promptTokens: number, tokens: number): void {
    this.#longest = Math.max(this.#longest, tokens);
    this.#tokens += tokens;
    this.#context += contextTokens(promptTokens, tokens);
    this.#prefill += secondsOfPrefill(this.#cost, promptTokens);
  }

  /** Returns the seconds until the engine is done with all its requests and the added one. */
  secondsWith(promptTokens: number, added: number): number {
    const { maxRunningSequences, kvCapacityTokens, secondsPerContextToken } = this.#cost;
    const tokens = this.#tokens + added;
    const context = this.#context + contextTokens(promptTokens, added);
    // The longest response gives the number of steps; there are more steps if not all requests can run at once.
    const steps = Math.max(this.#longest, added, tokens / maxRunningSequences, context / kvCapacityTokens);
    return (
      steps * baseSeconds(this.#cost, tokens / steps) +
      secondsPerContextToken * context +
      this.#prefill +
      secondsOfPrefill(this.#cost, promptTokens)
    );
  }
}
