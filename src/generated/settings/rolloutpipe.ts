// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `rolloutpipe`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  FrontierResized,
  FrontierStarved,
  GroupLate,
  GroupLeft,
  GroupRewarded,
  GroupsDropped,
  GroupTrainable,
  GroupUnrewarded,
  HostRestarted,
  OptimizerStep,
  OptimizerStepped,
  PipelineMeasured,
  PromptCounted,
  PromptReturned,
  RequestAbort,
  RequestAborted,
  RequestAdmit,
  RequestArrived,
  RequestAwaited,
  RequestDeferred,
  RequestDropped,
  ResponseAbandoned,
  ResponseAccepted,
  ResponseCompleted,
  ResponseFailed,
  ResponseLate,
  RewardFailed,
  RewardReady,
  RewardRequest,
  RewardUnused,
  RoundCompleted,
  RoundFailed,
  RoundOpened,
  RoundRewarded,
  RoundTrained,
  TrainDispatch,
  TrainerRestarted,
  TrainingLate,
  UpdateCancel,
  UpdateConsumed,
  UpdateLost,
  WeightsPublish,
  WeightsPublished,
} from '../messages/index.ts';

/** Configuration of `rolloutpipe`, as a caller writes it. */
export interface RolloutPipeInput {
  /** K: responses of a complete group. A whole number, 1 or more. */
  responsesPerPrompt: number;
  /**
   * B: samples of an update, a multiple of `responsesPerPrompt`; an update takes U = B / K groups. A whole number, 1 or
   * more.
   */
  globalBatchSamples: number;
  /** Token budget of a micro-batch; absent: an update is one micro-batch. A whole number, 1 or more. */
  maxTokensPerGpu?: number | undefined;
  /**
   * Whether updates are dispatched while the rollout goes on; `false`: after it, as a serial trainer does.
   *
   * @defaultValue `true`
   */
  pipelining?: boolean | undefined;
  /**
   * `zero-variance`: groups whose rewards are all the same are not trained.
   *
   * @defaultValue `'none'`
   */
  filter?: 'none' | 'zero-variance' | undefined;
  /**
   * What becomes of a group in which a reward is missing for good.
   *
   * @defaultValue `'drop'`
   */
  incompleteGroups?: 'drop' | 'train' | undefined;
  /**
   * A group with a sample of other weights than its round: an `invalid_event`, or left out by name.
   *
   * @defaultValue `'refuse'`
   */
  otherVersions?: 'refuse' | 'drop' | undefined;
  /**
   * What is taken off a reward: the mean of its group, or of the others in it.
   *
   * @defaultValue `'group'`
   */
  baseline?: 'group' | 'leave-one-out' | undefined;
  /**
   * Whether the difference is divided by standard deviation + `epsilon`.
   *
   * @defaultValue `'std'`
   */
  normalization?: 'std' | 'none' | undefined;
  /**
   * Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`).
   *
   * @defaultValue `'sample'`
   */
  std?: 'sample' | 'population' | undefined;
  /**
   * Added to the standard deviation. A number, 0 or more.
   *
   * @defaultValue `0.000001`
   */
  epsilon?: number | undefined;
  /**
   * Population standard deviation of raw rewards up to which a group has zero variance. A number, 0 or more.
   *
   * @defaultValue `0.000001`
   */
  varianceTolerance?: number | undefined;
  /**
   * Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward.
   *
   * @defaultValue `'zero'`
   */
  singleResponse?: 'zero' | 'reward' | undefined;
  /**
   * Prefix of every id; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
  /**
   * Whether requests are admitted by groups, at most `width` at once; `false`: every request at once.
   *
   * @defaultValue `true`
   */
  frontier?: boolean | undefined;
  /** F_w: most groups in service at once; `auto`: planned anew for every round. Required with `frontier`. */
  width?: number | 'auto' | undefined;
  /**
   * Requests that `auto` keeps in service while nothing is known of the engines. A whole number, 1 or more.
   *
   * @defaultValue `96`
   */
  startRequests?: number | undefined;
  /**
   * Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`. A number above 0
   * and at most 1.
   *
   * @defaultValue `0.2`
   */
  starvedShare?: number | undefined;
  /**
   * Whether a failed request keeps its place until another comes for it, or `response.abandoned`; if not, it has failed
   * for good.
   *
   * @defaultValue `false`
   */
  awaitRetries?: boolean | undefined;
}

