/** Measured serving runs as in `points.csv`, made fit for the time model: what was counted twice is divided out. */
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { type EngineName, engineNames } from '../../../src/sim/silicon/constants.ts';
import { type Gpu, gpuOf } from '../../../src/sim/silicon/gpus.ts';
import { resolveModel } from '../../../src/sim/silicon/model-names.ts';
import type { ModelShape, Precision } from '../../../src/sim/silicon/model-shape.ts';
import type { ServedModel } from '../../../src/sim/silicon/served-model.ts';
import type { ServingLoad } from '../../../src/sim/silicon/serving.ts';

const count = z.coerce.number().int().nonnegative();
const rank = z
  .string()
  .trim()
  .transform((text) => Math.max(1, Number(text === '' ? 1 : text)))
  .pipe(z.int());
const milliseconds = z.coerce.number().positive();

/** A line of the file; empty counts of ranks mean one. */
const line = z.object({
  model: z.string().min(1),
  gpu: z.string().min(1),
  engine: z.string().trim().toLowerCase().pipe(z.enum(engineNames)),
  engineVersion: z.string(),
  precision: z.string().trim().toLowerCase(),
  promptTokens: count,
  responseTokens: count.min(1),
  concurrency: count.min(1),
  tensorParallel: rank,
  pipelineParallel: rank,
  attentionDataParallel: rank,
  moeTensorParallel: rank,
  moeExpertParallel: rank,
  ttftMs: milliseconds,
  tpotMs: milliseconds,
});
type Line = z.output<typeof line>;

/** A measured run. */
export interface Point {
  readonly model: ModelShape;
  readonly gpu: Gpu;
  readonly engine: EngineName;
  readonly engineVersion: string;
  readonly served: ServedModel;
  readonly load: ServingLoad;
  readonly tpotSeconds: number;
  readonly ttftSeconds: number;
  /** Why the run is doubted, by its inputs alone; undefined if it is not. */
  readonly doubt: string | undefined;
}

/** A line that cannot be read, and why. */
export interface RefusedLine {
  readonly line: number;
  readonly why: string;
}

/**
 * GPUs of the engine, attention ranks, and clients. Some files count TP × EP, or TP × attention DP, twice: `TP 64, MoE TP 8, EP 8` is
 * eight GPUs, and `TP 4, DP 4` is four. Where the ranks were counted twice as well, the clients are those of one rank.
 */
function layoutOf(one: Line, gpu: Gpu, isMixture: boolean) {
  const { tensorParallel: tp, pipelineParallel, attentionDataParallel: dp, concurrency } = one;
  const { moeTensorParallel: moeTp, moeExpertParallel: ep } = one;
  const counted = tp * dp;
  if (dp > 1 && tp === dp) return { gpus: tp * pipelineParallel, attentionRanks: dp, concurrency };
  const isTwice =
    isMixture && ep > 1 && counted === moeTp * ep && (counted > gpu.gpusPerDomain || (moeTp === ep && ep > 2));
  if (!isTwice) return { gpus: counted * pipelineParallel, attentionRanks: dp, concurrency };
  const gpus = counted / ep;
  if (dp === 1) return { gpus, attentionRanks: 1, concurrency };
  const attentionRanks = Math.min(dp, gpus);
  return { gpus, attentionRanks, concurrency: concurrency * attentionRanks };
}

const precisions: Readonly<Record<string, Precision>> = {
  bf16: 'bf16',
  fp16: 'bf16',
  float16: 'bf16',
  bfloat16: 'bf16',
  fp8: 'fp8',
  fp8_block: 'fp8',
  w8a8: 'fp8',
  int8: 'int8',
  fp4: 'fp4',
  nvfp4: 'fp4',
  mxfp4: 'fp4',
  int4: 'int4',
  w4a16: 'int4',
};

/**
 * Says why a run is doubted. The list was made before anything was fitted, of columns that are inputs: speculation that is not
 * recorded, preview versions, engines across more GPUs than one node has, more clients than were ever let in at once.
 */
