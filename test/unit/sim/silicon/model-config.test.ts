/** A model of which the table knows nothing, by its config.json. */
import { describe, expect, it, test } from 'vitest';
import { modelTypes, shapeOf } from '../../../../src/sim/silicon/models/model-config.ts';
import { modelOf } from '../../../../src/sim/silicon/models/model-names.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const llama = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  num_hidden_layers: 4,
  hidden_size: 64,
  intermediate_size: 256,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  vocab_size: 1000,
  rope_scaling: { rope_type: 'llama3', factor: 8 },
  torch_dtype: 'bfloat16',
};
/** Queries and output, keys and values, and the three matrices of an MLP. */
const layer = 2 * 64 * 64 + 2 * 64 * 16 + 3 * 64 * 256;

const refused = (config: unknown) => refusal(() => shapeOf(config));

test('a dense model, by hand', () => {
  expect(shapeOf(llama, 'mine')).toEqual({
    name: 'mine',
    family: 'llama',
    layers: 4,
    attentionLayers: 4,
    slidingLayers: 0,
    slidingWindow: 0,
    linearLayers: 0,
    moeLayers: 0,
    hiddenSize: 64,
    heads: 8,
    kvHeads: 2,
    headDimension: 8,
    mla: undefined,
    experts: 0,
    expertsPerToken: 0,
    denseParameters: 4 * layer + 64_000,
    expertParameters: 0,
    embeddingParameters: 64_000,
    totalParameters: 4 * layer + 128_000,
    activeParameters: 4 * layer + 64_000,
    kvValuesPerToken: 4 * 2 * 2 * 8,
    slidingKvValuesPerToken: 0,
    linearStateValues: 0,
    nativePrecision: 'bf16',
    sparseAttentionTopK: undefined,
    assumed: [],
  });
  expect(shapeOf({ ...llama, tie_word_embeddings: true }).totalParameters).toBe(4 * layer + 64_000);
  expect(shapeOf({ ...llama, _name_or_path: 'me/mine' }).name).toBe('me/mine');
});

test('the decoder of a multimodal model is in its text_config', () => {
  const { model_type, ...text_config } = llama;
  const config = { model_type: 'qwen2_5_vl', text_config, tie_word_embeddings: true, vision_config: { depth: 32 } };
  const shape = shapeOf({ ...config, quantization_config: { quant_method: 'fp8' } });
  expect(shape).toMatchObject({
    family: 'qwen',
    layers: 4,
    totalParameters: 4 * layer + 64_000,
    nativePrecision: 'fp8',
  });
  expect(model_type).toBe('llama');
});

test('layers as a list, a pattern and an interval are the same', () => {
  const windowed = { ...llama, model_type: 'gemma3_text', sliding_window: 16 };
  const named = { sliding: 'sliding_attention', full: 'full_attention' };
  const layer_types = [named.sliding, named.full, named.sliding, named.full];
  const shapes = [
    shapeOf({ ...windowed, layer_types }),
    shapeOf({ ...windowed, sliding_window_pattern: 2 }),
    shapeOf({ ...windowed, sliding_window_pattern: 'LG' }),
  ];
  for (const shape of shapes) expect(shape).toEqual(shapes[0]);
  expect(shapes[0]).toMatchObject({ attentionLayers: 2, slidingLayers: 2, slidingWindow: 16 });
});

test('a window counts where the code of the model keeps to it', () => {
  const sliding = (model_type: string, fields = {}) =>
    shapeOf({ ...llama, sliding_window: 16, max_window_layers: 3, ...fields, model_type }).slidingLayers;
  expect(sliding('mistral')).toBe(4);
  expect(sliding('mistral', { max_position_embeddings: 16 })).toBe(0);
  expect(sliding('llama')).toBe(0);
  expect([sliding('qwen2'), sliding('qwen2', { use_sliding_window: true })]).toEqual([0, 1]);
  const layer_types = ['sliding_attention', 'sliding_attention', 'sliding_attention', 'full_attention'];
  expect([sliding('mine'), sliding('mine', { layer_types })]).toEqual([0, 3]);
});

