// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `complete-group-pipelining`: its settings, what it is told, and what it answers. */
import type {
  GroupLate, GroupRewarded, GroupsDropped, GroupTrainable, HostRestarted, OptimizerStep, OptimizerStepped,
  PipelineMeasured, RoundFailed, RoundOpened, RoundResumed, RoundRewarded, RoundTrained, TrainDispatch,
  TrainerRestarted, TrainingLate, UpdateCancel, UpdateConsumed, UpdateLost, WeightsPublish, WeightsPublished,
} from '../messages/index.ts';

/** Configuration of `complete-group-pipelining`, as a caller writes it. */
export interface CompleteGroupPipeliningInput {
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
   * Prefix of every update id; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
}

/** Configuration of `complete-group-pipelining`, its defaults filled in. */
export interface CompleteGroupPipeliningConfig
  extends Pick<CompleteGroupPipeliningInput, 'responsesPerPrompt' | 'globalBatchSamples' | 'maxTokensPerGpu'> {
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
  /** Prefix of every update id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
}

/** What `complete-group-pipelining` is told. */
export type CompleteGroupPipeliningEvent =
  | GroupRewarded | HostRestarted | OptimizerStepped | RoundFailed | RoundOpened | RoundRewarded | TrainerRestarted
  | UpdateConsumed | UpdateLost | WeightsPublished;

/** What `complete-group-pipelining` asks of the host. */
export type CompleteGroupPipeliningCommand = OptimizerStep | TrainDispatch | UpdateCancel | WeightsPublish;

/** What `complete-group-pipelining` lets others know. */
export type CompleteGroupPipeliningNotice =
  | GroupLate | GroupTrainable | GroupsDropped | PipelineMeasured | RoundResumed | RoundTrained | TrainingLate;

/** What `complete-group-pipelining` answers. */
export type CompleteGroupPipeliningDecision = CompleteGroupPipeliningCommand | CompleteGroupPipeliningNotice;

/** All types of `complete-group-pipelining`, for its definition. */
export interface CompleteGroupPipeliningTypes {
  /** Id of the definition. */
  readonly id: 'complete-group-pipelining';
  /** Configuration, as a caller writes it. */
  readonly input: CompleteGroupPipeliningInput;
  /** Configuration, its defaults filled in. */
  readonly config: CompleteGroupPipeliningConfig;
  /** What it is told. */
  readonly event: CompleteGroupPipeliningEvent;
  /** What it answers. */
  readonly decision: CompleteGroupPipeliningDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: CompleteGroupPipeliningCommand['type'];
}
