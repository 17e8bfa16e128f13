/** The vision-language models and GPUs of FlexRL §5.1. */
import { oneOf } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';
import type { EngineShape } from '../models/cost-model.ts';

/** A vision-language model: a dense backbone and a vision tower. */
export interface VlmModel {
  /** Name of the model. */
  readonly id: VlmModelId;
  /** Label for readers, in tables and charts. */
  readonly label: string;
  /** Parameters of the backbone, in billions. */
  readonly billionParameters: number;
  /** Transformer layers of the backbone. */
  readonly layers: number;
  /** Hidden size of the backbone. */
  readonly hiddenSize: number;
  /** Attention heads of the backbone, a number that sharding degrees must divide. */
  readonly attentionHeads: number;
  /** KV heads of the backbone. */
  readonly kvHeads: number;
  /** Dimension of a head. */
  readonly headDimension: number;
  /** Tokens of the vocabulary. */
  readonly vocabulary: number;
  /** Size of the vision tower. */
  readonly vision: { readonly billionParameters: number; readonly layers: number; readonly hiddenSize: number };
  /** GPUs of one inference engine. */
  readonly rolloutTp: number;
  /** Number of GPUs over which training shards its states. */
  readonly fsdp: number;
}

/** Ids of the models. */
export const vlmModelIds = ['mimo-vl-7b', 'qwen2.5-vl-32b'] as const;
/** Id of a model. */
export type VlmModelId = (typeof vlmModelIds)[number];

const vision = { billionParameters: 0.67, layers: 32, hiddenSize: 1280 };

/** The models of the paper: MiMo-VL-7B with TP 4 and FSDP 16, and Qwen2.5-VL-32B with TP 16 and FSDP 64. */
export const vlmModels: readonly VlmModel[] = Object.freeze([
  {
    id: 'mimo-vl-7b',
    label: 'MiMo-VL-7B',
    billionParameters: 7.6,
    layers: 36,
    hiddenSize: 4096,
    attentionHeads: 32,
    kvHeads: 8,
    headDimension: 128,
    vocabulary: 151_680,
    vision,
    rolloutTp: 4,
    fsdp: 16,
  },
  {
    id: 'qwen2.5-vl-32b',
    label: 'Qwen2.5-VL-32B',
    billionParameters: 32.8,
    layers: 64,
    hiddenSize: 5120,
    attentionHeads: 40,
    kvHeads: 8,
    headDimension: 128,
    vocabulary: 152_064,
    vision,
    rolloutTp: 16,
    fsdp: 64,
  },
]);

/** Ids of the GPUs. */
export const vlmGpuIds = ['h800', 'h200'] as const;
/** Id of a GPU. */
export type VlmGpuId = (typeof vlmGpuIds)[number];

/** Memory, bandwidth and dense bf16 speed of the GPUs. */
export const vlmGpus: Readonly<Record<VlmGpuId, EngineShape['gpu']>> = Object.freeze({
  h800: { memoryGb: 80, bandwidthGbps: 3350, tflops: 989, linkGbps: 200 },
  h200: { memoryGb: 141, bandwidthGbps: 4800, tflops: 989 },
});

/** Returns a model by its id. Throws `PolicyError` `unknown_id`. */
export function vlmModel(id: string): VlmModel {
  const found = vlmModels.find((one) => one.id === id);
  if (found !== undefined) return found;
  refuse('unknown_id', 'model', oneOf(vlmModelIds, id), id);
}
