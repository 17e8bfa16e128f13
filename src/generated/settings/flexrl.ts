// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `flexrl`: its settings, what it is told, and what it answers. */
import type {
  BatchAbandoned,
  BatchMaterialized,
  BatchReady,
  BatchRun,
  BatchWithdrawn,
  HostRestarted,
  NodeAdded,
  NodeLost,
  PreprocessFailed,
  PreprocessLate,
  SampleDropped,
  SampleEvict,
  SampleMaterialize,
  SamplePlaceholder,
  SamplePrefetch,
  SamplePreprocess,
  SamplePreprocessed,
  SampleRegistered,
  SampleReleased,
  SamplesDrawn,
  SampleUnplaced,
  SliceFailed,
  SliceLate,
  SliceMaterialized,
  StepCompleted,
  StepResumed,
  TimerFired,
  TimerSet,
  TriesRecovered,
  TriesSuspended,
} from '../messages/index.ts';
import type { LoaderNode } from '../messages/objects.ts';
import type { CostModel, CostModelInput } from './flex-ulysses.ts';

/** Configuration of `flexrl`, as a caller writes it. */
export interface FlexrlInput {
  /** Devices, numbered from 0, neighbours beside each other. A whole number, 1 to 1,024. */
  devices: number;
  /**
   * Largest sharding degree; degrees are the powers of two up to it that divide the devices and the heads. A whole
   * number, 1 to 65,536.
   *
   * @defaultValue `8`
   */
  maxDegree?: number | undefined;
  /**
   * Query heads of the model: a degree divides them, as each device takes whole heads; no limit if absent. A whole
   * number, 1 to 65,536.
   */
  attentionHeads?: number | undefined;
  /**
   * Key and value heads: a degree divides them, or is a multiple of them (then they are repeated). A whole number, 1 to
   * 65,536.
   */
  kvHeads?: number | undefined;
  /**
   * Devices of one node; the all-to-all of a group that does not fit into one node costs more. A whole number, 1 to
   * 65,536.
   *
   * @defaultValue `8`
   */
  devicesPerNode?: number | undefined;
  /**
   * Most tokens of a device, relative to the mean over all devices (α in the paper). A number, 1 to 1,000,000.
   *
   * @defaultValue `1.1`
   */
  memorySlack?: number | undefined;
  /** Most tokens of a device; stands in place of `memorySlack`. A number, 0 to 1,000,000,000,000,000. */
  memoryCapTokens?: number | undefined;
  /**
   * What becomes of a plan that does not keep `memoryCapTokens`: it is refused, or given, with `memoryRelaxed`.
   *
   * @defaultValue `'refuse'`
   */
  overCap?: 'refuse' | 'allow' | undefined;
  /**
   * How much more compute than the best balance needs a device may have, relative, to save communication. A number, 0
   * to 10.
   *
   * @defaultValue `0.01`
   */
  balanceTolerance?: number | undefined;
  /**
   * How long `search` looks for less communication: a budget of steps, the same on every machine.
   *
   * @defaultValue `'default'`
   */
  effort?: 'fast' | 'default' | 'thorough' | undefined;
  /**
   * Most steps of `search` for a batch, a few nanoseconds each. A whole number, 1 to 3,000,000.
   *
   * @defaultValue `3000000`
   */
  maxSteps?: number | undefined;
  /**
   * `search`: the best plan; `paper`: Algorithms 2 and 3 of FlexRL; the others are baselines.
   *
   * @defaultValue `'search'`
   */
  strategy?: 'search' | 'paper' | 'bucketing' | 'karmarkar-karp' | 'ulysses' | undefined;
  /**
   * The one degree of `strategy: ulysses`, which must be admissible; the largest if absent. A whole number, 1 or more.
   */
  ulyssesDegree?: number | undefined;
  /** A longer sequence runs alone, 0 to 1e9; `packCapTokens`, given or not, if absent. A whole number. */
  packThresholdTokens?: number | undefined;
  /**
   * Most tokens of a pack of several sequences, at least the threshold; if absent a quarter of a top group. A whole
   * number, 0 to 1,000,000,000.
   */
  packCapTokens?: number | undefined;
  /** What a sequence costs; the proxies of the paper if absent. */
  costs?: CostModelInput | undefined;
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

/** Configuration of `flexrl`, its defaults filled in. */
export interface FlexrlConfig {
  /** Devices, numbered from 0, neighbours beside each other. A whole number, 1 to 1,024. */
  devices: number;
  /**
   * Largest sharding degree; degrees are the powers of two up to it that divide the devices and the heads. A whole
   * number, 1 to 65,536.
   */
  maxDegree: number;
  /**
   * Query heads of the model: a degree divides them, as each device takes whole heads; no limit if absent. A whole
   * number, 1 to 65,536.
   */
  attentionHeads?: number | undefined;
  /**
   * Key and value heads: a degree divides them, or is a multiple of them (then they are repeated). A whole number, 1 to
   * 65,536.
   */
  kvHeads?: number | undefined;
  /**
   * Devices of one node; the all-to-all of a group that does not fit into one node costs more. A whole number, 1 to
   * 65,536.
   */
  devicesPerNode: number;
  /** Most tokens of a device, relative to the mean over all devices (α in the paper). A number, 1 to 1,000,000. */
  memorySlack: number;
  /** Most tokens of a device; stands in place of `memorySlack`. A number, 0 to 1,000,000,000,000,000. */
  memoryCapTokens?: number | undefined;
  /** What becomes of a plan that does not keep `memoryCapTokens`: it is refused, or given, with `memoryRelaxed`. */
  overCap: 'refuse' | 'allow';
  /**
   * How much more compute than the best balance needs a device may have, relative, to save communication. A number, 0
   * to 10.
   */
  balanceTolerance: number;
  /** How long `search` looks for less communication: a budget of steps, the same on every machine. */
  effort: 'fast' | 'default' | 'thorough';
  /** Most steps of `search` for a batch, a few nanoseconds each. A whole number, 1 to 3,000,000. */
  maxSteps: number;
  /** `search`: the best plan; `paper`: Algorithms 2 and 3 of FlexRL; the others are baselines. */
  strategy: 'search' | 'paper' | 'bucketing' | 'karmarkar-karp' | 'ulysses';
  /**
   * The one degree of `strategy: ulysses`, which must be admissible; the largest if absent. A whole number, 1 or more.
   */
  ulyssesDegree?: number | undefined;
  /** A longer sequence runs alone, 0 to 1e9; `packCapTokens`, given or not, if absent. A whole number. */
  packThresholdTokens?: number | undefined;
  /**
   * Most tokens of a pack of several sequences, at least the threshold; if absent a quarter of a top group. A whole
   * number, 0 to 1,000,000,000.
   */
  packCapTokens?: number | undefined;
  /** What a sequence costs; the proxies of the paper if absent. */
  costs: CostModel;
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

/** What `flexrl` is told. */
export type FlexrlEvent =
  | BatchReady
  | BatchWithdrawn
  | HostRestarted
  | NodeAdded
  | NodeLost
  | PreprocessFailed
  | SamplePreprocessed
  | SamplesDrawn
  | SliceFailed
  | SliceMaterialized
  | StepCompleted
  | TimerFired;

/** What `flexrl` asks of the host. */
export type FlexrlCommand =
  | BatchRun
  | SampleEvict
  | SampleMaterialize
  | SamplePlaceholder
  | SamplePrefetch
  | SamplePreprocess
  | TimerSet;

/** What `flexrl` lets others know. */
export type FlexrlNotice =
  | BatchAbandoned
  | BatchMaterialized
  | PreprocessLate
  | SampleDropped
  | SampleRegistered
  | SampleReleased
  | SampleUnplaced
  | SliceLate
  | StepResumed
  | TriesRecovered
  | TriesSuspended;

/** What `flexrl` answers. */
export type FlexrlDecision = FlexrlCommand | FlexrlNotice;
