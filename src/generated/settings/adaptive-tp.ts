// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `adaptive-tp`: its settings, what it is told, and what it answers. */
import type {
  HostRestarted, KindTpFailed, KindTpKept, KindTpSet, ProfileMeasure, ProfileMeasured, ProfileObserved, RoundCompleted,
  RoundFailed, RoundPlanned, RoundTpSet, StepFinished,
} from '../messages/index.ts';
import type { GpuServer, ProfileRow, RolloutWorkload } from '../messages/objects.ts';

/** Configuration of `adaptive-tp`, as a caller writes it. */
export interface AdaptiveTpInput {
  /** The servers of the rollout, with their GPUs in order. */
  servers: GpuServer[];
  /** KV heads of the model; a TP degree divides them. A whole number, 1 or more. */
  kvHeads: number;
  /** Bytes of the weights of the model, over all GPUs of a replica. A number above 0. */
  modelBytes: number;
  /** Bytes of memory of one GPU. A number above 0. */
  gpuMemoryBytes: number;
  /**
   * Share of the GPU memory that an engine may use for weights and KV cache. A number above 0 and at most 1.
   *
   * @defaultValue `0.9`
   */
  memoryUtilization?: number | undefined;
  /**
   * Bytes of KV cache of one sequence of the greatest length; a replica must hold at least one. A number, 0 or more.
   *
   * @defaultValue `0`
   */
  sequenceBytes?: number | undefined;
  /**
   * Routed experts of an MoE model; EP degrees divide them and the TP. Without it EP is not touched. A whole number, 1
   * or more.
   */
  experts?: number | undefined;
  /**
   * Least tensor-parallel degree. A whole number, 1 or more.
   *
   * @defaultValue `1`
   */
  minTp?: number | undefined;
  /** Greatest tensor-parallel degree; that of a server if absent. A whole number, 1 or more. */
  maxTp?: number | undefined;
  /** Degrees to start with, in place of those that the profile gives. */
  startTp?:
    | {
        /** Degree that short rounds start with. A whole number, 1 or more. */
        short?: number | undefined;
        /** Degree that long rounds start with. A whole number, 1 or more. */
        long?: number | undefined;
      }
    | undefined;
  /** What the first rounds are expected to demand: the profile chooses the start for it. */
  expectedWorkload?:
    | {
        /** What a short round is expected to demand. */
        short?: RolloutWorkload | undefined;
        /** What a long round is expected to demand. */
        long?: RolloutWorkload | undefined;
      }
    | undefined;
  /**
   * Rows of the offline profile; the last one of a point counts. Empty: no start by profile and no veto.
   *
   * @defaultValue `[]`
   */
  profile?: ProfileRow[] | undefined;
  /**
   * Preemptions above this many times those of the step before double the TP. A number, 1 to 100.
   *
   * @defaultValue `1.05`
   */
  riseFactor?: number | undefined;
  /**
   * Preemptions of a step up to which nothing counts as a rise. A whole number, 0 or more.
   *
   * @defaultValue `4`
   */
  preemptionFloor?: number | undefined;
  /**
   * Steps in a row without a preemption after which the TP is halved. A whole number, 1 or more.
   *
   * @defaultValue `4`
   */
  calmSteps?: number | undefined;
  /**
   * Steps after a change that lead to no other one, but an undo. A whole number, 0 to 100.
   *
   * @defaultValue `1`
   */
  cooldownSteps?: number | undefined;
  /**
   * A change is undone if measured ÷ predicted seconds rises by more than this share. A number, 0 to 10.
   *
   * @defaultValue `0.05`
   */
  undoTolerance?: number | undefined;
  /**
   * Share by which the load must move before it counts as another load. A number, 0 to 10.
   *
   * @defaultValue `0.25`
   */
  loadTolerance?: number | undefined;
  /**
   * Share by which the profile must predict fewer seconds before it changes the TP by itself. A number, 0 to 10.
   *
   * @defaultValue `0.02`
   */
  selectionMargin?: number | undefined;
  /**
   * Share by which an observation may differ from the profile. A number, 0 to 10.
   *
   * @defaultValue `0.25`
   */
  observedTolerance?: number | undefined;
  /**
   * Rounds of far observations in a row before it is measured anew. A whole number, 1 or more.
   *
   * @defaultValue `3`
   */
  observedRounds?: number | undefined;
}

