/** Parameters of the parts of a layer, from the fields of its config. Norms and biases are left out: less than 0.1 %. */
import type { Architecture } from './architectures.ts';
import { type ConfigFields, firstOf, once } from './config-fields.ts';

/** Heads of a layer with softmax attention: their numbers, and the values of a key and of a value. */
export interface HeadSizes {
  readonly heads: number;
  readonly kvHeads: number;
  readonly keyDimension: number;
  readonly valueDimension: number;
}

/** Returns the heads of layers that attend to the whole context. */
export function headsOf(config: ConfigFields): HeadSizes {
  const heads = config.num_attention_heads ?? 0;
  const latent = firstOf(config.kv_lora_rank) && (config.qk_nope_head_dim ?? 0) + (config.qk_rope_head_dim ?? 0);
  const given = firstOf(config.global_head_dim, config.head_dim, config.attention_head_dim);
  const keyDimension = latent || (given ?? Math.floor((config.hidden_size ?? 0) / Math.max(1, heads)));
  const kvHeads =
    firstOf(config.num_global_key_value_heads, config.num_key_value_heads, config.num_attention_groups) ?? heads;
  return { heads, kvHeads, keyDimension, valueDimension: firstOf(config.v_head_dim) ?? keyDimension };
}

/** Returns the heads of sliding layers, where they are others. */
export function slidingHeadsOf(config: ConfigFields): HeadSizes {
  const full = headsOf({ ...config, global_head_dim: null, num_global_key_value_heads: null });
  const other = config.attention_other_setting;
  const keyDimension = firstOf(config.swa_head_dim) ?? full.keyDimension;
  return {
    heads: firstOf(config.swa_num_attention_heads, other?.num_attention_heads) ?? full.heads,
    kvHeads: firstOf(config.swa_num_key_value_heads, other?.num_attention_groups) ?? full.kvHeads,
    keyDimension,
    valueDimension: firstOf(config.swa_v_head_dim) ?? full.valueDimension,
  };
}

/** Multi-head latent attention, and the indexer of DeepSeek sparse attention. */
function latentParameters(config: ConfigFields, { heads, keyDimension, valueDimension }: HeadSizes): number {
  const hidden = config.hidden_size ?? 0;
  const [queryRank, rank, rope] = [config.q_lora_rank ?? 0, config.kv_lora_rank ?? 0, config.qk_rope_head_dim ?? 0];
  const queries = heads * keyDimension;
  const indexHeads = config.index_n_heads ?? 0;
  const indexDimension = config.index_head_dim ?? 0;
  return (
    (queryRank > 0 ? queryRank * (hidden + queries) : hidden * queries) +
    hidden * (rank + rope) +
    rank * heads * (keyDimension - rope + valueDimension) +
    heads * valueDimension * hidden +
    queryRank * indexHeads * indexDimension +
    hidden * (indexDimension + indexHeads)
  );
}

/** Parameters of a layer with softmax attention; of keys that are the values, too, only once. */
export function attentionParameters(config: ConfigFields, sizes: HeadSizes, isShared = false): number {
  if (firstOf(config.kv_lora_rank)) return latentParameters(config, sizes);
  const { heads, kvHeads, keyDimension, valueDimension } = sizes;
  const queries = heads * keyDimension * (config.attn_output_gate ? 2 : 1);
  const keysAndValues = kvHeads * (keyDimension + (isShared ? 0 : valueDimension));
  return (config.hidden_size ?? 0) * (queries + keysAndValues + heads * valueDimension);
}

