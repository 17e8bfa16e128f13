// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `stream-training`: its settings, what it is told, and what it answers. */
import type {
  GpusReleased, GpusReturned, GradientScale, GradientsDiscard, GradientsOffload, GradientsReload, GroupCompleted,
  GroupLate, GroupsDropped, HostRestarted, OptimizerStep, OptimizerStepped, ReferenceCompute, ReplicaAdded, ReplicaLost,
  RoundCompleted, RoundFailed, RoundOpened, RoundResumed, RoundTrained, TrainConsumed, TrainFetch, TrainFinish,
  TrainFinished, TrainingLate, TrainRequeued, WeightsSwap,
} from '../messages/index.ts';

/** Configuration of `stream-training`, as a caller writes it. */
export interface StreamTrainingInput {
  /** Data-parallel replicas of the trainer, each with its `id` and its `gpuIds`; a GPU belongs to one. */
  replicas: {
    /** Id of the data-parallel training replica. At most 512 characters. */
    id: string;
    /** GPUs of the replica; it streams when all of them are released. Each: at most 512 characters. */
    gpuIds: string[];
  }[];
  /** P0: groups that a round trains on. A whole number, 1 or more. */
  groupsPerRound: number;
  /**
   * `stream`: again and again, as groups are completed. `{ once }`: one fetch of what is there, up to this fraction.
   *
   * @defaultValue `'stream'`
   */
  fetch?:
    | 'stream'
    | {
        /** Most of the round that the one fetch may take, above 0, up to 1. */
        once: number;
      }
    | undefined;
  /**
   * Fewest groups of a fetch: what fills a micro-batch. A whole number, 1 or more.
   *
   * @defaultValue `1`
   */
  minFetchGroups?: number | undefined;
  /**
   * `swap`: reference logits are computed on the replica, with the weights swapped for this pass.
   *
   * @defaultValue `'none'`
   */
  reference?: 'none' | 'swap' | undefined;
  /**
   * Whose measurements tell how long work takes: the own ones of a replica, or, for replicas of equal GPUs, those of
   * all.
   *
   * @defaultValue `'replica'`
   */
  pace?: 'replica' | 'shared' | undefined;
  /**
   * When a streaming replica moves its gradients to the host; it always does before its GPUs go back.
   *
   * @defaultValue `'idle'`
   */
  gradientOffload?: 'idle' | 'never' | undefined;
  /**
   * What the loss is averaged over; `constant`: it is divided by `divisor`.
   *
   * @defaultValue `'samples'`
   */
  unit?: 'samples' | 'tokens' | 'groups' | 'constant' | undefined;
  /** What the loss is divided by (`unit: constant`). A number above 0. */
  divisor?: number | undefined;
  /**
   * What a replica accumulates: the sum over its units, or their mean over everything that it trained.
   *
   * @defaultValue `'sum'`
   */
  reduction?: 'mean' | 'sum' | undefined;
  /**
   * What the collective makes of the gradients; DDP and FSDP of PyTorch take the mean.
   *
   * @defaultValue `'mean'`
   */
  collective?: 'sum' | 'mean' | undefined;
  /**
   * Has to be 1: only then no gradient needs newer weights. A whole number.
   *
   * @defaultValue `1`
   */
  optimizerStepsPerRound?: number | undefined;
  /**
   * Has to be 1: a second pass would need the weights after the first. A whole number.
   *
   * @defaultValue `1`
   */
  epochs?: number | undefined;
  /**
   * Over what advantages are normalised; `batch` cannot be known before the round is over.
   *
   * @defaultValue `'group'`
   */
  advantageNormalization?: 'none' | 'group' | 'batch' | undefined;
  /**
   * Prefix of every fetch id; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
}

/** Configuration of `stream-training`, its defaults filled in. */
export interface StreamTrainingConfig extends Pick<StreamTrainingInput, 'replicas' | 'groupsPerRound' | 'divisor'> {
  /**
   * `stream`: again and again, as groups are completed. `{ once }`: one fetch of what is there, up to this fraction.
   */
  fetch:
    | 'stream'
    | {
        /** Most of the round that the one fetch may take, above 0, up to 1. */
        once: number;
      };
  /** Fewest groups of a fetch: what fills a micro-batch. A whole number, 1 or more. */
  minFetchGroups: number;
  /** `swap`: reference logits are computed on the replica, with the weights swapped for this pass. */
  reference: 'none' | 'swap';
  /**
   * Whose measurements tell how long work takes: the own ones of a replica, or, for replicas of equal GPUs, those of
   * all.
   */
  pace: 'replica' | 'shared';
  /** When a streaming replica moves its gradients to the host; it always does before its GPUs go back. */
  gradientOffload: 'idle' | 'never';
  /** What the loss is averaged over; `constant`: it is divided by `divisor`. */
  unit: 'samples' | 'tokens' | 'groups' | 'constant';
  /** What a replica accumulates: the sum over its units, or their mean over everything that it trained. */
  reduction: 'mean' | 'sum';
  /** What the collective makes of the gradients; DDP and FSDP of PyTorch take the mean. */
  collective: 'sum' | 'mean';
  /** Has to be 1: only then no gradient needs newer weights. A whole number. */
  optimizerStepsPerRound: number;
  /** Has to be 1: a second pass would need the weights after the first. A whole number. */
  epochs: number;
  /** Over what advantages are normalised; `batch` cannot be known before the round is over. */
  advantageNormalization: 'none' | 'group' | 'batch';
  /** Prefix of every fetch id; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
}

/** What `stream-training` is told. */
export type StreamTrainingEvent =
  | GpusReleased | GpusReturned | GroupCompleted | HostRestarted | OptimizerStepped | ReplicaAdded | ReplicaLost
  | RoundCompleted | RoundFailed | RoundOpened | TrainConsumed | TrainFinished;

/** What `stream-training` asks of the host. */
export type StreamTrainingCommand =
  | GradientScale | GradientsDiscard | GradientsOffload | GradientsReload | OptimizerStep | ReferenceCompute
  | TrainFetch | TrainFinish | WeightsSwap;

/** What `stream-training` lets others know. */
export type StreamTrainingNotice =
  | GroupLate | GroupsDropped | RoundResumed | RoundTrained | TrainRequeued | TrainingLate;

/** What `stream-training` answers. */
export type StreamTrainingDecision = StreamTrainingCommand | StreamTrainingNotice;

/** All types of `stream-training`, for its definition. */
export interface StreamTrainingTypes {
  /** Id of the definition. */
  readonly id: 'stream-training';
  /** Configuration, as a caller writes it. */
  readonly input: StreamTrainingInput;
  /** Configuration, its defaults filled in. */
  readonly config: StreamTrainingConfig;
  /** What it is told. */
  readonly event: StreamTrainingEvent;
  /** What it answers. */
  readonly decision: StreamTrainingDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: StreamTrainingCommand['type'];
}