/** Configuration of `adaptive-tp`, its defaults filled in. */
export interface AdaptiveTpConfig
  extends Pick<AdaptiveTpInput, 'servers' | 'kvHeads' | 'modelBytes' | 'gpuMemoryBytes' | 'experts' | 'maxTp'> {
  /** Share of the GPU memory that an engine may use for weights and KV cache. A number above 0 and at most 1. */
  memoryUtilization: number;
  /**
   * Bytes of KV cache of one sequence of the greatest length; a replica must hold at least one. A number, 0 or more.
   */
  sequenceBytes: number;
  /** Least tensor-parallel degree. A whole number, 1 or more. */
  minTp: number;
  /** Degrees to start with, in place of those that the profile gives. */
  startTp: {
    /** Degree that short rounds start with. A whole number, 1 or more. */
    short?: number | undefined;
    /** Degree that long rounds start with. A whole number, 1 or more. */
    long?: number | undefined;
  };
  /** What the first rounds are expected to demand: the profile chooses the start for it. */
  expectedWorkload: {
    /** What a short round is expected to demand. */
    short?: RolloutWorkload | undefined;
    /** What a long round is expected to demand. */
    long?: RolloutWorkload | undefined;
  };
  /** Rows of the offline profile; the last one of a point counts. Empty: no start by profile and no veto. */
  profile: ProfileRow[];
  /** Preemptions above this many times those of the step before double the TP. A number, 1 to 100. */
  riseFactor: number;
  /** Preemptions of a step up to which nothing counts as a rise. A whole number, 0 or more. */
  preemptionFloor: number;
  /** Steps in a row without a preemption after which the TP is halved. A whole number, 1 or more. */
  calmSteps: number;
  /** Steps after a change that lead to no other one, but an undo. A whole number, 0 to 100. */
  cooldownSteps: number;
  /** A change is undone if measured ÷ predicted seconds rises by more than this share. A number, 0 to 10. */
  undoTolerance: number;
  /** Share by which the load must move before it counts as another load. A number, 0 to 10. */
  loadTolerance: number;
  /** Share by which the profile must predict fewer seconds before it changes the TP by itself. A number, 0 to 10. */
  selectionMargin: number;
  /** Share by which an observation may differ from the profile. A number, 0 to 10. */
  observedTolerance: number;
  /** Rounds of far observations in a row before it is measured anew. A whole number, 1 or more. */
  observedRounds: number;
}

/** What `adaptive-tp` is told. */
export type AdaptiveTpEvent =
  | HostRestarted | KindTpFailed | ProfileMeasured | ProfileObserved | RoundCompleted | RoundFailed | RoundPlanned
  | StepFinished;

/** What `adaptive-tp` asks of the host. */
export type AdaptiveTpCommand = KindTpSet | ProfileMeasure | RoundTpSet;

/** What `adaptive-tp` lets others know. */
export type AdaptiveTpNotice = KindTpKept;

/** What `adaptive-tp` answers. */
export type AdaptiveTpDecision = AdaptiveTpCommand | AdaptiveTpNotice;

/** All types of `adaptive-tp`, for its definition. */
export interface AdaptiveTpTypes {
  /** Id of the definition. */
  readonly id: 'adaptive-tp';
  /** Configuration, as a caller writes it. */
  readonly input: AdaptiveTpInput;
  /** Configuration, its defaults filled in. */
  readonly config: AdaptiveTpConfig;
  /** What it is told. */
  readonly event: AdaptiveTpEvent;
  /** What it answers. */
  readonly decision: AdaptiveTpDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: AdaptiveTpCommand['type'];
}
