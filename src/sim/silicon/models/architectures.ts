/** The architectures that the reader knows, and what their configs leave out because it is the default of their code. */
import type { ConfigFields } from './config-fields.ts';

/** What is particular to an architecture. */
export interface Architecture {
  /** Family of models. */
  readonly family: string;
  /** Fields where the config has none. */
  readonly defaults?: ConfigFields;
  /** MLPs have an up and a down projection, without a gate. */
  readonly isUngated?: boolean;
  /** `intermediate_size` is that of an expert. */
  readonly isExpertSized?: boolean;
  /** A shared expert, of the size of the others, that the config does not mention. */
  readonly hasSharedExpert?: boolean;
  /** Each layer has a dense MLP beside its experts. */
  readonly hasBoth?: boolean;
  /** Where the config has a window, its code keeps to it, in all layers but those that attend to everything. */
  readonly isWindowed?: boolean;
}

const tied = { tie_word_embeddings: true };
const delta: ConfigFields = { full_attention_interval: 4, attn_output_gate: true, linear_conv_kernel_dim: 4 };
const gemma3 = {
  ...tied,
  head_dim: 256,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  vocab_size: 262_208,
  sliding_window_pattern: 6,
};

/** By `model_type`, without a final `_text`. */
export const architectures: Readonly<Record<string, Architecture>> = Object.freeze({
  llama: { family: 'llama' },
  llama4: {
    family: 'llama',
    isExpertSized: true,
    hasSharedExpert: true,
    isWindowed: true,
    defaults: { interleave_moe_layer_step: 1 },
  },
  mistral: { family: 'mistral', isWindowed: true },
  mistral3: { family: 'mistral' },
  ministral3: { family: 'mistral' },
  mixtral: { family: 'mistral', isExpertSized: true },
  qwen2: { family: 'qwen', isWindowed: true, defaults: { use_sliding_window: false } },
  qwen2_moe: { family: 'qwen' },
  qwen2_vl: { family: 'qwen' },
  qwen2_5_vl: { family: 'qwen' },
  qwen3: { family: 'qwen', isWindowed: true, defaults: { head_dim: 128, use_sliding_window: false } },
  qwen3_moe: { family: 'qwen' },
  qwen3_vl: { family: 'qwen', defaults: { head_dim: 128 } },
  qwen3_vl_moe: { family: 'qwen' },
  qwen3_next: { family: 'qwen', defaults: delta },
  qwen3_5: { family: 'qwen', defaults: delta },
  qwen3_5_moe: { family: 'qwen', defaults: delta },
  deepseek_v2: { family: 'deepseek' },
  deepseek_v3: { family: 'deepseek' },
  deepseek_v32: { family: 'deepseek' },
  kimi_k2: { family: 'kimi' },
  kimi_k25: { family: 'kimi' },
  glm: { family: 'glm' },
  glm4: { family: 'glm' },
  glm4_moe: { family: 'glm' },
  glm4v_moe: { family: 'glm' },
  glm4_moe_lite: { family: 'glm', defaults: { first_k_dense_replace: 1 } },
  glm_moe_dsa: { family: 'glm' },
  gpt_oss: {
    family: 'gpt-oss',
    isExpertSized: true,
    isWindowed: true,
    defaults: { head_dim: 64, sliding_window_pattern: 2 },
  },
  minimax_m1: { family: 'minimax', isExpertSized: true },
  minimax_text_01: { family: 'minimax', isExpertSized: true },
  minimax_m2: { family: 'minimax', isExpertSized: true },
  minimax_m3: { family: 'minimax', isExpertSized: true },
  minimax_m3_vl: { family: 'minimax', isExpertSized: true },
  gemma: { family: 'gemma', defaults: { ...tied, head_dim: 256 } },
  gemma2: { family: 'gemma', isWindowed: true, defaults: { ...tied, head_dim: 256, sliding_window_pattern: 2 } },
  gemma3: { family: 'gemma', isWindowed: true, defaults: gemma3 },
  gemma4: { family: 'gemma', isWindowed: true, hasBoth: true, defaults: tied },
  phi3: { family: 'phi', isWindowed: true },
  phimoe: { family: 'phi', isExpertSized: true },
  nemotron: { family: 'nemotron', isUngated: true },
  nemotron_h: { family: 'nemotron', isUngated: true },
  'nemotron-nas': { family: 'nemotron' },
  jamba: { family: 'jamba', isExpertSized: true, defaults: tied },
  hunyuan_v1_dense: { family: 'hunyuan' },
  hunyuan_v1_moe: { family: 'hunyuan' },
  ernie4_5: { family: 'ernie', defaults: tied },
  ernie4_5_moe: { family: 'ernie', defaults: tied },
  bailing_moe: { family: 'ling' },
  bailing_moe_v2: { family: 'ling' },
  step3p5: { family: 'step', isWindowed: true },
  step3p7: { family: 'step', isWindowed: true },
  mimo: { family: 'mimo' },
  mimo_v2_flash: { family: 'mimo', isWindowed: true },
  cohere: { family: 'command', defaults: tied },
  cohere2: { family: 'command', isWindowed: true, defaults: { ...tied, sliding_window_pattern: 4 } },
  olmo2: { family: 'olmo' },
  exaone4: { family: 'exaone', isWindowed: true, defaults: { sliding_window_pattern: 'LLLG' } },
  seed_oss: { family: 'seed' },
});

/** Returns the architecture of a `model_type`, or undefined. */
export function architectureOf(type: string): Architecture | undefined {
  const base = type.replace(/_text$/, '');
  return Object.hasOwn(architectures, base) ? architectures[base] : undefined;
}
