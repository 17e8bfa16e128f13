/** The results of a comparison of VLM schedulers: plain data. */
import type { Exceeded } from './memory.ts';
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

/** Means over the steps of one scheduler; memory and its exceeded limits are maxima over steps. */
export interface VlmSchedulerResult {
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
  /** Seconds of the rollout, mean per step. */
  readonly rolloutSeconds: number;
  /** Seconds for log-probabilities under the old policy, mean per step. */
  readonly oldSeconds: number;
  /** Seconds for log-probabilities under the reference model, mean per step. */
  readonly referenceSeconds: number;
  /** Seconds of gradients and the optimizer, mean per step. */
  readonly updateSeconds: number;
  /** Seconds of rollout, old, reference and update together: a step in FlexRL's Table 2. */
  readonly gpuSeconds: number;
  /** Seconds of a step, including the seconds that loading adds. */
  readonly stepSeconds: number;
  /** Tokens per second and GPU, over whole steps. */
  readonly throughput: number;
  /** Tokens per second and GPU without data loading, which FlexRL counts in this way. */
  readonly throughputWithoutLoading: number;
  /** Step time: first scheduler ÷ this scheduler. */
  readonly speedup: number;
  /** Step time without data loading: first scheduler ÷ this scheduler. */
  readonly speedupWithoutLoading: number;
  /** Largest attention work of a device ÷ the mean, ≥ 1; mean over steps. */
  readonly balance: number;
  /** Share of the sequences that are sharded over several devices: 0 to 1. */
  readonly shardedShare: number;
  /** Tokens that leave their device in the all-to-alls per layer, mean per step. */
  readonly sentTokens: number;
  /** Bytes of all-to-alls over all layers and passes, mean per step. */
  readonly sentBytes: number;
  /** Bytes of visual inputs moved between hosts, mean per step. */
  readonly movedBytes: number;
  /** Most host memory of the controller for visual inputs. */
  readonly controllerBytes: number;
  /** Most host memory of a node for visual inputs. */
  readonly nodeBytes: number;
  /** Largest memory use of any device, in bytes. */
  readonly deviceBytes: number;
  /** Memory limits that a step exceeded. */
  readonly exceeded: readonly Exceeded[];
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