describe('experts', () => {
  const mixtral = { ...llama, model_type: 'mixtral', num_local_experts: 4, num_experts_per_tok: 1 };
  const deepseek = { n_routed_experts: 4, moe_intermediate_size: 32, n_shared_experts: 2, first_k_dense_replace: 1 };

  it('are as large as an MLP, or as the config says', () => {
    expect(shapeOf(mixtral)).toMatchObject({ moeLayers: 4, experts: 4, expertParameters: 16 * 3 * 64 * 256 });
    const shape = shapeOf({ ...llama, ...deepseek, model_type: 'deepseek_v3', num_experts_per_tok: 2 });
    expect(shape).toMatchObject({ moeLayers: 3, expertParameters: 12 * 3 * 64 * 32 });
    expect(shape.activeParameters).toBe(shape.denseParameters + shape.expertParameters / 2);
    // A dense layer, and three with two shared experts and a router.
    const mlps = 3 * 64 * 256 + 3 * (2 * 3 * 64 * 32 + 4 * 64);
    expect(shape.denseParameters).toBe(4 * (layer - 3 * 64 * 256) + mlps + 64_000);
  });

  it('are refused without their size or number', () => {
    expect(refused({ ...mixtral, num_experts_per_tok: null }).expected).toContain('experts per token');
  });
});

describe('precision', () => {
  const of = (quantization_config: unknown) => shapeOf({ ...llama, quantization_config });
  const weights = (num_bits: number, type: string) => ({ config_groups: { group_0: { weights: { num_bits, type } } } });

  it.each([
    [null, 'bf16'],
    [{ quant_method: 'fp8', fmt: 'e4m3' }, 'fp8'],
    [{ quant_method: 'mxfp4' }, 'fp4'],
    [{ quant_method: 'modelopt', quant_algo: 'NVFP4' }, 'fp4'],
    [{ quant_method: 'awq', bits: 4 }, 'int4'],
    [{ quant_method: 'gptq', bits: 8 }, 'int8'],
    [{ quant_method: 'bitsandbytes', load_in_4bit: true }, 'int4'],
    [{ quant_method: 'compressed-tensors', ...weights(4, 'int') }, 'int4'],
    [{ quant_method: 'compressed-tensors', ...weights(4, 'float') }, 'fp4'],
    [{ quant_method: 'compressed-tensors', ...weights(8, 'int') }, 'int8'],
    [{ quant_method: 'compressed-tensors', ...weights(8, 'float') }, 'fp8'],
  ])('%j is %s', (config, precision) => {
    expect(of(config)).toMatchObject({ nativePrecision: precision, assumed: [] });
  });

  it('is bf16 where nothing is known, and says so', () => {
    expect(of({ quant_method: 'new' })).toMatchObject({
      nativePrecision: 'bf16',
      assumed: ['quantization new is not known: bf16'],
    });
  });
});

describe('an architecture that is not known', () => {
  it('is read like Llama where it is like Llama, and says so', () => {
    const { assumed, ...shape } = shapeOf({ ...llama, model_type: 'mine' }, 'a');
    expect(assumed).toEqual(['model_type mine is read by the names of its fields, as Llama or Mixtral']);
    const { assumed: none, ...same } = shapeOf(llama, 'a');
    expect({ ...shape, family: 'llama' }).toEqual(same);
    expect(none).toEqual([]);
  });

  it.each([
    ['deepseek_v4', { compress_ratios: [0, 4, 128] }],
    ['kimi_linear', { linear_attn_config: { kda_layers: [1, 2] } }],
    ['t5', { is_encoder_decoder: true }],
    ['gemma3n', { hidden_size_per_layer_input: 256 }],
    ['mamba2', { num_attention_heads: null }],
  ])('%s is refused by name', (model_type, fields) => {
    const error = refused({ ...llama, model_type, ...fields });
    expect(error).toMatchObject({ code: 'invalid_input', path: 'config.model_type' });
    expect(error.expected).toContain(modelTypes.join(', '));
  });

  it('of a known one, what is missing or wrong is named', () => {
    expect(refused({ ...llama, vocab_size: undefined }).path).toBe('config.vocab_size');
    expect(refused({ ...llama, intermediate_size: undefined }).path).toBe('config.intermediate_size');
    expect(refused({ ...llama, hidden_size: 'large' }).path).toBe('config.hidden_size');
    expect(refused('llama').path).toBe('config');
  });
});

test('a config as Hugging Face has it gives what the table gives', () => {
  const config = {
    architectures: ['Qwen2ForCausalLM'],
    attention_dropout: 0,
    hidden_act: 'silu',
    hidden_size: 5120,
    intermediate_size: 27_648,
    max_position_embeddings: 131_072,
    max_window_layers: 64,
    model_type: 'qwen2',
    num_attention_heads: 40,
    num_hidden_layers: 64,
    num_key_value_heads: 8,
    rope_theta: 1e6,
    sliding_window: 131_072,
    tie_word_embeddings: false,
    torch_dtype: 'bfloat16',
    use_sliding_window: false,
    vocab_size: 152_064,
  };
  expect(shapeOf(config, 'Qwen/Qwen2.5-32B')).toEqual(modelOf('Qwen2.5-32B'));
});
