// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `shadow-loader`: its settings, what it is told, and what it answers. */
import type {
  BatchAbandoned, BatchMaterialized, BatchRun, BatchWithdrawn, HostRestarted, NodeAdded, NodeLost, PreprocessFailed,
  PreprocessLate, SampleDropped, SampleEvict, SampleMaterialize, SamplePlaceholder, SamplePrefetch, SamplePreprocess,
  SamplePreprocessed, SampleRegistered, SampleReleased, SamplesDrawn, SampleUnplaced, SliceFailed, SliceLate,
  SliceMaterialized, StepCompleted, StepResumed, TimerFired, TimerSet, TriesRecovered, TriesSuspended,
} from '../messages/index.ts';
import type { LoaderNode } from '../messages/objects.ts';

/** Configuration of `shadow-loader`, as a caller writes it. */
export interface ShadowLoaderInput {
  /**
   * Nodes that are there from the beginning, each once; others come by `node.added`.
   *
   * @defaultValue `[]`
   */
  nodes?: LoaderNode[] | undefined;
  /**
   * How many steps beyond the first open one are preprocessed ahead. A whole number, 0 or more.
   *
   * @defaultValue `1`
   */
  prefetchSteps?: number | undefined;
  /**
   * How much of the host memory of a node such samples may take, relative, 0 to 1.
   *
   * @defaultValue `0.5`
   */
  prefetchFraction?: number | undefined;
  /**
   * Channels of a frame, in the shapes of placeholders. A whole number, 1 to 64.
   *
   * @defaultValue `3`
   */
  channels?: number | undefined;
  /** Retry budgets of each sample. */
  retry?:
    | {
        /**
         * Further tries after failures on nodes that are proven to be its own: others have succeeded since where it
         * failed. The loss of a node is none. A whole number, 0 or more.
         *
         * @defaultValue `3`
         */
        infrastructure?: number | undefined;
        /**
         * Seconds after which a sample is dropped whose failures pass the budget, and could not be compared with
         * others; absent: never. A number above 0.
         */
        giveUpSeconds?: number | undefined;
        /**
         * Further tries of a sample that could not be decoded. A whole number, 0 or more.
         *
         * @defaultValue `0`
         */
        data?: number | undefined;
        /**
         * Further tries of each slice that a rank could not fetch, though others were fetched since. A whole number, 0
         * or more.
         *
         * @defaultValue `3`
         */
        transfer?: number | undefined;
      }
    | undefined;
  /**
   * Prefix of every id that is minted; new after each restart of the host. At most 128 characters.
   *
   * @defaultValue `''`
   */
  idPrefix?: string | undefined;
}

/** Configuration of `shadow-loader`, its defaults filled in. */
export interface ShadowLoaderConfig {
  /** Nodes that are there from the beginning, each once; others come by `node.added`. */
  nodes: LoaderNode[];
  /** How many steps beyond the first open one are preprocessed ahead. A whole number, 0 or more. */
  prefetchSteps: number;
  /** How much of the host memory of a node such samples may take, relative, 0 to 1. */
  prefetchFraction: number;
  /** Channels of a frame, in the shapes of placeholders. A whole number, 1 to 64. */
  channels: number;
  /** Retry budgets of each sample. */
  retry: {
    /**
     * Further tries after failures on nodes that are proven to be its own: others have succeeded since where it failed.
     * The loss of a node is none. A whole number, 0 or more.
     */
    infrastructure: number;
    /**
     * Seconds after which a sample is dropped whose failures pass the budget, and could not be compared with others;
     * absent: never. A number above 0.
     */
    giveUpSeconds?: number | undefined;
    /** Further tries of a sample that could not be decoded. A whole number, 0 or more. */
    data: number;
    /**
     * Further tries of each slice that a rank could not fetch, though others were fetched since. A whole number, 0 or
     * more.
     */
    transfer: number;
  };
  /** Prefix of every id that is minted; new after each restart of the host. At most 128 characters. */
  idPrefix: string;
}

/** What `shadow-loader` is told. */
export type ShadowLoaderEvent =
  | BatchRun | BatchWithdrawn | HostRestarted | NodeAdded | NodeLost | PreprocessFailed | SamplePreprocessed
  | SamplesDrawn | SliceFailed | SliceMaterialized | StepCompleted | TimerFired;

/** What `shadow-loader` asks of the host. */
export type ShadowLoaderCommand =
  | SampleEvict | SampleMaterialize | SamplePlaceholder | SamplePrefetch | SamplePreprocess | TimerSet;

/** What `shadow-loader` lets others know. */
export type ShadowLoaderNotice =
  | BatchAbandoned | BatchMaterialized | PreprocessLate | SampleDropped | SampleRegistered | SampleReleased
  | SampleUnplaced | SliceLate | StepResumed | TriesRecovered | TriesSuspended;

/** What `shadow-loader` answers. */
export type ShadowLoaderDecision = ShadowLoaderCommand | ShadowLoaderNotice;

/** All types of `shadow-loader`, for its definition. */
export interface ShadowLoaderTypes {
  /** Id of the definition. */
  readonly id: 'shadow-loader';
  /** Configuration, as a caller writes it. */
  readonly input: ShadowLoaderInput;
  /** Configuration, its defaults filled in. */
  readonly config: ShadowLoaderConfig;
  /** What it is told. */
  readonly event: ShadowLoaderEvent;
  /** What it answers. */
  readonly decision: ShadowLoaderDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: ShadowLoaderCommand['type'];
}
