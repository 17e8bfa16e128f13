/** The results of a comparison of VLM schedulers: plain data. */
import type { Exceeded } from './memory.ts';
import type { VlmSample } from './sample.ts';
import type { VlmPlacement } from './scheduler.ts';
import type { VlmJob } from './settings.ts';
import type { VlmStep } from './step.ts';

/** A stretch of a device in a forward pass: a shard of a sequence, the vision tower, or all-to-alls in the open. */
export interface Shard {
  /** Index of the device, from 0. */
  readonly device: number;
  /** Seconds from the start of the pass. */
  readonly startSeconds: number;
  /** Seconds from the start of the pass. */
  readonly endSeconds: number;
  /** Index in the batch; absent for the vision tower and all-to-alls. */
  readonly sequence?: number;
  /** A part of a sequence, the vision tower, or an exchange between devices. */
  readonly activity: 'shard' | 'vision' | 'all-to-all';
}

/** The first plan of a scheduler, as it runs. */
export interface PlanPicture {
  /** Length of the picture. */
  readonly seconds: number;
  /** The work of each device, and its times. */
  readonly shards: readonly Shard[];
  /** Degree of each sequence. */
  readonly degrees: readonly number[];
}

/** Means over the steps of one scheduler; for memory and its limits, the maximum over steps. */
export interface VlmSchedulerResult {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** For people: tables and charts. */
  readonly label: string;
  /** The placement of sequences on devices. */
  readonly placement: VlmPlacement;
  /** Seconds until all of a batch is decoded, mean of a step. */
  readonly loadSeconds: number;
  /** Loading seconds that a step waits for, mean of a step. */
  readonly exposedLoadSeconds: number;
  /** Seconds of the rollout, mean of a step. */
  readonly rolloutSeconds: number;
  /** Seconds of log-probabilities of the old policy, mean of a step. */
  readonly oldSeconds: number;
  /** Seconds of log-probabilities of the reference model, mean of a step. */
  readonly referenceSeconds: number;
  /** Seconds of gradients and the optimizer, mean of a step. */
  readonly updateSeconds: number;
  /** Rollout, old, reference and update together: a step in FlexRL's Table 2. */
  readonly gpuSeconds: number;
  /** The same, with the seconds that loading adds. */
  readonly stepSeconds: number;
  /** Tokens a second and GPU, of whole steps, and of steps without data loading as FlexRL counts them. */
  readonly throughput: number;
  /** The same without data loading, as FlexRL counts it. */
  readonly throughputWithoutLoading: number;
  /** Step time of the first scheduler ÷ step time of this scheduler, with and without data loading. */
  readonly speedup: number;
  /** The same without data loading. */
  readonly speedupWithoutLoading: number;
  /** Most attention work of a device ÷ the mean, ≥ 1; mean over steps. */
  readonly balance: number;
  /** Share of sequences that more than one device shares: 0 to 1. */
  readonly shardedShare: number;
  /** Tokens that leave their device in the all-to-alls of one layer, mean of a step. */
  readonly sentTokens: number;
  /** Bytes of all-to-alls, all layers and passes, mean of a step. */
  readonly sentBytes: number;
  /** Bytes of visual inputs between hosts, mean of a step. */
  readonly movedBytes: number;
  /** Most host memory of the controller for visual inputs. */
  readonly controllerBytes: number;
  /** Most host memory of a node for visual inputs. */
  readonly nodeBytes: number;
  /** Most memory of a device. */
  readonly deviceBytes: number;
  /** Limits of memory that a step went over. */
  readonly exceeded: readonly Exceeded[];
  /** Its steps, in order. */
  readonly steps: readonly VlmStep[];
  /** The plan of the first step, over time. */
  readonly picture: PlanPicture;
}

/** Schedulers side by side on one workload. */
export interface VlmComparison {
  /** The workload; lengths in tokens. */
  readonly workload: {
    readonly name: string;
    readonly source: string;
    readonly meanTokens: number;
    readonly longestTokens: number;
    readonly visualShare: number;
  };
  /** The job, as it was simulated. */
  readonly job: VlmJob;
  /** The batch of the first step, which the pictures show. */
  readonly batch: readonly VlmSample[];
  /** The results, the baseline first. */
  readonly schedulers: readonly VlmSchedulerResult[];
  /** Notes for the reader of this comparison, in sentences. */
  readonly notes: readonly string[];
}
