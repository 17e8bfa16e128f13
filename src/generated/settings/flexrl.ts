// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `flexrl`: its settings, what it is told, and what it answers. */
import type {
  BatchAbandoned, BatchMaterialized, BatchReady, BatchRun, BatchWithdrawn, HostRestarted, NodeAdded, NodeLost,
  PreprocessFailed, PreprocessLate, SampleDropped, SampleEvict, SampleMaterialize, SamplePlaceholder, SamplePrefetch,
  SamplePreprocess, SamplePreprocessed, SampleRegistered, SampleReleased, SamplesDrawn, SampleUnplaced, SliceFailed,
  SliceLate, SliceMaterialized, StepCompleted, StepResumed, TimerFired, TimerSet, TriesRecovered, TriesSuspended,
} from '../messages/index.ts';
import type { FlexUlyssesInput, FlexUlyssesSettings } from './flex-ulysses.ts';
import type { ShadowLoaderConfig, ShadowLoaderInput } from './shadow-loader.ts';

/** Configuration of `flexrl`, as a caller writes it. */
export interface FlexrlInput
  extends Omit<FlexUlyssesInput, 'lengths' | 'devices' | 'maxSteps' | 'frames' | 'previous'>,
    ShadowLoaderInput {
  /** Devices, numbered from 0, neighbours beside each other. A whole number, 1 to 1,024. */
  devices: number;
  /**
   * Most steps of `search` for a batch, a few nanoseconds each. A whole number, 1 to 3,000,000.
   *
   * @defaultValue `3000000`
   */
  maxSteps?: number | undefined;
}

/** Configuration of `flexrl`, its defaults filled in. */
export interface FlexrlConfig
  extends Omit<FlexUlyssesSettings, 'lengths' | 'devices' | 'maxSteps' | 'frames' | 'previous'>,
    ShadowLoaderConfig,
    Pick<FlexrlInput, 'devices'> {
  /** Most steps of `search` for a batch, a few nanoseconds each. A whole number, 1 to 3,000,000. */
  maxSteps: number;
}

/** What `flexrl` is told. */
export type FlexrlEvent =
  | BatchReady | BatchWithdrawn | HostRestarted | NodeAdded | NodeLost | PreprocessFailed | SamplePreprocessed
  | SamplesDrawn | SliceFailed | SliceMaterialized | StepCompleted | TimerFired;

/** What `flexrl` asks of the host. */
export type FlexrlCommand =
  | BatchRun | SampleEvict | SampleMaterialize | SamplePlaceholder | SamplePrefetch | SamplePreprocess | TimerSet;

/** What `flexrl` lets others know. */
export type FlexrlNotice =
  | BatchAbandoned | BatchMaterialized | PreprocessLate | SampleDropped | SampleRegistered | SampleReleased
  | SampleUnplaced | SliceLate | StepResumed | TriesRecovered | TriesSuspended;

/** What `flexrl` answers. */
export type FlexrlDecision = FlexrlCommand | FlexrlNotice;

/** All types of `flexrl`, for its definition. */
export interface FlexrlTypes {
  /** Id of the definition. */
  readonly id: 'flexrl';
  /** Configuration, as a caller writes it. */
  readonly input: FlexrlInput;
  /** Configuration, its defaults filled in. */
  readonly config: FlexrlConfig;
  /** What it is told. */
  readonly event: FlexrlEvent;
  /** What it answers. */
  readonly decision: FlexrlDecision;
  /** Types of the decisions that a host must carry out. */
  readonly command: FlexrlCommand['type'];
}
