// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Objects that events, decisions, configurations and inputs share. */

/** What every event and every decision has. */
export interface Stamped<Type extends string> {
  /** Which event or decision it is. */
  type: Type;
  /**
   * Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than the latest
   * counts as the latest. A number, 0 or more.
   */
  at: number;
}

/** Which one of several reasons. */
export interface Coded<Code extends string> {
  /** Which reason it is. */
  code: Code;
}

/** Why a decision was made. */
export interface Because<Code extends string, Numbers = unknown> {
  /** One of these codes, with what the decision rests on. */
  reason: Code extends string ? { [Key in keyof (Coded<Code> & Numbers)]: (Coded<Code> & Numbers)[Key] } : never;
}

/** A response of a prompt that counts. */
export interface CountedResponse {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /**
   * Versions of the weights that generated it, ascending; absent: that of the round alone. Each: a whole number, 0 to
   * 4,000,000,000,000,000.
   */
  weightVersions?: number[] | undefined;
  /** Raw reward, where it is known. */
  reward?: number | undefined;
}

/** A response with its reward. */
export interface RewardedResponse {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /**
   * Versions of the weights that generated it, ascending; absent: that of the round alone. Each: a whole number, 0 to
   * 4,000,000,000,000,000.
   */
  weightVersions?: number[] | undefined;
  /** Raw reward. */
  reward: number;
}

/** A prompt as the host supplies it. */
export interface Prompt {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Data domain of the prompt, such as `math` or `code`. At most 512 characters. */
  domain?: string | undefined;
  /** Tokens of the prompt itself; used for placement. A whole number, 0 to 1,000,000,000. */
  promptTokens?: number | undefined;
  /** Expected tokens of its longest response, where something is known. A whole number, 0 to 1,000,000,000. */
  expectedTokens?: number | undefined;
  /**
   * Chance that the filter keeps it: a round begins prompts until these add up to what it needs. Absent: 1, or 1 ÷
   * `promptSpeculation`. A number, 0 to 1.
   */
  keptChance?: number | undefined;
  /** How often and since when it has been deferred. */
  deferral?: Deferral | undefined;
  /** Responses kept from earlier rounds (`partialRollout`). */
  kept?: KeptResponse[] | undefined;
}

/** A response whose tokens are kept beyond the round that began it. */
export interface KeptResponse {
  /** Id of the request that generated the tokens last. At most 1,200 characters. */
  requestId: string;
  /** Which response of the prompt, from 0. A whole number. */
  index: number;
  /** Tokens generated so far, over all attempts: the budget is cumulative. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /** Versions of the weights that generated them, ascending. Each: a whole number, 0 to 4,000,000,000,000,000. */
  weightVersions: number[];
  /** Whether the response is complete. */
  finished: boolean;
  /** Raw reward, where it is known already. */
  reward?: number | undefined;
}

/** What a deferred prompt carries through the queue and through later rounds. */
export interface Deferral {
  /** How often the prompt has been deferred. A whole number, 1 or more. */
  count: number;
  /** Ordinal of the round in which it was first deferred. A whole number, 0 or more. */
  sinceRound: number;
  /** When it was first deferred, in seconds. A number, 0 or more. */
  sinceSeconds: number;
}

/** A response that was generated and is given up, and why. */
export interface DroppedResponse {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /** Why it is of no use. */
  cause: 'stale_weights' | 'filtered' | 'failed' | 'round_failed' | 'merged';
  /** Raw reward, where it is known and its prompt was filtered. */
  reward?: number | undefined;
}

/** A prompt of a completed round, with exactly R0 responses in the order of their indices. */
export interface FinalPrompt {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Data domain of the prompt, such as `math` or `code`. At most 512 characters. */
  domain?: string | undefined;
  /** How often and since when it had been deferred. */
  deferral?: Deferral | undefined;
  /** R0 responses, in the order of their indices. */
  responses: FinalResponse[];
}

/** A response that belongs to a completed round. */
export interface FinalResponse {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Which response of the prompt, from 0. A whole number. */
  index: number;
  /** Tokens. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /** Versions of the weights that generated it, ascending. Each: a whole number, 0 to 4,000,000,000,000,000. */
  weightVersions: number[];
  /** Raw reward, where it is known. */
  reward?: number | undefined;
}