function doubtOf(
  { engine, engineVersion, concurrency, promptTokens, responseTokens }: Line,
  { model, gpu }: { readonly model: ModelShape; readonly gpu: Gpu },
  { precision, gpus }: ServedModel,
) {
  const isOf = (family: RegExp) => family.test(model.name);
  if (isOf(/deepseek/i) && engine === 'trtllm' && engineVersion === '1.2.0rc6.post3')
    return 'speculation, not recorded';
  if (isOf(/qwen3\.5/i) && gpu.id === 'b200-sxm' && precision === 'fp8' && gpus === 4) {
    return 'speculation, not recorded';
  }
  if (gpu.id === 'gb200' && gpus >= 12) return 'more GPUs than a node, its layout not recorded';
  if (engineVersion === '1.3.0rc1') return 'a preview version';
  if (isOf(/gpt-oss/i) && gpu.id === 'h100-sxm' && concurrency >= 512) return 'fewer sequences run than clients wait';
  return promptTokens < 1 || responseTokens < 2 ? 'no prompt, or a single token' : undefined;
}

function pointOf(one: Line): Point {
  const found = resolveModel(one.model);
  const gpu = gpuOf(one.gpu);
  const precision = one.precision === '' ? (found.precision ?? found.shape.nativePrecision) : precisions[one.precision];
  if (precision === undefined) throw new Error(`precision ${one.precision} is not known`);
  const { gpus, attentionRanks, concurrency } = layoutOf(one, gpu, found.shape.experts > 0);
  const isQuantized = precision === 'fp8' || precision === 'fp4';
  const served: ServedModel = {
    model: found.shape,
    gpu,
    precision,
    // TensorRT-LLM's quantized checkpoints carry scales for an fp8 cache.
    kvPrecision: one.engine === 'trtllm' && isQuantized ? 'fp8' : 'bf16',
    gpus,
    attentionRanks,
  };
  return {
    model: found.shape,
    gpu,
    engine: one.engine,
    engineVersion: one.engineVersion,
    served,
    load: { concurrency, attentionRanks, promptTokens: one.promptTokens, responseTokens: one.responseTokens },
    tpotSeconds: one.tpotMs / 1000,
    ttftSeconds: one.ttftMs / 1000,
    doubt: doubtOf(one, { model: found.shape, gpu }, served),
  };
}

/** Reads a file; an empty precision is that in which the model is published. */
export function readPoints(path: string): { readonly points: Point[]; readonly refused: RefusedLine[] } {
  const rows: unknown[] = parse(readFileSync(path), { columns: true, skip_empty_lines: true, bom: true });
  const points: Point[] = [];
  const refused: RefusedLine[] = [];
  for (const [index, row] of rows.entries()) {
    try {
      points.push(pointOf(line.parse(row)));
    } catch (error) {
      refused.push({ line: index + 2, why: error instanceof z.ZodError ? z.prettifyError(error) : String(error) });
    }
  }
  return { points, refused };
}

/** Models of one architecture and size are a family: R1, V3 and quantized copies too. */
export const familyOf = ({ model }: Point): string =>
  `${model.family} ${(model.totalParameters / 1e9).toPrecision(2)}B`;

/** What is left out of a fit together. */
export const configurationOf = (point: Point): string => `${familyOf(point)}, ${point.gpu.id}, ${point.engine}`;

/** Runs with identical inputs count once, with their median. */
export function distinctPoints(points: readonly Point[]): Point[] {
  const alike = new Map<string, Point[]>();
  for (const point of points) {
    const { served, load } = point;
    const key = JSON.stringify([configurationOf(point), point.engineVersion, served.precision, served.gpus, load]);
    const found = alike.get(key);
    if (found === undefined) alike.set(key, [point]);
    else found.push(point);
  }
  const medianOf = (list: readonly Point[], by: (one: Point) => number): number => {
    const sorted = list.map(by).sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  };
  return [...alike.values()].map((list) => ({
    ...list[0]!,
    tpotSeconds: medianOf(list, (one) => one.tpotSeconds),
    ttftSeconds: medianOf(list, (one) => one.ttftSeconds),
  }));
}
