/** What a simulator needs to know of a model: how much a decode step reads, computes and caches. */

/** How weights are stored: 2, 1, 1, 1/2 and 1/2 byte a value, scales aside. */
export type Precision = 'bf16' | 'fp8' | 'int8' | 'fp4' | 'int4';

/**
 * Sizes of a decoder, derived from its `config.json`. Parameters are counted without norms, biases, vision towers and layers of
 * multi-token prediction.
 */
export interface ModelShape {
  /** Name of the model, as on Hugging Face. */
  readonly name: string;
  /** Family of models with one architecture, such as `qwen` or `deepseek`. */
  readonly family: string;
  /** Layers; of Nemotron-H, blocks: each has a mixer or an MLP, not both. */
  readonly layers: number;
  /** Layers with softmax attention over the whole context: their KV cache grows with it. */
  readonly attentionLayers: number;
  /** Layers with softmax attention over the last `slidingWindow` tokens. */
  readonly slidingLayers: number;
  /** Tokens that sliding layers look back; 0 where there are no such layers. */
  readonly slidingWindow: number;
  /** Layers with a state of constant size in the place of a KV cache: Mamba, gated delta nets, lightning attention. */
  readonly linearLayers: number;
  /** Layers with routed experts. */
  readonly moeLayers: number;
  /** Width of the residual stream, in values. */
  readonly hiddenSize: number;
  /** Query heads of a layer with softmax attention. */
  readonly heads: number;
  /** KV heads of a layer with attention over the whole context; with MLA, as many as the config says: the latent is one for all. */
  readonly kvHeads: number;
  /** Values of a key head; with MLA, of its part without and with position together. */
  readonly headDimension: number;
  /** Multi-head latent attention: a token caches a latent and one rotary key a layer, whatever the heads. */
  readonly mla: { readonly kvLoraRank: number; readonly ropeDimension: number } | undefined;
  /** Routed experts of a layer with experts; 0 in a dense model. */
  readonly experts: number;
  /** Routed experts that a token visits in such a layer; 0 in a dense model. */
  readonly expertsPerToken: number;
  /**
   * Parameters that each decode step reads whatever its batch: attention, dense MLPs, shared experts, routers and the output layer.
   * The embedding table counts only where it is the output layer.
   */
  readonly denseParameters: number;
  /** Parameters of all routed experts of all layers. */
  readonly expertParameters: number;
  /** Parameters of the embedding table, of which a step reads one row a token. */
  readonly embeddingParameters: number;
  /** All parameters: dense, experts, and the embedding table where it is not the output layer. */
  readonly totalParameters: number;
  /** Parameters that one token computes with: dense, and its share of the experts. */
  readonly activeParameters: number;
  /** Values that a token adds to the KV cache of all `attentionLayers` together; times bytes a value gives bytes a token. */
  readonly kvValuesPerToken: number;
  /** The same of all `slidingLayers` together, for each token within the window. */
  readonly slidingKvValuesPerToken: number;
  /** Values of the states of all `linearLayers` of one sequence, convolutions included. */
  readonly linearStateValues: number;
  /** How the weights are published. */
  readonly nativePrecision: Precision;
  /** Tokens that each query attends to, chosen by an indexer (DeepSeek sparse attention); undefined where it attends to all. */
  readonly sparseAttentionTopK: number | undefined;
  /** What the config does not say and the reader took for granted, as sentences; empty for architectures that it knows. */
  readonly assumed: readonly string[];
}
