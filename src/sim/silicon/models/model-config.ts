/** Reads the `config.json` of a model on Hugging Face. */
import { oneOf } from '../../../core/ids/nearest.ts';
import { parse } from '../../../core/machine/validate.ts';
import { refuse } from '../../../errors.ts';
import { type Architecture, architectureOf, architectures } from './architectures.ts';
import { type ConfigFields, configSchema, decoderOf, firstOf } from './config-fields.ts';
import { layerKinds, windowOf } from './layer-kinds.ts';
import type { ModelShape } from './model-shape.ts';
import { thinnedShape } from './nemotron-nas.ts';
import { attentionParameters, denseParameters, expertsOf, headsOf, linearLayer, slidingHeadsOf } from './parameters.ts';
import { precisionOf } from './precision.ts';

/** The `model_type`s whose configs are read field by field. */
export const modelTypes: readonly string[] = Object.freeze(Object.keys(architectures));

/** Fields of architectures that cost something else than what is counted here. */
const foreign = ['compress_ratios', 'linear_attn_config', 'is_encoder_decoder', 'hidden_size_per_layer_input'] as const;
const needed = ['num_hidden_layers', 'hidden_size', 'num_attention_heads', 'vocab_size'] as const;

/**
 * Returns the shape of a model from its `config.json`. Of a multimodal model it is that of the decoder. A `model_type` that is not
 * known is read as Llama, or Mixtral, where it has their fields and no others that matter; `assumed` says so.
 *
 * @param config the parsed `config.json`
 * @param name name of the shape; what the config says where absent
 * @throws PolicyError `invalid_input`, for a missing field, or an architecture that is not known and not like these
 */
export function shapeOf(config: unknown, name?: string): ModelShape {
  const given = decoderOf(parse(configSchema, config, 'invalid_input', 'config'));
  const type = given.model_type ?? '';
  const assumed: string[] = [];
  const architecture = architectureOf(type) ?? likeLlama(given, type, assumed);
  const fields = withDefaults(given, architecture.defaults);
  const title = name ?? fields._name_or_path ?? type;
  if (fields.hidden_size_per_layer_input) refuseType(type, 'without embeddings of each layer');
  for (const field of needed) {
    const isCounted = field === 'num_hidden_layers' && fields.layers_block_type;
    if (!fields[field] && !isCounted) refuse('invalid_input', `config.${field}`, 'an integer >= 1', fields[field]);
  }
  const precision = precisionOf(fields.quantization_config, assumed);
  if (fields.block_configs) return thinnedShape(fields, title, architecture.family, precision, assumed);
  return counted(fields, architecture, { name: title, nativePrecision: precision, assumed });
}

function counted(
  config: ConfigFields,
  architecture: Architecture,
  rest: Pick<ModelShape, 'name' | 'nativePrecision' | 'assumed'>,
): ModelShape {
  const routed = expertsOf(config, architecture);
  const kinds = layerKinds(config, architecture, routed.experts);
  const number = (one: string): number => kinds.filter(({ mixer, mlp }) => mixer === one || mlp === one).length;
  const [full, sliding] = [headsOf(config), slidingHeadsOf(config)];
  const [attentionLayers, slidingLayers, linearLayers] = [number('full'), number('sliding'), number('linear')];
  const [moeLayers, denseLayers] = [number('experts'), number('dense')];
  if (routed.experts > 0 && routed.each * routed.expertsPerToken === 0) {
    refuse('invalid_input', 'config', 'the size of an expert, and the experts per token', 'none');
  }
  const dense = denseParameters(config, architecture.isUngated);
  if (dense === 0 && denseLayers > 0) {
    refuse('invalid_input', 'config.intermediate_size', 'an integer >= 1', config.intermediate_size);
  }
  const linear = linearLayer(config);
  const embeddingParameters = (config.vocab_size ?? 0) * (config.hidden_size ?? 0);
  const kept =
    attentionLayers * attentionParameters(config, full, Boolean(config.attention_k_eq_v)) +
    slidingLayers * attentionParameters(config, sliding) +
    (linearLayers > 0 ? linearLayers * linear.parameters : 0) +
    denseLayers * dense +
    moeLayers * routed.beside +
    embeddingParameters;
  const expertParameters = moeLayers * routed.experts * routed.each;
  const rank = firstOf(config.kv_lora_rank);
  const mla = rank === undefined ? undefined : { kvLoraRank: rank, ropeDimension: config.qk_rope_head_dim ?? 0 };
  const values = (heads: typeof full): number => heads.kvHeads * (heads.keyDimension + heads.valueDimension);
  const visited = routed.experts > 0 ? (expertParameters * routed.expertsPerToken) / routed.experts : 0;
  return Object.freeze({
    ...rest,
    family: architecture.family,
    layers: kinds.length,
    attentionLayers,
    slidingLayers,
    slidingWindow: slidingLayers > 0 ? windowOf(config, architecture) : 0,
    linearLayers,
    moeLayers,
    hiddenSize: config.hidden_size ?? 0,
    heads: full.heads,
    kvHeads: full.kvHeads,
    headDimension: full.keyDimension,
    mla,
    experts: moeLayers > 0 ? routed.experts : 0,
    expertsPerToken: moeLayers > 0 ? routed.expertsPerToken : 0,
    denseParameters: kept,
    expertParameters,
    embeddingParameters,
    totalParameters: kept + expertParameters + (config.tie_word_embeddings ? 0 : embeddingParameters),
    activeParameters: kept + visited,
    kvValuesPerToken: attentionLayers * (mla ? mla.kvLoraRank + mla.ropeDimension : values(full)),
    slidingKvValuesPerToken: slidingLayers * values(sliding),
    linearStateValues: linearLayers > 0 ? linearLayers * linear.stateValues : 0,
    sparseAttentionTopK: chosenTokens(config),
  });
}

function chosenTokens({ index_topk, sparse_attention_config: blocks }: ConfigFields): number | undefined {
  if (index_topk) return index_topk;
  if (!blocks?.use_sparse_attention) return undefined;
  return firstOf((blocks.sparse_block_size ?? 0) * (blocks.sparse_topk_blocks ?? 0));
}

function withDefaults(config: ConfigFields, defaults: ConfigFields = {}): ConfigFields {
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null && value !== undefined));
  return { ...defaults, ...given };
}

const refuseType = (type: string, what: string): never =>
  refuse('invalid_input', 'config.model_type', `an architecture ${what}: ${oneOf(modelTypes, type)}`, type);

function likeLlama(config: ConfigFields, type: string, assumed: string[]): Architecture {
  const isForeign = foreign.some((field) => Boolean(config[field])) || Boolean(config.mamba_num_heads);
  const isLinear = config.layer_types?.includes('linear_attention') && !config.linear_num_value_heads;
  if (isForeign || isLinear || !needed.every((field) => config[field])) refuseType(type, 'that is known');
  assumed.push(`model_type ${type || 'is absent and'} is read by the names of its fields, as Llama or Mixtral`);
  const isExpertSized = !firstOf(config.moe_intermediate_size, config.expert_intermediate_size);
  // Many configs have a window that their code does not use, but none that does not use its list of layers.
  const isWindowed = Boolean(config.layer_types ?? config.sliding_window_pattern);
  return { family: type || 'unknown', isWindowed, isExpertSized };
}
