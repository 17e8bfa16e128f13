/** Llama-Nemotron: a Llama from which neural architecture search took attention and parts of MLPs, layer by layer. */
import { type ConfigFields, firstOf } from './config-fields.ts';
import type { ModelShape, Precision } from './model-shape.ts';
import { attentionParameters, headsOf } from './parameters.ts';

/** MLPs are as wide as 2/3 of this multiple of the hidden size, in steps of 256. */
const widthOf = (multiple: number, hidden: number): number =>
  Math.ceil(Math.trunc((2 * multiple * hidden) / 3) / 256) * 256;

/** Returns the shape of a model with `block_configs`. `kvHeads` are those of its first attention layer. */
export function thinnedShape(
  config: ConfigFields,
  name: string,
  family: string,
  nativePrecision: Precision,
  assumed: readonly string[],
): ModelShape {
  const blocks = config.block_configs ?? [];
  const hidden = config.hidden_size ?? 0;
  const heads = config.num_attention_heads ?? 0;
  const attending = blocks
    .filter(({ attention }) => !attention.no_op && !attention.replace_with_linear)
    .map(({ attention }) =>
      headsOf({ ...config, num_key_value_heads: heads / (firstOf(attention.n_heads_in_group) ?? 1) }),
    );
  const mixers = attending.reduce((sum, one) => sum + attentionParameters(config, one), 0);
  const linear = blocks.reduce(
    (sum, { attention, ffn }) =>
      sum + hidden * hidden * (Number(attention.replace_with_linear ?? 0) + Number(ffn.replace_with_linear ?? 0)),
    0,
  );
  const mlps = blocks
    .filter(({ ffn }) => !ffn.no_op && !ffn.replace_with_linear)
    .reduce((sum, { ffn }) => sum + 3 * hidden * widthOf(ffn.ffn_mult ?? 0, hidden), 0);
  const embeddingParameters = (config.vocab_size ?? 0) * hidden;
  const denseParameters = mixers + linear + mlps + embeddingParameters;
  const first = attending[0] ?? headsOf(config);
  return Object.freeze({
    name,
    family,
    layers: blocks.length,
    attentionLayers: attending.length,
    slidingLayers: 0,
    slidingWindow: 0,
    linearLayers: 0,
    moeLayers: 0,
    hiddenSize: hidden,
    heads,
    kvHeads: first.kvHeads,
    headDimension: first.keyDimension,
    mla: undefined,
    experts: 0,
    expertsPerToken: 0,
    denseParameters,
    expertParameters: 0,
    embeddingParameters,
    totalParameters: denseParameters + (config.tie_word_embeddings ? 0 : embeddingParameters),
    activeParameters: denseParameters,
    kvValuesPerToken: attending.reduce((sum, one) => sum + 2 * one.kvHeads * one.keyDimension, 0),
    slidingKvValuesPerToken: 0,
    linearStateValues: 0,
    nativePrecision,
    sparseAttentionTopK: undefined,
    assumed,
  });
}
