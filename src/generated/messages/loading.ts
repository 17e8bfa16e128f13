// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: loading. */
import type {
  BatchAssignment, BatchPack, BatchSequence, Because, GoneSample, Resolution, Stamped, TensorShape, TextSample,
  VisualSample,
} from './objects.ts';

/**
 * The sequences of a batch are known: it can be planned.
 *
 * Event `batch.ready`.
 */
export interface BatchReady extends Stamped<'batch.ready'> {
  /** Id of the batch, given by the host; new for every batch. At most 512 characters. */
  batchId: string;
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** The sequences, in any order. */
  sequences: BatchSequence[];
}

/**
 * A batch will not be run: what its ranks do not have yet is not needed. Of one that is over nothing changes.
 *
 * Event `batch.withdrawn`.
 */
export interface BatchWithdrawn extends Stamped<'batch.withdrawn'> {
  /** Id of the batch, given by the host; new for every batch. At most 512 characters. */
  batchId: string;
}

/**
 * A node preprocesses samples; one that was lost holds nothing now. May be repeated, to change what it says.
 *
 * Event `node.added`.
 */
export interface NodeAdded extends Stamped<'node.added'> {
  /** Id of the node, given by the host. At most 512 characters. */
  nodeId: string;
  /** Host memory for preprocessed tensors, in bytes. A whole number, 1 to 1,000,000,000,000,000. */
  hostMemoryBytes: number;
  /** How fast it preprocesses, relative to others; 1 if absent. A number above 0 and at most 1,000,000. */
  weight?: number | undefined;
  /**
   * Samples that it may have to preprocess at once, waiting ones included; no limit if absent. A whole number, 1 to
   * 1,000,000.
   */
  slots?: number | undefined;
  /** Ranks that run on it; those named before if absent. Each: a whole number, 0 to 1,048,575. */
  ranks?: number[] | undefined;
}

/**
 * The preprocessor of a node is gone, with all that it held. Ranks keep what they have. May be repeated.
 *
 * Event `node.lost`.
 */
export interface NodeLost extends Stamped<'node.lost'> {
  /** Id of the node, given by the host. At most 512 characters. */
  nodeId: string;
}

/**
 * A node could not preprocess a sample, and holds nothing of it.
 *
 * Event `preprocess.failed`.
 */
