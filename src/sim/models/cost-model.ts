/**
 * The cost of an inference engine and of a training step. A decode step with b running sequences and C context tokens takes
 *
 * α(b) + γ · C,  α(b) = max(weights(b), b · computeSecondsPerSequence) + overheadSeconds + b · secondsPerSequence
 *
 * where weights(b) = memoryBoundSeconds + expertSeconds · (1 − expertMissShare^b): the more sequences, the more experts are read.
 * This is a roofline model with lower bounds on the times of kernels: without these (attention and layer launches, all-reduce, the
 * host), the model would be 1.4 to 1.9 times too fast.
 */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { type EngineCosts, engineCosts, type ServedShape } from '../silicon/served-model.ts';
import { draftSettings } from './draft-settings.ts';

const cost = z.number().nonnegative();

/** Schema of a cost model. */
export const costModelSchema = z.strictObject({
  gpus: z.int().positive().default(1).describe('GPUs of one engine (its tensor parallelism).'),
  memoryBoundSeconds: z
    .number()
    .positive()
    .describe('Seconds of a decode step for reading the weights once, routed experts aside.'),
  expertSeconds: cost
    .default(0)
    .describe('Seconds of a decode step for reading all routed experts; 0 for a dense model.'),
  expertMissShare: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('Chance that a token does not visit a routed expert: 1 − experts per token ÷ experts.'),
  computeSecondsPerSequence: cost.describe('Seconds of a decode step for each sequence, once compute binds.'),
  overheadSeconds: cost.describe('Seconds of a decode step for the host, kernel launches and all-reduce.'),
  secondsPerSequence: cost.describe('Further seconds of a decode step for each sequence.'),
  secondsPerContextToken: cost.describe('γ: seconds of a decode step for each context token (reading its KV).'),
  prefillSecondsPerToken: cost.describe('Seconds of prefill for each token.'),
  prefillSecondsPerSquaredToken: cost
    .default(0)
    .describe('Further seconds of the prefill of a sequence per square of its tokens (attention).'),
  prefillInterference: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of a prefill by which running sequences are delayed: chunked prefill hides the rest.'),
  kvCapacityTokens: z.int().positive().describe('Tokens of KV cache that fit on the engine.'),
  maxRunningSequences: z.int().positive().default(256).describe('Most sequences that run at once.'),
  watermark: z.number().min(0).lt(1).default(0.01).describe('Share of the KV cache kept free at admission.'),
  drafts: draftSettings.optional().describe('Speculative decoding; none if absent.'),
  fixedRolloutSeconds: cost.default(0).describe('Seconds of every rollout before the first token.'),
  rewardTailSeconds: cost.default(0).describe('Seconds from the last response of a round to its reward.'),
  trainBaseSeconds: cost
    .default(0)
    .describe('Seconds of every training step, whatever its size: what comes once all gradients are there.'),
  trainSecondsPerResponse: cost
    .default(0)
    .describe('Seconds of gradients for each kept response, whatever its length, over all GPUs (padding, launches).'),
  trainSecondsPerToken: cost.default(0).describe('Seconds of gradients for each kept token, over all GPUs.'),
  referenceSecondsPerToken: cost
    .default(0)
    .describe('Seconds of the pass of the reference model for each kept token, over all GPUs; 0 if there is none.'),
  logProbSecondsPerToken: cost
    .default(0)
    .describe('The same for the pass of the actor that gives the log-probabilities before the update.'),
  referenceSwapSeconds: cost
    .default(0)
    .describe('Seconds to put the weights of the reference model in the place of the actor, and again to go back.'),
  weightSyncSeconds: cost.default(0).describe('Seconds to bring new weights to the engines.'),
});

/** A cost model with its defaults filled in. */
export type CostModel = z.output<typeof costModelSchema>;

/** Returns the seconds of reading the weights for a step of so many sequences. */
export function weightSeconds(
  { memoryBoundSeconds, expertSeconds, expertMissShare }: EngineCosts,
  running: number,
): number {
  return expertSeconds === 0
    ? memoryBoundSeconds
    : memoryBoundSeconds + expertSeconds * (1 - expertMissShare ** running);
}

/** Returns the seconds of a decode step of so many sequences with so many context tokens together. */
export function secondsOfDecodeStep(cost: EngineCosts, running: number, contextTokens: number): number {
  return passBaseSeconds(cost, running, running) + cost.secondsPerContextToken * contextTokens;
}

/** Returns the seconds of the prefill of one sequence, without what it shares with others. */
export function secondsOfPrefill(
  { prefillSecondsPerToken, prefillSecondsPerSquaredToken }: EngineCosts,
  tokens: number,
): number {
  return tokens * (prefillSecondsPerToken + tokens * prefillSecondsPerSquaredToken);
}

/** Returns α(b): the part of a decode step that does not depend on the context, in seconds. */
export function baseSeconds(cost: CostModel, running: number): number {
  return passBaseSeconds(cost, running, running);
}

