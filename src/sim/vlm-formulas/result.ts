/** The results of a comparison of VLM schedulers: plain data. */
import type { VlmPlacement } from './scheduler.ts';
import type { VlmJob } from './settings.ts';
import type { VlmStep } from './step.ts';
import type { VlmSample } from './workload/sample.ts';

/**
 * A time interval of a device in a forward pass: a shard of a sequence, the vision tower, or all-to-alls that attention does not
 * hide.
 */
export interface Shard {
  /** Index of the device, from 0. */
  readonly device: number;
  /** Start, in seconds from the start of the pass. */
  readonly startSeconds: number;
  /** End, in seconds from the start of the pass. */
  readonly endSeconds: number;
  /** Index of the sequence in the batch; absent for the vision tower and all-to-alls. */
  readonly sequence?: number;
  /** The activity: a part of a sequence, the vision tower, or an exchange between devices. */
  readonly activity: 'shard' | 'vision' | 'all-to-all';
}

/** The first plan of a scheduler, as a timeline. */
export interface PlanPicture {
  /** Length of the timeline, in seconds. */
  readonly seconds: number;
  /** The activities of all devices, with their times. */
  readonly shards: readonly Shard[];
  /** Degree of each sequence. */
  readonly degrees: readonly number[];
}

/** Measures of a step of which a result has the mean over steps. */
type StepMeans = Pick<
  VlmStep,
  | 'rolloutSeconds'
  | 'oldSeconds'
  | 'referenceSeconds'
  | 'updateSeconds'
  | 'gpuSeconds'
  | 'stepSeconds'
  | 'balance'
  | 'sentTokens'
  | 'sentBytes'
  | 'movedBytes'
>;

/** Means over the steps of one scheduler; memory and its exceeded limits are maxima over steps. */
export interface VlmSchedulerResult extends StepMeans, Pick<VlmStep, 'deviceBytes' | 'exceeded'> {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** Label for readers, in tables and charts. */
  readonly label: string;
  /** The way sequences are placed on devices. */
  readonly placement: VlmPlacement;
  /** Seconds until the whole batch is decoded, mean per step. */
  readonly loadSeconds: number;
  /** Loading seconds for which a step waits, mean per step. */
  readonly exposedLoadSeconds: number;
  /** Tokens per second and GPU, over whole steps. */
  readonly throughput: number;
  /** Tokens per second and GPU without data loading, which FlexRL counts in this way. */
  readonly throughputWithoutLoading: number;
  /** Step time: first scheduler ÷ this scheduler. */
  readonly speedup: number;
  /** Step time without data loading: first scheduler ÷ this scheduler. */
  readonly speedupWithoutLoading: number;
  /** Share of the sequences that are sharded over several devices: 0 to 1. */
  readonly shardedShare: number;
  /** Most host memory of the controller for visual inputs. */
  readonly controllerBytes: number;
  /** Most host memory of a node for visual inputs. */
  readonly nodeBytes: number;
  /** The steps, in order. */
  readonly steps: readonly VlmStep[];
  /** The plan of the first step, as a timeline. */
  readonly picture: PlanPicture;
}

/** Several schedulers on one workload. */
export interface VlmComparison {
  /** The workload; lengths in tokens. */
  readonly workload: {
    readonly name: string;
    readonly source: string;
    readonly meanTokens: number;
    readonly longestTokens: number;
    readonly visualShare: number;
  };
  /** The simulated job. */
  readonly job: VlmJob;
  /** The batch of the first step, which the pictures show. */
  readonly batch: readonly VlmSample[];
  /** The results, the baseline first. */
  readonly schedulers: readonly VlmSchedulerResult[];
  /** Notes on this comparison for readers, in sentences. */
  readonly notes: readonly string[];
}