export interface PreprocessFailed extends Stamped<'preprocess.failed'> {
  /** Id of the try, minted by the policy. At most 256 characters. */
  preprocessId: string;
  /** Id of the node, given by the host. At most 512 characters. */
  nodeId: string;
  /** `data`: the sample is at fault. `memory`: its tensors would take more than what was reserved for them. */
  kind: 'infrastructure' | 'data' | 'memory';
  /** What they would take, in bytes; with `memory`, and only then. A whole number, 1 to 1,000,000,000,000,000. */
  bytes?: number | undefined;
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * A node has preprocessed a sample, and holds its tensors in host memory.
 *
 * Event `sample.preprocessed`.
 */
export interface SamplePreprocessed extends Stamped<'sample.preprocessed'> {
  /** Id of the try, minted by the policy. At most 256 characters. */
  preprocessId: string;
  /** Id of the node, given by the host. At most 512 characters. */
  nodeId: string;
  /** What they take in host memory, in bytes. A whole number, 1 to 1,000,000,000,000,000. */
  bytes: number;
}

/**
 * Samples were drawn for a step: metadata only. May be repeated for further samples of the step.
 *
 * Event `samples.drawn`.
 */
export interface SamplesDrawn extends Stamped<'samples.drawn'> {
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** The samples, in the order in which they are wanted. */
  samples: (TextSample | VisualSample)[];
}

/**
 * A rank could not fetch a slice.
 *
 * Event `slice.failed`.
 */
export interface SliceFailed extends Stamped<'slice.failed'> {
  /**
   * Id of the slice, minted by the policy; a rank that has it already does not fetch it again. At most 256 characters.
   */
  sliceId: string;
  /** Rank of the worker: its device, numbered from 0. A whole number, 0 to 1,048,575. */
  rank: number;
  /** Number of the try, as `sample.materialize` gave it. A whole number, 0 or more. */
  attempt: number;
  /** `transfer`: the connection failed. `missing`: the node does not have the sample. */
  kind: 'transfer' | 'missing';
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * A rank has the frames of a slice.
 *
 * Event `slice.materialized`.
 */
export interface SliceMaterialized extends Stamped<'slice.materialized'> {
  /**
   * Id of the slice, minted by the policy; a rank that has it already does not fetch it again. At most 256 characters.
   */
  sliceId: string;
  /** Rank of the worker: its device, numbered from 0. A whole number, 0 to 1,048,575. */
  rank: number;
}

/**
 * A training step is over: no further batch uses its samples. May be repeated.
 *
 * Event `step.completed`.
 */
export interface StepCompleted extends Stamped<'step.completed'> {
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
}

/**
 * A batch is given up before all of its slices were fetched.
 *
 * Notice `batch.abandoned`.
 */
export interface BatchAbandoned extends Stamped<'batch.abandoned'> {
  /** Id of the batch, given by the host; new for every batch. At most 512 characters. */
  batchId: string;
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** Slices that were not fetched. A whole number, 0 or more. */
  open: number;
  /** Samples that it had used and that are not here any more: draw them again where they are needed. */
  gone: GoneSample[];
  /** Why, with the numbers. */
  reason: Because<'withdrawn' | 'host_restarted'>['reason'];
}

/**
 * Every rank has the frames that it needs for a batch, but for those of samples that were dropped.
 *
 * Notice `batch.materialized`.
 */
export interface BatchMaterialized extends Stamped<'batch.materialized'> {
  /** Id of the batch, given by the host; new for every batch. At most 512 characters. */
  batchId: string;
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** Slices that ranks have fetched for it. A whole number, 0 or more. */
  slices: number;
  /** Samples that were dropped meanwhile. Each: at most 512 characters. */
  missing: string[];
  /** Why, with the numbers. */
  reason:
    | Because<'delivered', {
        /** Since the batch was planned, in seconds. A number, 0 or more. */
        waitedSeconds: number;
      }>['reason']
    | Because<'samples_dropped', {
        /** Since the batch was planned, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** Samples that were dropped. A whole number, 1 or more. */
        dropped: number;
      }>['reason'];
}

/**
 * Run the batch like this: each sequence on its ranks.
 *
 * Command `batch.run`.
 */
export interface BatchRun extends Stamped<'batch.run'> {
  /** Id of the batch, given by the host; new for every batch. At most 512 characters. */
  batchId: string;
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** Where each sequence goes, by its index. */
  assignments: BatchAssignment[];
  /** Sequences that run as one, where the planner says so. */
  packs?: BatchPack[] | undefined;
  /** Of each rank, indices in `packs`, in the order in which it runs them. */
  order?: number[][] | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'planned', {
        /** Compute of the rank that has most, in the unit of the cost model. A number, 0 or more. */
        maxCompute: number;
        /** No plan has less. A number, 0 or more. */
        computeBound: number;
        /** Cost of sharding. A number, 0 or more. */
        communication: number;
        /** Whether a rank has more tokens than asked for. */
        memoryRelaxed: boolean;
      }>['reason']
    | Because<'host'>['reason'];
}

/**
 * A report about a try that is over or was given up: nothing changes.
 *
 * Notice `preprocess.late`.
 */
export interface PreprocessLate extends Stamped<'preprocess.late'> {
  /** Id of the try, minted by the policy. At most 256 characters. */
  preprocessId: string;
  /** Why, with the numbers. */
  reason: Because<'over'>['reason'];
}

/**
 * A sample is given up: no batch gets more of it.
 *
 * Notice `sample.dropped`.
 */
export interface SampleDropped extends Stamped<'sample.dropped'> {
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'infrastructure' | 'data' | 'transfer', {
        /** Failures of the sample, of this kind. A whole number, 0 or more. */
        failures: number;
        /** Most failures that lead to another try. A whole number, 0 or more. */
        budget: number;
      }>['reason']
    | Because<'not_compared', {
        /** Failures that no success of another has followed. A whole number, 0 or more. */
        failures: number;
        /** How long it has waited for one, in seconds. A number, 0 or more. */
        seconds: number;
        /** How long it waits (`giveUpSeconds`), in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason']
    | Because<'too_large', {
        /** What its tensors need, in bytes. A whole number, 0 or more. */
        bytes: number;
        /** Host memory of the largest node, lost or not, in bytes. A whole number, 0 or more. */
        largestBudgetBytes: number;
      }>['reason'];
}

/**
 * Stop preprocessing this sample on this node, and free its host memory.
 *
 * Command `sample.evict`.
 */
export interface SampleEvict extends Stamped<'sample.evict'> {
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Id of the node, given by the host. At most 512 characters. */
  nodeId: string;
  /** What is freed, in bytes. A whole number, 0 or more. */
  bytes: number;
  /** Why, with the numbers. */
  reason:
    | Because<'last_use', {
        /** Batches that have used it. A whole number, 0 or more. */
        uses: number;
      }>['reason']
    | Because<'step_completed' | 'copy_missing' | 'dropped'>['reason']
    | Because<'displaced', {
        /** What a sample takes that a batch waits for. A whole number, 0 or more. In bytes. */
        neededBytes: number;
      }>['reason']
    | Because<'memory', {
        /** What was reserved for it, in bytes. A whole number, 0 or more. */
        reservedBytes: number;
        /** What its tensors need, in bytes. A whole number, 0 or more. */
        usedBytes: number;
      }>['reason'];
}

/**
 * Fetch these frames from the host memory of this node to this rank, beside its computation, and answer with
 * `slice.materialized` or `slice.failed`. A rank that has the slice answers at once.
 *
 * Command `sample.materialize`; answered by `slice.materialized`, `slice.failed`.
 */
export interface SampleMaterialize extends Stamped<'sample.materialize'> {
  /**
   * Id of the slice, minted by the policy; a rank that has it already does not fetch it again. At most 256 characters.
   */
  sliceId: string;
  /** Number of the try, from 0. A whole number. */
  attempt: number;
  /** Id of the batch, given by the host; new for every batch. At most 512 characters. */
  batchId: string;
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Rank of the worker: its device, numbered from 0. A whole number, 0 to 1,048,575. */
  rank: number;
  /** First frame of the slice, numbered from 0. A whole number, 0 to 1,048,575. */
  fromFrame: number;
  /** Frame behind the last one of the slice. A whole number, 1 to 1,048,576. */
  toFrame: number;
  /** The node that holds the sample. At most 512 characters. */
  from: string;
  /** About what is fetched, in bytes. A whole number, 0 or more. */
  bytes: number;
  /** Why, with the numbers. */
  reason:
    | Because<'same_node' | 'other_node'>['reason']
    | Because<'probe', {
        /** What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. */
        scope: 'engine' | 'environment' | 'reward' | 'loader' | 'prompt';
        /**
         * Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
         * absent: all of them. At most 512 characters.
         */
        id?: string | undefined;
        /** Tries that have failed in this domain, none having succeeded since. A whole number, 0 or more. */
        failures: number;
        /** Since the single try before, in seconds. A number, 0 or more. */
        pauseSeconds: number;
      }>['reason'];
}

/**
 * Let shapes without data stand for the tensors of a sample on the controller.
 *
 * Command `sample.placeholder`.
 */
export interface SamplePlaceholder extends Stamped<'sample.placeholder'> {
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Its tensors; none for text. */
  shapes: TensorShape[];
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'drawn' | 'host_restarted'>['reason'];
}

/**
 * The same as `sample.preprocess`, for a later step: it may give way to what is needed now.
 *
 * Command `sample.prefetch`; answered by `sample.preprocessed`, `preprocess.failed`.
 */
export interface SamplePrefetch extends Stamped<'sample.prefetch'> {
  /** Id of the try, minted by the policy. At most 256 characters. */
  preprocessId: string;
  /** Id of the node, given by the host. At most 512 characters. */
  nodeId: string;
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** `image`: one or more images; `video`: frames of a clip. */
  kind: 'image' | 'video';
  /** Path or URL of the file. At most 4,096 characters. */
  path: string;
  /** Frames of the video, or images of the sample. A whole number, 1 to 1,048,576. */
  frames: number;
  /** Size of each frame after preprocessing. */
  resolution: Resolution;
  /**
   * Reserved in host memory; a node that needs more reports `preprocess.failed`. A whole number, 1 to
   * 1,000,000,000,000,000. In bytes.
   */
  bytes: number;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'drawn' | 'node_lost' | 'memory' | 'copy_missing' | 'displaced' | 'host_restarted', {
        /** What the node had to preprocess already, in bytes. A whole number, 0 or more. */
        queuedBytes: number;
        /** The same in samples. A whole number, 0 or more. */
        queued: number;
        /** Host memory of the node that was free, in bytes. A whole number, 0 or more. */
        freeBytes: number;
      }>['reason']
    | Because<'retry', {
        /** What the node had to preprocess already, in bytes. A whole number, 0 or more. */
        queuedBytes: number;
        /** The same in samples. A whole number, 0 or more. */
        queued: number;
        /** Host memory of the node that was free, in bytes. A whole number, 0 or more. */
        freeBytes: number;
        /** Failures of the sample, of this kind. A whole number, 0 or more. */
        failures: number;
        /** Most failures that lead to another try. A whole number, 0 or more. */
        budget: number;
        /** Since the last try that failed on a node, in seconds. A number, 0 or more. */
        pauseSeconds?: number | undefined;
      }>['reason']
    | Because<'probe', {
        /** What the node had to preprocess already, in bytes. A whole number, 0 or more. */
        queuedBytes: number;
        /** The same in samples. A whole number, 0 or more. */
        queued: number;
        /** Host memory of the node that was free, in bytes. A whole number, 0 or more. */
        freeBytes: number;
        /** What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. */
        scope: 'engine' | 'environment' | 'reward' | 'loader' | 'prompt';
        /**
         * Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
         * absent: all of them. At most 512 characters.
         */
        id?: string | undefined;
        /** Tries that have failed in this domain, none having succeeded since. A whole number, 0 or more. */
        failures: number;
        /** Since the single try before, in seconds. A number, 0 or more. */
        pauseSeconds: number;
      }>['reason'];
}

/**
 * Preprocess this sample on this node, hold the tensors in host memory, and answer with `sample.preprocessed` or
 * `preprocess.failed`. A node carries out its commands in their order.
 *
 * Command `sample.preprocess`; answered by `sample.preprocessed`, `preprocess.failed`.
 */
export interface SamplePreprocess extends Stamped<'sample.preprocess'> {
  /** Id of the try, minted by the policy. At most 256 characters. */
  preprocessId: string;
  /** Id of the node, given by the host. At most 512 characters. */
  nodeId: string;
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** `image`: one or more images; `video`: frames of a clip. */
  kind: 'image' | 'video';
  /** Path or URL of the file. At most 4,096 characters. */
  path: string;
  /** Frames of the video, or images of the sample. A whole number, 1 to 1,048,576. */
  frames: number;
  /** Size of each frame after preprocessing. */
  resolution: Resolution;
  /**
   * Reserved in host memory; a node that needs more reports `preprocess.failed`. A whole number, 1 to
   * 1,000,000,000,000,000. In bytes.
   */
  bytes: number;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'drawn' | 'node_lost' | 'memory' | 'copy_missing' | 'displaced' | 'host_restarted', {
        /** What the node had to preprocess already, in bytes. A whole number, 0 or more. */
        queuedBytes: number;
        /** The same in samples. A whole number, 0 or more. */
        queued: number;
        /** Host memory of the node that was free, in bytes. A whole number, 0 or more. */
        freeBytes: number;
      }>['reason']
    | Because<'retry', {
        /** What the node had to preprocess already, in bytes. A whole number, 0 or more. */
        queuedBytes: number;
        /** The same in samples. A whole number, 0 or more. */
        queued: number;
        /** Host memory of the node that was free, in bytes. A whole number, 0 or more. */
        freeBytes: number;
        /** Failures of the sample, of this kind. A whole number, 0 or more. */
        failures: number;
        /** Most failures that lead to another try. A whole number, 0 or more. */
        budget: number;
        /** Since the last try that failed on a node, in seconds. A number, 0 or more. */
        pauseSeconds?: number | undefined;
      }>['reason']
    | Because<'probe', {
        /** What the node had to preprocess already, in bytes. A whole number, 0 or more. */
        queuedBytes: number;
        /** The same in samples. A whole number, 0 or more. */
        queued: number;
        /** Host memory of the node that was free, in bytes. A whole number, 0 or more. */
        freeBytes: number;
        /** What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. */
        scope: 'engine' | 'environment' | 'reward' | 'loader' | 'prompt';
        /**
         * Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
         * absent: all of them. At most 512 characters.
         */
        id?: string | undefined;
        /** Tries that have failed in this domain, none having succeeded since. A whole number, 0 or more. */
        failures: number;
        /** Since the single try before, in seconds. A number, 0 or more. */
        pauseSeconds: number;
      }>['reason'];
}

/**
 * The tensors of a sample are in the host memory of this node.
 *
 * Notice `sample.registered`.
 */
export interface SampleRegistered extends Stamped<'sample.registered'> {
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Id of the node, given by the host. At most 512 characters. */
  nodeId: string;
  /** Bytes of the preprocessed tensors in host memory. A whole number, 1 to 1,000,000,000,000,000. */
  bytes: number;
  /** Why, with the numbers. */
  reason: Because<'preprocessed', {
    /** What was reserved for it, in bytes. A whole number, 0 or more. */
    reservedBytes: number;
  }>['reason'];
}

/**
 * A sample is not needed any more, and nothing of it is in host memory.
 *
 * Notice `sample.released`.
 */
export interface SampleReleased extends Stamped<'sample.released'> {
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'last_use', {
        /** Batches that have used it. A whole number, 0 or more. */
        uses: number;
      }>['reason']
    | Because<'step_completed'>['reason'];
}

/**
 * No node that is here could hold this sample, but one that was lost could: it waits for a node of its size, and holds
 * up no other.
 *
 * Notice `sample.unplaced`.
 */
export interface SampleUnplaced extends Stamped<'sample.unplaced'> {
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'node_away', {
    /** What its tensors need, in bytes. A whole number, 0 or more. */
    bytes: number;
    /** Host memory of the largest node that is here, in bytes. A whole number, 0 or more. */
    largestBudgetBytes: number;
    /** Host memory of the largest of the lost nodes that are remembered, in bytes. A whole number, 0 or more. */
    lostBudgetBytes: number;
  }>['reason'];
}

/**
 * A report about a slice that the rank has, that nobody needs any more, or of an earlier try: nothing changes.
 *
 * Notice `slice.late`.
 */
export interface SliceLate extends Stamped<'slice.late'> {
  /**
   * Id of the slice, minted by the policy; a rank that has it already does not fetch it again. At most 256 characters.
   */
  sliceId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'over'>['reason']
    | Because<'earlier_attempt', {
        /** Number of the try that was reported. A whole number, 0 or more. */
        attempt: number;
      }>['reason'];
}

/**
 * A training step was open when the host restarted, and is open still: batches are to be planned anew, then it is to be
 * completed.
 *
 * Notice `step.resumed`.
 */
export interface StepResumed extends Stamped<'step.resumed'> {
  /** Id of the training step, given by the host; new for every step. At most 512 characters. */
  stepId: string;
  /** Its samples that are here, in the order in which they were drawn. Each: at most 512 characters. */
  samples: string[];
  /** Why, with the numbers. */
  reason: Because<'host_restarted', {
    /** How many these are. A whole number, 0 or more. */
    samples: number;
  }>['reason'];
}