/** Returns the same for a pass that computes so many tokens of so many sequences: drafts are verified several at a time. */
export function passBaseSeconds(cost: EngineCosts, sequences: number, tokens: number): number {
  const bound = Math.max(weightSeconds(cost, tokens), tokens * cost.computeSecondsPerSequence);
  return bound + cost.overheadSeconds + sequences * cost.secondsPerSequence;
}

/** A trained batch: its size. */
export interface TrainedBatch {
  readonly responses: number;
  readonly tokens: number;
}

/** Returns the seconds that all GPUs need for the passes before the gradients of a batch: reference model and log-probabilities. */
export function passSeconds(cost: CostModel, { tokens }: TrainedBatch): number {
  if (tokens === 0) return 0;
  const { referenceSecondsPerToken, logProbSecondsPerToken } = cost;
  return swapSeconds(cost) + tokens * (referenceSecondsPerToken + logProbSecondsPerToken);
}

/** Returns the seconds to load the weights of the reference model, and those of the actor again; 0 without a reference model. */
export function swapSeconds({ referenceSecondsPerToken, referenceSwapSeconds }: CostModel): number {
  return referenceSecondsPerToken > 0 ? 2 * referenceSwapSeconds : 0;
}

/** Returns the seconds that all GPUs need for the gradients of a batch. */
export function gradientSeconds(cost: CostModel, { responses, tokens }: TrainedBatch): number {
  return responses * cost.trainSecondsPerResponse + tokens * cost.trainSecondsPerToken;
}

/** A dense transformer in bf16, and the GPUs of one engine. `rollflex/sim` has a table of models and GPUs, too: `clusterJob`. */
export interface EngineShape {
  /** Parameters of the model, in billions. */
  readonly billionParameters: number;
  /** Transformer layers. */
  readonly layers: number;
  /** KV heads of a layer, over all shards. */
  readonly kvHeads: number;
  /** Dimension of a head. */
  readonly headDimension: number;
  /** Values of a token between layers; by default what twelve matrices of this size a layer make of the parameters. */
  readonly hiddenSize?: number;
  /** GPUs of one engine. */
  readonly tensorParallel: number;
  /**
   * Memory of one GPU, in GB as its maker counts, and its bandwidth, in GB/s; dense bf16 speed, in TFLOP/s; bandwidth of its links to
   * other GPUs, one way, in GB/s (450 by default, as on H100).
   */
  readonly gpu: {
    readonly memoryGb: number;
    readonly bandwidthGbps: number;
    readonly tflops: number;
    readonly linkGbps?: number;
  };
  /** Seconds of host work per decode step, beside what is usual for vLLM: the only number that is calibrated for each setup. */
  readonly hostSeconds: number;
}

/** Bytes of a bf16 value. */
export const bytesPerValue = 2;
/** Share of the GPU memory that weights and KV cache of a rollout engine use beside a trainer. */
export const memoryUtilization = 0.8;

/**
 * Returns engine costs derived from the shapes of model and GPUs; training and other times stay 0 until given.
 *
 * @throws PolicyError `infeasible` if the weights leave no room for a KV cache; `invalid_input` for impossible numbers, with the
 *   resulting cost as the path
 */
export function deriveCostModel(shape: EngineShape): CostModel {
  const { tensorParallel: gpus, gpu, hostSeconds } = shape;
  const { linkGbps = 450, ...speeds } = gpu;
  const served = { model: denseShape(shape), precision: 'bf16', gpus, memoryUtilization } as const;
  return costModelOf(engineCosts({ ...served, gpu: { ...speeds, linkGbps, label: 'GPU' } }), hostSeconds);
}

/** Returns a cost model of the costs of an engine, and of further seconds of the host per decode step. */
export function costModelOf(costs: EngineCosts, hostSeconds = 0): CostModel {
  return parse(costModelSchema, { ...costs, overheadSeconds: costs.overheadSeconds + hostSeconds }, 'invalid_input');
}

/** Sizes of a dense transformer whose embeddings are among its parameters. */
function denseShape({ billionParameters, layers, kvHeads, headDimension, hiddenSize }: EngineShape): ServedShape {
  const parameters = billionParameters * 1e9;
  const hidden = hiddenSize ?? Math.sqrt(parameters / (12 * layers));
  return {
    layers,
    attentionLayers: layers,
    linearLayers: 0,
    moeLayers: 0,
    slidingWindow: 0,
    hiddenSize: hidden,
    heads: hidden / headDimension,
    kvHeads,
    headDimension,
    mla: undefined,
    experts: 0,
    expertsPerToken: 0,
    denseParameters: parameters,
    expertParameters: 0,
    embeddingParameters: 0,
    kvValuesPerToken: 2 * layers * kvHeads * headDimension,
    slidingKvValuesPerToken: 0,
    linearStateValues: 0,
    nativePrecision: 'bf16',
  };
}
