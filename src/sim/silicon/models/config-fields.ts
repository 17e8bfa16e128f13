/** The fields of a Hugging Face `config.json` that say what a decode step costs, by their names there. Other fields pass. */
import { z } from 'zod';

const count = z.int().nonnegative().nullish();
const flag = z.boolean().nullish();
/** Some configs write a list with a value for each layer, all alike; some write nested lists. */
const countOrEach = z.union([z.int().nonnegative(), z.array(z.int().nonnegative()).min(1)]).nullish();
const layers = z.array(z.string()).nullish();
const flags = z.array(z.int()).nullish();

const quantization = z.looseObject({
  quant_method: z.string().nullish(),
  quant_algo: z.string().nullish(),
  bits: count,
  load_in_4bit: flag,
  config_groups: z
    .record(
      z.string(),
      z.looseObject({ weights: z.looseObject({ num_bits: count, type: z.string().nullish() }).nullish() }),
    )
    .nullish(),
});

/** A layer of a model that neural architecture search has thinned out. */
const block = z.looseObject({
  attention: z.looseObject({ n_heads_in_group: count, no_op: flag, replace_with_linear: flag }),
  ffn: z.looseObject({ ffn_mult: z.number().nonnegative().nullish(), no_op: flag, replace_with_linear: flag }),
});

const fields = {
  model_type: z.string().nullish(),
  _name_or_path: z.string().nullish(),
  num_hidden_layers: count,
  hidden_size: count,
  intermediate_size: countOrEach,
  vocab_size: count,
  tie_word_embeddings: flag,
  // Attention
  num_attention_heads: count,
  num_key_value_heads: count,
  num_attention_groups: count,
  head_dim: count,
  attention_head_dim: count,
  v_head_dim: count,
  attn_output_gate: flag,
  q_lora_rank: count,
  kv_lora_rank: count,
  qk_rope_head_dim: count,
  qk_nope_head_dim: count,
  index_topk: count,
  index_n_heads: count,
  index_head_dim: count,
  sparse_attention_config: z
    .looseObject({ use_sparse_attention: flag, sparse_block_size: count, sparse_topk_blocks: count })
    .nullish(),
  // Which layers attend to what
  layer_types: layers,
  sliding_window: count,
  use_sliding_window: flag,
  max_window_layers: count,
  max_position_embeddings: count,
  sliding_window_pattern: z.union([z.int().positive(), z.string().min(1)]).nullish(),
  attention_chunk_size: count,
  hybrid_layer_pattern: flags,
  swa_num_attention_heads: count,
  swa_num_key_value_heads: count,
  swa_head_dim: count,
  swa_v_head_dim: count,
  attention_other_setting: z.looseObject({ num_attention_heads: count, num_attention_groups: count }).nullish(),
  global_head_dim: count,
  num_global_key_value_heads: count,
  attention_k_eq_v: flag,
  attn_type_list: flags,
  full_attention_interval: count,
  hybrid_override_pattern: z.string().nullish(),
  layers_block_type: layers,
  attn_layer_period: count,
  attn_layer_offset: count,
  block_configs: z.array(block).nullish(),
  // Layers with a constant state
  linear_num_value_heads: count,
  linear_num_key_heads: count,
  linear_key_head_dim: count,
  linear_value_head_dim: count,
  linear_conv_kernel_dim: count,
  mamba_num_heads: count,
  mamba_head_dim: count,
  ssm_state_size: count,
  n_groups: count,
  conv_kernel: count,
  mamba_expand: count,
  mamba_d_state: count,
  mamba_d_conv: count,
  mamba_dt_rank: z.union([z.int(), z.string()]).nullish(),
  // Experts
  num_experts: countOrEach,
  num_local_experts: countOrEach,
  n_routed_experts: countOrEach,
  moe_num_experts: countOrEach,
  num_experts_per_tok: countOrEach,
  num_experts_per_token: countOrEach,
  experts_per_token: countOrEach,
  moe_topk: countOrEach,
  moe_k: countOrEach,
  moe_top_k: countOrEach,
  top_k_experts: countOrEach,
  moe_intermediate_size: countOrEach,
  expert_intermediate_size: countOrEach,
  moe_latent_size: count,
  n_shared_experts: countOrEach,
  num_shared_experts: countOrEach,
  num_shared_expert: countOrEach,
  moe_num_shared_experts: countOrEach,
  shared_expert_intermediate_size: count,
  moe_shared_expert_intermediate_size: count,
  shared_intermediate_size: count,
  share_expert_dim: count,
  // Which layers have experts
  first_k_dense_replace: count,
  moe_layer_freq: z.union([z.int().nonnegative(), z.array(z.int())]).nullish(),
  decoder_sparse_step: count,
  mlp_only_layers: flags,
  interleave_moe_layer_step: count,
  moe_layers_enum: z.string().nullish(),
  moe_layer_start_index: count,
  moe_layer_end_index: z.int().nullish(),
  moe_layer_interval: count,
  expert_layer_period: count,
  expert_layer_offset: count,
  intermediate_size_mlp: count,
  dense_intermediate_size: count,
  // What marks an architecture that is not read
  compress_ratios: z.array(z.number()).nullish(),
  linear_attn_config: z.unknown().optional(),
  is_encoder_decoder: flag,
  hidden_size_per_layer_input: count,
  num_kv_shared_layers: count,
  quantization_config: quantization.nullish(),
};

const text = z.looseObject(fields);

/** Schema of a `config.json`. The decoder of a multimodal model is in one of the last three. */
export const configSchema = z.looseObject({
  ...fields,
  text_config: text.nullish(),
  llm_config: text.nullish(),
  language_config: text.nullish(),
});

/** A `config.json` of Hugging Face. */
export type ModelConfig = z.input<typeof configSchema>;
/** The fields of its decoder. */
export type ConfigFields = z.output<typeof text>;

/** Returns a value that a config gives once, or for each layer. */
export const once = (value: number | readonly number[] | null | undefined): number | undefined =>
  typeof value === 'number' ? value : value?.[0];

/** Returns the first value that a config gives and that is not 0. */
export const firstOf = (...values: readonly (number | readonly number[] | null | undefined)[]): number | undefined =>
  values.map(once).find((value) => value !== undefined && value !== 0);

/** Returns the decoder of a config: of a multimodal one, its text part, with what the whole says of embeddings and quantization. */
export function decoderOf(config: z.output<typeof configSchema>): ConfigFields {
  const inner = config.text_config ?? config.llm_config ?? config.language_config;
  if (inner === undefined || inner === null) return config;
  return {
    ...inner,
    model_type: inner.model_type ?? config.model_type,
    _name_or_path: config._name_or_path ?? inner._name_or_path,
    tie_word_embeddings: inner.tie_word_embeddings ?? config.tie_word_embeddings,
    quantization_config: config.quantization_config ?? inner.quantization_config,
  };
}
