/** What a comparison of VLM schedulers gives: plain data. */
import type { Exceeded } from './memory.ts';
import type { VlmSample } from './sample.ts';
import type { VlmPlacement } from './scheduler.ts';
import type { VlmJob } from './settings.ts';
import type { VlmStep } from './step.ts';

/** A stretch of a device in a forward pass: a shard of a sequence, the vision tower, or all-to-alls in the open. */
export interface Shard {
  readonly device: number;
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Index in the batch; absent for the vision tower and all-to-alls. */
  readonly sequence?: number;
  readonly activity: 'shard' | 'vision' | 'all-to-all';
}

/** The first plan of a scheduler, as it runs. */
export interface PlanPicture {
  readonly seconds: number;
  readonly shards: readonly Shard[];
  /** Degree of each sequence. */
  readonly degrees: readonly number[];
}

/** Means over the steps of one scheduler; memory and what is exceeded: the most of any step. */
export interface VlmSchedulerResult {
  readonly scheduler: string;
  readonly label: string;
  readonly placement: VlmPlacement;
  readonly loadSeconds: number;
  readonly exposedLoadSeconds: number;
  readonly rolloutSeconds: number;
  readonly oldSeconds: number;
  readonly referenceSeconds: number;
  readonly updateSeconds: number;
  readonly gpuSeconds: number;
  readonly stepSeconds: number;
  /** Tokens a second and GPU, of whole steps, and of steps without data loading as FlexRL counts them. */
  readonly throughput: number;
  readonly throughputWithoutLoading: number;
  /** Step time of the first scheduler ÷ this one's, with and without data loading. */
  readonly speedup: number;
  readonly speedupWithoutLoading: number;
  readonly balance: number;
  readonly shardedShare: number;
  readonly sentTokens: number;
  readonly sentBytes: number;
  readonly movedBytes: number;
  readonly controllerBytes: number;
  readonly nodeBytes: number;
  readonly deviceBytes: number;
  readonly exceeded: readonly Exceeded[];
  readonly steps: readonly VlmStep[];
  readonly picture: PlanPicture;
}

/** Schedulers side by side on one workload. */
export interface VlmComparison {
  readonly workload: {
    readonly name: string;
    readonly source: string;
    readonly meanTokens: number;
    readonly longestTokens: number;
    readonly visualShare: number;
  };
  readonly job: VlmJob;
  /** The batch of the first step, which the pictures show. */
  readonly batch: readonly VlmSample[];
  readonly schedulers: readonly VlmSchedulerResult[];
  readonly notes: readonly string[];
}