/** Configuration of `rolloutpipe`, its defaults filled in. */
export interface RolloutPipeConfig {
  /** K: responses of a complete group. A whole number, 1 or more. */
  responsesPerPrompt: number;
  /**
   * B: samples of an update, a multiple of `responsesPerPrompt`; an update takes U = B / K groups. A whole number, 1 or
   * more.
   */
  globalBatchSamples: number;
  /** Token budget of a micro-batch; absent: an update is one micro-batch. A whole number, 1 or more. */
  maxTokensPerGpu?: number | undefined;
  /** Whether updates are dispatched while the rollout goes on; `false`: after it, as a serial trainer does. */
  pipelining: boolean;
  /** `zero-variance`: groups whose rewards are all the same are not trained. */
  filter: 'none' | 'zero-variance';
  /** What becomes of a group in which a reward is missing for good. */
  incompleteGroups: 'drop' | 'train';
  /** A group with a sample of other weights than its round: an `invalid_event`, or left out by name. */
  otherVersions: 'refuse' | 'drop';
  /** What is taken off a reward: the mean of its group, or of the others in it. */
  baseline: 'group' | 'leave-one-out';
  /** Whether the difference is divided by standard deviation + `epsilon`. */
  normalization: 'std' | 'none';
  /** Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`). */
  std: 'sample' | 'population';
  /** Added to the standard deviation. A number, 0 or more. */
  epsilon: number;
  /** Population standard deviation of raw rewards up to which a group has zero variance. A number, 0 or more. */
  varianceTolerance: number;
  /** Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward. */
  singleResponse: 'zero' | 'reward';
  /** Prefix of every id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
  /** Whether requests are admitted by groups, at most `width` at once; `false`: every request at once. */
  frontier: boolean;
  /** F_w: most groups in service at once; `auto`: planned anew for every round. Required with `frontier`. */
  width?: number | 'auto' | undefined;
  /** Requests that `auto` keeps in service while nothing is known of the engines. A whole number, 1 or more. */
  startRequests: number;
  /**
   * Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`. A number above 0
   * and at most 1.
   */
  starvedShare: number;
  /**
   * Whether a failed request keeps its place until another comes for it, or `response.abandoned`; if not, it has failed
   * for good.
   */
  awaitRetries: boolean;
}

/** What `rolloutpipe` is told. */
export type RolloutPipeEvent =
  | HostRestarted
  | OptimizerStepped
  | Reported<RewardFailed>
  | RequestAborted
  | RequestArrived
  | ResponseAbandoned
  | ResponseCompleted
  | ResponseFailed
  | RewardReady
  | RoundFailed
  | RoundOpened
  | TrainerRestarted
  | UpdateConsumed
  | UpdateLost
  | WeightsPublished;

/** What `rolloutpipe` asks of the host. */
export type RolloutPipeCommand =
  | OptimizerStep
  | RequestAbort
  | RequestAdmit
  | RewardRequest
  | TrainDispatch
  | UpdateCancel
  | WeightsPublish;

/** What `rolloutpipe` lets others know. */
export type RolloutPipeNotice =
  | FrontierResized
  | FrontierStarved
  | GroupLate
  | GroupLeft
  | GroupRewarded
  | GroupTrainable
  | GroupUnrewarded
  | GroupsDropped
  | PipelineMeasured
  | PromptCounted
  | PromptReturned
  | RequestAwaited
  | RequestDeferred
  | RequestDropped
  | ResponseAccepted
  | ResponseLate
  | RewardUnused
  | RoundCompleted
  | RoundRewarded
  | RoundTrained
  | TrainingLate;

/** What `rolloutpipe` answers. */
export type RolloutPipeDecision = RolloutPipeCommand | RolloutPipeNotice;
