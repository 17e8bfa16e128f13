// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `rolloutpipe`: its settings, what it is told, and what it answers. */
import type { Reported } from '../../schemas/messages.ts';
import type {
  FrontierResized, FrontierStarved, GroupLate, GroupLeft, GroupRewarded, GroupsDropped, GroupTrainable, GroupUnrewarded,
  HostRestarted, OptimizerStep, OptimizerStepped, PipelineMeasured, PromptCounted, PromptReturned, RequestAbort,
  RequestAborted, RequestAdmit, RequestArrived, RequestAwaited, RequestDeferred, RequestDropped, ResponseAbandoned,
  ResponseAccepted, ResponseCompleted, ResponseFailed, ResponseLate, RewardFailed, RewardReady, RewardRequest,
  RewardUnused, RoundCompleted, RoundFailed, RoundOpened, RoundRewarded, RoundTrained, TrainDispatch, TrainerRestarted,
  TrainingLate, UpdateCancel, UpdateConsumed, UpdateLost, WeightsPublish, WeightsPublished,
} from '../messages/index.ts';
import type { CompleteGroupPipeliningConfig, CompleteGroupPipeliningInput } from './complete-group-pipelining.ts';
import type { FrontierGroupDispatchConfig, FrontierGroupDispatchInput } from './frontier-group-dispatch.ts';

/** Configuration of `rolloutpipe`, as a caller writes it. */
export interface RolloutPipeInput
  extends Omit<CompleteGroupPipeliningInput, 'idPrefix'>,
    Pick<FrontierGroupDispatchInput, 'startRequests' | 'starvedShare' | 'awaitRetries'> {
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
}

/** Configuration of `rolloutpipe`, its defaults filled in. */
export interface RolloutPipeConfig
  extends Omit<CompleteGroupPipeliningConfig, 'idPrefix'>,
    Pick<FrontierGroupDispatchConfig, 'startRequests' | 'starvedShare' | 'awaitRetries'>,
    Pick<RolloutPipeInput, 'width'> {
  /** Prefix of every id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
  /** Whether requests are admitted by groups, at most `width` at once; `false`: every request at once. */
  frontier: boolean;
}

/** What `rolloutpipe` is told. */
export type RolloutPipeEvent =
  | HostRestarted | OptimizerStepped | Reported<RewardFailed> | RequestAborted | RequestArrived | ResponseAbandoned
  | ResponseCompleted | ResponseFailed | RewardReady | RoundFailed | RoundOpened | TrainerRestarted | UpdateConsumed
  | UpdateLost | WeightsPublished;

/** What `rolloutpipe` asks of the host. */
export type RolloutPipeCommand =
  | OptimizerStep | RequestAbort | RequestAdmit | RewardRequest | TrainDispatch | UpdateCancel | WeightsPublish;

/** What `rolloutpipe` lets others know. */
export type RolloutPipeNotice =
  | FrontierResized | FrontierStarved | GroupLate | GroupLeft | GroupRewarded | GroupTrainable | GroupUnrewarded
  | GroupsDropped | PipelineMeasured | PromptCounted | PromptReturned | RequestAwaited | RequestDeferred
  | RequestDropped | ResponseAccepted | ResponseLate | RewardUnused | RoundCompleted | RoundRewarded | RoundTrained
  | TrainingLate;

/** What `rolloutpipe` answers. */
export type RolloutPipeDecision = RolloutPipeCommand | RolloutPipeNotice;

/** All types of `rolloutpipe`, for its definition. */
export interface RolloutPipeTypes {
  /** Id of the definition. */
  readonly id: 'rolloutpipe';
  /** Configuration, as a caller writes it. */
  readonly input: RolloutPipeInput;
  /** Configuration, its defaults filled in. */
  readonly config: RolloutPipeConfig;
  /** What it is told. */
  readonly event: RolloutPipeEvent;
  /** What it answers. */
  readonly decision: RolloutPipeDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: RolloutPipeCommand['type'];
}