/** Parameters of a layer with a constant state, and the values of that state. */
export function linearLayer(config: ConfigFields): { readonly parameters: number; readonly stateValues: number } {
  const hidden = config.hidden_size ?? 0;
  const valueHeads = config.linear_num_value_heads ?? 0;
  if (valueHeads > 0) {
    // Gated delta net
    const keys = (config.linear_num_key_heads ?? 0) * (config.linear_key_head_dim ?? 0);
    const values = valueHeads * (config.linear_value_head_dim ?? 0);
    const convolved = (2 * keys + values) * (config.linear_conv_kernel_dim ?? 0);
    return {
      parameters: hidden * (2 * keys + 3 * values + 2 * valueHeads) + convolved,
      stateValues: values * (config.linear_key_head_dim ?? 0) + convolved,
    };
  }
  const mambaHeads = config.mamba_num_heads ?? 0;
  if (mambaHeads > 0) {
    // Mamba 2
    const inner = mambaHeads * (config.mamba_head_dim ?? 0);
    const groups = 2 * (config.n_groups ?? 1) * (config.ssm_state_size ?? 0);
    const convolved = (inner + groups) * (config.conv_kernel ?? 4);
    return {
      parameters: hidden * (3 * inner + groups + mambaHeads) + convolved,
      stateValues: inner * (config.ssm_state_size ?? 0) + convolved,
    };
  }
  if (config.mamba_d_state) {
    // Mamba 1
    const inner = hidden * (config.mamba_expand ?? 2);
    const [state, kernel] = [config.mamba_d_state, config.mamba_d_conv ?? 4];
    const rank = typeof config.mamba_dt_rank === 'number' ? config.mamba_dt_rank : Math.ceil(hidden / 16);
    return {
      parameters: 3 * hidden * inner + inner * (kernel + 2 * rank + 3 * state),
      stateValues: inner * (state + kernel),
    };
  }
  // Lightning attention: queries, keys, values, a gate and the output
  const { heads, keyDimension } = headsOf(config);
  return { parameters: 5 * hidden * heads * keyDimension, stateValues: heads * keyDimension ** 2 };
}

/** Experts of a layer. */
export interface ExpertSizes {
  readonly experts: number;
  readonly expertsPerToken: number;
  /** Parameters of one routed expert. */
  readonly each: number;
  /** Parameters of the router, the shared experts and projections to a latent space. */
  readonly beside: number;
}

/** Returns the experts of a layer; no experts in a dense model. */
export function expertsOf(config: ConfigFields, { isUngated, isExpertSized, ...rest }: Architecture): ExpertSizes {
  const matrices = isUngated ? 2 : 3;
  const hidden = config.hidden_size ?? 0;
  const experts =
    firstOf(config.num_experts, config.num_local_experts, config.n_routed_experts, config.moe_num_experts) ?? 0;
  if (experts < 2) return { experts: 0, expertsPerToken: 0, each: 0, beside: 0 };
  const expertsPerToken =
    firstOf(
      config.num_experts_per_tok,
      config.num_experts_per_token,
      config.experts_per_token,
      config.moe_topk,
      config.moe_k,
      config.moe_top_k,
      config.top_k_experts,
    ) ?? 0;
  const own = firstOf(config.moe_intermediate_size, config.expert_intermediate_size);
  const size = own ?? (isExpertSized ? once(config.intermediate_size) : undefined) ?? 0;
  const shared =
    firstOf(
      config.n_shared_experts,
      config.num_shared_experts,
      config.num_shared_expert,
      config.moe_num_shared_experts,
    ) ?? (rest.hasSharedExpert ? 1 : 0);
  const sharedSize =
    firstOf(
      config.moe_shared_expert_intermediate_size,
      config.shared_expert_intermediate_size,
      config.share_expert_dim,
      config.shared_intermediate_size,
    ) ?? shared * size;
  const latent = config.moe_latent_size || 0;
  return {
    experts,
    expertsPerToken,
    each: matrices * (latent || hidden) * size,
    beside:
      hidden * experts +
      matrices * hidden * sharedSize +
      2 * hidden * latent +
      (rest.hasBoth ? denseParameters(config, isUngated) : 0),
  };
}

/** Parameters of a dense MLP. */
export function denseParameters(config: ConfigFields, isUngated = false): number {
  const size = firstOf(config.intermediate_size_mlp, config.dense_intermediate_size, config.intermediate_size) ?? 0;
  return (isUngated ? 2 : 3) * (config.hidden_size ?? 0) * size;
}
