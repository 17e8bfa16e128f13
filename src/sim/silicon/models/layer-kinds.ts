/** Which layers of a model attend to the whole context, which to a window, which keep a constant state, and which have experts. */
import type { Architecture } from './architectures.ts';
import { type ConfigFields, firstOf } from './config-fields.ts';

/** A layer: how it mixes tokens, and what MLP it has. */
export interface LayerKind {
  readonly mixer: 'full' | 'sliding' | 'linear' | 'none';
  readonly mlp: 'dense' | 'experts' | 'none';
}

type Mixer = LayerKind['mixer'];
type Of<T> = (layer: number) => T;

const blocks: Readonly<Record<string, LayerKind>> = {
  M: { mixer: 'linear', mlp: 'none' },
  mamba: { mixer: 'linear', mlp: 'none' },
  '*': { mixer: 'full', mlp: 'none' },
  attention: { mixer: 'full', mlp: 'none' },
  '-': { mixer: 'none', mlp: 'dense' },
  mlp: { mixer: 'none', mlp: 'dense' },
  E: { mixer: 'none', mlp: 'experts' },
  moe: { mixer: 'none', mlp: 'experts' },
};

/** Returns the kinds of blocks of Nemotron-H, each a mixer or an MLP; undefined for all others, and for a block it does not know. */
function blocksOf(config: ConfigFields): readonly LayerKind[] | undefined {
  const pattern = config.hybrid_override_pattern ? [...config.hybrid_override_pattern] : config.layers_block_type;
  const kinds = pattern?.map((block) => blocks[block]);
  return kinds?.every((kind) => kind !== undefined) ? kinds : undefined;
}

const mixerNames: Readonly<Record<string, Mixer>> = {
  full_attention: 'full',
  attention: 'full',
  deepseek_sparse_attention: 'full',
  sliding_attention: 'sliding',
  chunked_attention: 'sliding',
  linear_attention: 'linear',
  mamba: 'linear',
};

/** Returns the window of sliding layers in tokens, or 0. Llama 4 has chunks in its place. */
export function windowOf(config: ConfigFields, { isWindowed }: Architecture): number {
  if (config.use_sliding_window === false || !isWindowed) return 0;
  const window = firstOf(config.sliding_window, config.attention_chunk_size) ?? 0;
  // A window as long as the context is none.
  return window >= (config.max_position_embeddings ?? Number.POSITIVE_INFINITY) ? 0 : window;
}

function mixers(config: ConfigFields, architecture: Architecture): Of<Mixer> {
  const { layer_types, attn_type_list, hybrid_layer_pattern, full_attention_interval, attn_layer_period } = config;
  const window = windowOf(config, architecture);
  const windowed: Mixer = window > 0 ? 'sliding' : 'full';
  if (layer_types) {
    return (layer) => {
      const named = mixerNames[layer_types[layer] ?? 'full_attention'] ?? 'full';
      return named === 'sliding' ? windowed : named;
    };
  }
  if (attn_type_list) return (layer) => (attn_type_list[layer] === 0 ? 'linear' : 'full');
  if (hybrid_layer_pattern) return (layer) => (hybrid_layer_pattern[layer] === 1 ? windowed : 'full');
  if (full_attention_interval) return (layer) => ((layer + 1) % full_attention_interval === 0 ? 'full' : 'linear');
  if (attn_layer_period) {
    return (layer) => (layer % attn_layer_period === (config.attn_layer_offset ?? 0) ? 'full' : 'linear');
  }
  if (window === 0) return () => 'full';
  // Chunks alternate with layers without rotary embeddings, which see everything.
  const pattern = config.sliding_window_pattern ?? (config.attention_chunk_size ? 4 : undefined);
  if (typeof pattern === 'string') return (layer) => (pattern[layer % pattern.length] === 'L' ? 'sliding' : 'full');
  if (pattern) return (layer) => ((layer + 1) % pattern === 0 ? 'full' : 'sliding');
  const first = config.use_sliding_window ? (config.max_window_layers ?? 0) : 0;
  return (layer) => (layer >= first ? 'sliding' : 'full');
}

function expertLayers(config: ConfigFields, layers: number): Of<boolean> {
  const { moe_layer_freq, mlp_only_layers, interleave_moe_layer_step, moe_layers_enum, expert_layer_period } = config;
  if (Array.isArray(moe_layer_freq)) return (layer) => moe_layer_freq[layer] === 1;
  if (moe_layers_enum) {
    const listed = new Set(moe_layers_enum.split(',').map(Number));
    return (layer) => listed.has(layer);
  }
  if (expert_layer_period) {
    return (layer) => layer % expert_layer_period === (config.expert_layer_offset ?? 0);
  }
  const first = firstOf(config.first_k_dense_replace, config.moe_layer_start_index) ?? 0;
  const end = config.moe_layer_end_index ?? -1;
  const last = end < 0 ? layers - 1 : end;
  const step =
    firstOf(interleave_moe_layer_step, config.decoder_sparse_step, config.moe_layer_interval, moe_layer_freq) ?? 1;
  // Those that count from the first layer after the dense ones, and those that count from layer 1.
  const offset = config.first_k_dense_replace ? 0 : 1;
  return (layer) =>
    layer >= first && layer <= last && !mlp_only_layers?.includes(layer) && (layer + offset) % step === 0;
}

/** Returns the kind of each layer. */
export function layerKinds(config: ConfigFields, architecture: Architecture, experts: number): readonly LayerKind[] {
  const found = blocksOf(config);
  if (found) return found;
  const layers = config.num_hidden_layers ?? 0;
  const [mixer, hasExperts] = [mixers(config, architecture), expertLayers(config, layers)];
  return Array.from({ length: layers }, (_, layer) => ({
    mixer: mixer(layer),
    mlp: experts > 0 && hasExperts(layer) ? 'experts' : 'dense',
  }));
}
