/**
 * The scheduler that the driver runs: a public policy object, and a function that opens its rounds. Nothing here schedules; the
 * decisions are those of the policies that a real host embeds.
 */
import type { PolicyOptions } from '../../core/machine/policy.ts';
import { create } from '../../core/machine/start.ts';
import { refuse } from '../../errors.ts';
import { type SpeculativeAdmissionInput, speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import { type LosslessTailInput, losslessTail } from '../../recipes/lossless-tail/index.ts';
import { type TailBatchingInput, tailBatching } from '../../recipes/tail-batching/index.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import type { ChunkCosts } from '../cluster/machines/divided.ts';
import type { Variant } from '../comparison/result.ts';
import { baseSeconds } from '../models/cost-model.ts';
import type { Job } from './job.ts';

/** A round to be opened. */
export interface NextRound {
  /** Time of opening, in simulated seconds. */
  readonly at: number;
  /** Id of the round, new for every round. */
  readonly roundId: string;
  /** Version of the weights that the engines have. */
  readonly weightVersion: number;
}

/** An event that opens a round: one of the vocabulary, or your own. */
export type OpeningEvent =
  | Extract<VocabularyEvent, { type: 'round.requested' | 'round.opened' }>
  | { readonly type: `${string}/${string}`; readonly at: number; readonly [field: string]: unknown };

/** A scheduler that can be simulated. A new policy is made for every run, so that runs share nothing. */
export interface Scheduler {
  /** Id in kebab case, which results carry. */
  readonly id: string;
  /** For people: tables and charts. */
  readonly label: string;
  /** Position in an ablation, for variants of one; results carry it. */
  readonly variant?: Variant;
  /** Whether deferred and returned prompts stay in the policy; otherwise the driver puts them back into the source. */
  readonly holdsDeferred: boolean;
  /** Whether deferred prompts keep the tokens of their responses and continue from them (`partialRollout`). */
  readonly keepsTokens?: boolean;
  /** Whether the policy is told what its groups have earned (`group.rewarded`), where it does not see to rewards itself. */
  readonly hearsRewards?: boolean;
  /** Whether the policy sees to rewards and training, too; if not, the driver lets their time pass after the rollout. */
  readonly trains?: boolean;
  /**
   * Whether the host computes rewards on the workers of the job after the rollout, and then trains on its replicas, as it does for the
   * baseline of `usualSchedulers`; if not, both take constant times. For a policy that does not see to them itself.
   */
  readonly staged?: boolean;
  /** Whether a round opens while the previous round is trained on separate GPUs, with weights that lack that training. */
  readonly oneStepOff?: boolean;
  /** Costs of chunks, if responses come in chunks (`chunks.requested`, `chunk.continue`, `chunk.finished`). */
  readonly chunks?: ChunkCosts;
  /** Returns a new policy in its initial state. */
  create(options: PolicyOptions): DrivenPolicy;
  /** Returns the event that begins a round. */
  openRound(round: NextRound): OpeningEvent;
}

/** P0 and R0 of RollPacker: prompts per round, and responses per prompt. */
export interface BatchShape {
  /** P0: prompts per round. */
  readonly promptsPerRound: number;
  /** R0: responses per prompt. */
  readonly responsesPerPrompt: number;
}

/** Settings of tail batching, or of speculative admission, beside the shape of the batch. */
export type TailSettings = Omit<TailBatchingInput, keyof BatchShape | 'placement'>;

/** Refuses filters, since lengths do not give rewards. */
function assertUnfiltered(settings: { filter?: string | undefined }): void {
  if ((settings.filter ?? 'none') !== 'none') {
    refuse('infeasible', 'filter', 'no filter: lengths say nothing of rewards', settings.filter);
  }
}

/**
 * The synchronous baseline, which trains as verl does: P0 · R0 requests per round, all awaited. The scheduler is the policy
 * `speculative-admission` in long rounds, hence without speculation.
 */
export function synchronousBaseline(shape: BatchShape): Scheduler {
  const { promptsPerRound, responsesPerPrompt } = shape;
  const config: SpeculativeAdmissionInput = { promptsPerRound, responsesPerPrompt, placement: 'policy' };
  return {
    id: 'synchronous',
    label: 'synchronous',
    holdsDeferred: false,
    create: (options) => create(speculativeAdmission, config, options),
    openRound: (round) => ({ type: 'round.opened', ...round, kind: 'long', prompts: [] }),
  };
}

/**
 * Tail batching (RollPacker §3): the recipe `tail-batching`.
 *
 * @param settings - factors and other settings of the recipe; both factors are 1.25 if absent
 * @param id - name in results, to compare several of these schedulers
 * @throws PolicyError `infeasible` for a filter; `invalid_config` as the recipe does
 */
export function tailBatchingScheduler(
  shape: BatchShape,
  settings: TailSettings = {},
  id = 'tail-batching',
  label = id,
): Scheduler {
  assertUnfiltered(settings);
  const { promptsPerRound, responsesPerPrompt } = shape;
  const config: TailBatchingInput = { ...settings, promptsPerRound, responsesPerPrompt, placement: 'policy' };
  create(tailBatching, config);
  return {
    id,
    label,
    holdsDeferred: true,
    keepsTokens: settings.partialRollout ?? false,
    hearsRewards: settings.promptSelection !== undefined,
    create: (options) => create(tailBatching, config, options),
    openRound: (round) => ({ type: 'round.requested', ...round }),
  };
}

/** Settings of the lossless tail, beside the shape of the batch. */
export type LosslessTailSettings = Omit<LosslessTailInput, keyof BatchShape | 'placement'>;

/**
 * The lossless tail: the recipe `lossless-tail`. The predictions need prompts that come back (`inEpochs`); without such prompts
 * this is the synchronous baseline.
 *
 * @param settings - settings of the recipe, such as `windowRounds`
 * @param id - name in results, to compare several of these schedulers
 * @throws PolicyError `infeasible` for a filter; `invalid_config` as the recipe does
 */
export function losslessTailScheduler(
  shape: BatchShape,
  settings: LosslessTailSettings = {},
  id = 'lossless-tail',
  label = id,
): Scheduler {
  assertUnfiltered(settings);
  const { promptsPerRound, responsesPerPrompt } = shape;
  const { dividedRollout } = settings;
  const placement = dividedRollout === undefined ? 'policy' : 'host';
  const config: LosslessTailInput = { ...settings, promptsPerRound, responsesPerPrompt, placement };
  create(losslessTail, config);
  return {
    id,
    label,
    holdsDeferred: true,
    keepsTokens: true,
    hearsRewards: settings.promptSelection !== undefined,
    ...(dividedRollout && { chunks: chunkCostsOf(dividedRollout) }),
    create: (options) => create(losslessTail, config, options),
    openRound: (round) => ({ type: 'round.requested', ...round }),
  };
}

const chunkCostsOf = ({ chunkSeconds = 0.03, poolTokensPerSecond }: DividedSettings): ChunkCosts => ({
  chunkSeconds,
  poolTokensPerSecond,
});

/** Sequences of an engine in the middle of a rollout. */
const usualBatch = 64;

type DividedSettings = NonNullable<LosslessTailInput['dividedRollout']>;

/** Returns the settings of divided rollout for the engines of a job. */
export function dividedSettingsOf({ cost }: Job): DividedSettings {
  // Straight between one sequence and a usual batch: experts are read the more, the more sequences there are.
  const sequenceSeconds = (baseSeconds(cost, usualBatch) - baseSeconds(cost, 1)) / (usualBatch - 1);
  return {
    kvCapacityTokens: cost.kvCapacityTokens,
    prefillTokensPerSecond: 1 / cost.prefillSecondsPerToken,
    decode: {
      stepSeconds: baseSeconds(cost, 1) - sequenceSeconds,
      sequenceSeconds,
      contextTokenSeconds: cost.secondsPerContextToken,
    },
  };
}