/** What one λ would have cost and saved on the runs that are remembered. */
export interface TimeoutEstimate {
  /** λ. */
  timeoutFactor: number;
  /** Correct runs that its timeout would have stopped; as far as runs were seen to end. A whole number, 0 or more. */
  correctKilled: number;
  /** Those among them that had been given Tmax to explore: seen whatever λ is in use. A whole number, 0 or more. */
  exploredKilled: number;
  /** Timed-out runs that it would have let go on: whether they were correct is not known. A whole number, 0 or more. */
  unknown: number;
  /** Seconds that the runs would have taken; those unknown count up to its timeout. A number, 0 or more. */
  runSeconds: number;
}

/** What one replica trains of the rest of a round. */
export interface TrainingShare {
  /** Id of the fetch or share, minted by the policy. At most 1,200 characters. */
  fetchId: string;
  /** Id of the data-parallel training replica. At most 512 characters. */
  replica: string;
  /** Whole groups, longest first; none for a replica that only takes part in the step. Each: at most 512 characters. */
  groups: string[];
  /** Samples of these groups. A whole number, 0 or more. */
  samples: number;
  /** Tokens of these groups. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
}

/** A group of a batch, and how old it may be. */
export interface PacedGroup {
  /** Id of the group: that of the prompt whose responses it is made of. At most 512 characters. */
  groupId: string;
  /** Id of the launch of the group, minted by the policy; new for every try. At most 200 characters. */
  launchId: string;
  /**
   * Version of the weights that its first tokens are of, or an older one. A whole number, 0 to 4,000,000,000,000,000.
   */
  weightVersion: number;
}

/** What a rollout step demands of the engines, over all of them. */
export interface RolloutWorkload {
  /** Requests that run, those that are aborted later included. A whole number, 1 or more. */
  responses: number;
  /** Mean tokens of a prompt, 0 to 1e9. */
  promptTokens: number;
  /** Mean tokens that a request generates, > 0 and at most 1e9. */
  responseTokens: number;
  /**
   * Most tokens that a request generates; at least the mean, at most 1e9. A number above 0 and at most 1,000,000,000.
   */
  longestTokens: number;
  /** Tokens of the most loaded expert rank ÷ their mean over the ranks; 1 if absent. */
  routingSkew?: number | undefined;
}

/** A point that a profile measures. */
export interface ProfileConfiguration {
  /** Tensor-parallel degree: GPUs of one replica. A whole number, 1 or more. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, 1 or more. */
  ep?: number | undefined;
  /** Tokens of the most loaded expert rank ÷ their mean over the ranks; 1 if absent. */
  routingSkew?: number | undefined;
  /** Sequences that one replica runs at once. A whole number, 1 or more. */
  batchSize: number;
  /** Tokens of each sequence. A whole number, 1 or more. */
  sequenceLength: number;
}

/** A row of a profile: a point, and what was measured there. */
export interface ProfileRow {
  /** Tensor-parallel degree: GPUs of one replica. A whole number, 1 or more. */
  tp: number;
  /** Expert-parallel degree inside the replica; divides the TP. A whole number, 1 or more. */
  ep?: number | undefined;
  /** Tokens of the most loaded expert rank ÷ their mean over the ranks; 1 if absent. */
  routingSkew?: number | undefined;
  /** Sequences that one replica runs at once. A whole number, 1 or more. */
  batchSize: number;
  /** Tokens of each sequence. A whole number, 1 or more. */
  sequenceLength: number;
  /** Seconds of one decode step of the batch, > 0. */
  decodeStepSeconds: number;
  /** Seconds to prefill the batch. A number, 0 or more. */
  prefillSeconds: number;
  /** Bytes that each GPU of the replica holds: weights, KV cache, activations. A number, 0 or more. */
  bytes: number;
}

/** What was expected of a prompt that was offered. */
export interface PromptChoice {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Responses that it is to have (the group size). A whole number, 1 or more. */
  responses: number;
  /** Tokens that one of these responses is expected to have. A number, 0 or more. */
  expectedTokens: number;
  /** Chance that their rewards differ, so that the group teaches. A number, 0 to 1. */
  keptChance: number;
  /** What they are expected to teach ÷ expected tokens to the power `lengthExponent`. A number, 0 or more. */
  worth: number;
  /** Chance with which it was taken. A number, 0 to 1. */
  chance: number;
  /** With `unbiased`: 1 ÷ chance, by which the gradient of the prompt is multiplied. */
  weight?: number | undefined;
}

/** One replica and the GPUs that it runs on. */
export interface ReplicaGroup {
  /** Number of the replica, from 0. A whole number. */
  replica: number;
  /** Id of the server, given by the host. At most 512 characters. */
  serverId: string;
  /** Its GPUs, by rank; experts are spread over `ep` consecutive ones. Each: at most 512 characters. */
  gpuIds: string[];
}

/** A request that is in flight on an engine. */
export interface RunningRequest {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** The engine that it runs on, or waits on. At most 512 characters. */
  engineId: string;
  /** Tokens that it has generated so far, over all attempts. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /** Tokens of its prompt; they stand in the KV cache too. A whole number, 0 to 1,000,000,000. */
  promptTokens: number;
}

/** An engine and its GPUs. */
export interface EnginePlace {
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
  /** The GPUs of its tensor-parallel group. Each: at most 512 characters. */
  gpuIds: string[];
}

/** Whole groups that are computed together. */
export interface MicroBatch {
  /** Whole groups, in the order of the update. Each: at most 512 characters. */
  groups: string[];
  /** Tokens of these groups, prompts included where they are known. A whole number, 0 to 1,000,000,000,000. */
  tokens: number;
  /** Whether it is one group over the budget, which has to be cut into micro-batches of its own samples. */
  dynamic: boolean;
}

/** A request that moves to another engine. */
export interface Migration {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** The engine that it leaves. At most 512 characters. */
  from: string;
  /** The engine that it goes to. At most 512 characters. */
  to: string;
  /**
   * Tokens generated when this was decided; they are kept, the budget is cumulative. A whole number, 0 to
   * 1,000,000,000.
   */
  tokens: number;
}

/** A node that preprocesses, and holds what it has preprocessed. */
export interface LoaderNode {
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

/** A sample with images or a video, as metadata. */
export interface VisualSample {
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** `image`: one or more images; `video`: frames of a clip. */
  kind: 'image' | 'video';
  /** Path or URL of the file. At most 4,096 characters. */
  path: string;
  /** Frames of the video, or images of the sample. A whole number, 1 to 1,048,576. */
  frames: number;
  /** Size of each frame after preprocessing. */
  resolution: Resolution;
  /**
   * Bytes that its preprocessed tensors are expected to take in host memory. A whole number, 1 to
   * 1,000,000,000,000,000.
   */
  bytes: number;
  /**
   * Batches that will use it; it is evicted after the last. Kept until its step is completed if absent. A whole number,
   * 1 or more.
   */
  uses?: number | undefined;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
}

/** A sample without pixels: it needs no preprocessing. */
export interface TextSample {
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** It has no pixels. */
  kind: 'text';
  /**
   * Batches that will use it; it is evicted after the last. Kept until its step is completed if absent. A whole number,
   * 1 or more.
   */
  uses?: number | undefined;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
}

/** A sample that is not here any more. */
export interface GoneSample {
  /** Id of the sample, given by the host; new whenever it is drawn. At most 512 characters. */
  sampleId: string;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
}

/** The name and shape of a tensor. */
export interface TensorShape {
  /** As model inputs name it: `pixel_values`, or `pixel_values_videos` for a video. */
  name: 'pixel_values' | 'pixel_values_videos';
  /** Frames, channels, height, width. The first axis can be sliced. Each: a whole number, 1 or more. */
  shape: number[];
  /** Bytes of one frame, rounded up. A whole number, 0 or more. */
  bytesPerFrame: number;
}

/** Frames of a sequence for one rank. */
export interface FrameSlice {
  /** Rank of the worker: its device, numbered from 0. A whole number, 0 to 1,048,575. */
  rank: number;
  /** First frame of the slice, numbered from 0. A whole number, 0 to 1,048,575. */
  fromFrame: number;
  /** Frame behind the last one of the slice. A whole number, 1 to 1,048,576. */
  toFrame: number;
}

/** A request that needs an engine, and what it has. */
export interface ChunkRequest {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens of the prompt. A whole number, 0 to 1,000,000,000. */
  promptTokens: number;
  /** Tokens of the response that the host has kept; absent: none. A whole number, 0 to 1,000,000,000. */
  tokens?: number | undefined;
  /** Most tokens of the response; absent: it ends by itself. A whole number, 1 to 1,000,000,000. */
  maxTokens?: number | undefined;
  /** Data domain of the prompt, such as `math` or `code`. At most 512 characters. */
  domain?: string | undefined;
}

/** A sequence of a batch that is to be planned. */
export interface BatchSequence {
  /** Its tokens, those of its images and frames included, 0 to 1e9. A whole number. */
  tokens: number;
  /** The sample that it belongs to; several may belong to one. Absent: text only. At most 512 characters. */
  sampleId?: string | undefined;
  /**
   * Frames that the vision tower encodes for it; absent: it is not spread frame by frame. A whole number, 0 to
   * 1,048,576.
   */
  frames?: number | undefined;
}

/** Where a sequence of a batch goes. */
export interface BatchAssignment {
  /** Index of the sequence in the batch. A whole number, 0 or more. */
  sequence: number;
  /** The sample that it belongs to, if any. At most 512 characters. */
  sampleId?: string | undefined;
  /** Sharding degree: how many ranks share it. A whole number, 1 to 65,536. */
  degree: number;
  /** Those ranks, ascending. Each: a whole number, 0 to 1,048,575. */
  ranks: number[];
  /** Which rank needs which frames; spread evenly over `ranks` if absent. */
  slices?: FrameSlice[] | undefined;
}

/** Sequences of one group of ranks that run as one. */
export interface BatchPack {
  /** Sharding degree: how many ranks share the pack. A whole number, 1 to 65,536. */
  degree: number;
  /** Those ranks, ascending. Each: a whole number, 0 to 1,048,575. */
  ranks: number[];
  /** Indices of its sequences in the batch. Each: a whole number, 0 or more. */
  sequences: number[];
}

/** A server and its GPUs. */
export interface GpuServer {
  /** Id of the server, given by the host. At most 512 characters. */
  serverId: string;
  /** Its GPUs, neighbours beside each other. Each: at most 512 characters. */
  gpuIds: string[];
}

/** A quantity that depends on the sequence length: a polynomial, or measured points. */
export type LengthFunction =
  | {
      /** What does not depend on the length; 0 if absent. */
      base?: number | undefined;
      /** For each token; 0 if absent. */
      perToken?: number | undefined;
      /** For each token times the length (attention); 0 if absent. */
      perTokenSquared?: number | undefined;
    }
  | {
      /** Length of the sequences, in tokens; longer at each point. A whole number, 0 to 1,000,000,000. */
      tokens: number;
      /** What was measured there. A number, 0 or more. */
      value: number;
    }[];

/** Requests that move from one engine to another. */
export interface MigrationBatch {
  /** The engine that they leave. At most 512 characters. */
  from: string;
  /** The engine that they go to. At most 512 characters. */
  to: string;
  /** The requests, in the order of the report. Each: at most 1,200 characters. */
  requestIds: string[];
  /**
   * Tokens that each had generated when this was decided, in the same order; they are kept. Each: a whole number, 0 to
   * 1,000,000,000.
   */
  tokens: number[];
}

/** An engine with its server, its GPUs and the size of its KV cache. */
export interface PlacedEngine {
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
  /** The server that its GPUs are in. At most 512 characters. */
  serverId: string;
  /** The GPUs of its tensor-parallel group. Each: at most 512 characters. */
  gpuIds: string[];
  /** What its KV cache holds, in tokens; this, or bytes. A whole number, 1 to 1,000,000,000,000. */
  kvCapacityTokens?: number | undefined;
  /** What its KV cache holds, in bytes; this, or tokens. A whole number, 1 or more. */
  kvCapacityBytes?: number | undefined;
}

/** Size of each frame after preprocessing. */
export interface Resolution {
  /** Pixels across, 1 to 65,536. A whole number. */
  width: number;
  /** Pixels down, 1 to 65,536. A whole number. */
  height: number;
}
