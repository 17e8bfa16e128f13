/** Measured serving runs as in `points.csv`, made fit for the time model: what was counted twice is divided out. */
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { median } from 'simple-statistics';
import { z } from 'zod';
import { PolicyError } from '../../../src/errors.ts';
import type { EngineName } from '../../../src/sim/silicon/constants.ts';
import type { Gpu } from '../../../src/sim/silicon/gpus.ts';
import type { ModelShape, Precision } from '../../../src/sim/silicon/models/model-shape.ts';
import type { ServedModel } from '../../../src/sim/silicon/served-model.ts';
import type { ServingLoad } from '../../../src/sim/silicon/serving.ts';
import { type Doubt, doubtOf } from './doubts.ts';
import { layoutOf } from './layout.ts';
import { engineIn, gpuIn, modelIn, precisionIn } from './words.ts';

/** What files write where they know nothing. */
const nothing = /^(|-|nan|none|null|n\/a|undefined)$/i;
const text = z
  .string()
  .default('')
  .transform((one) => (nothing.test(one.trim()) ? '' : one.trim()));
const rank = text.transform((one) => Math.max(1, Number(one === '' ? 1 : one))).pipe(z.int());
const milliseconds = text
  .transform((one) => Number(one))
  .pipe(z.number().nonnegative())
  .transform((one) => (one === 0 ? undefined : one));

/** A line of the file; empty counts of ranks mean one, empty times were not measured. */
const line = z.object({
  model: z.string().trim().min(1),
  gpu: z.string().trim().min(1),
  engine: text,
  engineVersion: text,
  precision: text,
  promptTokens: z.coerce.number().nonnegative(),
  responseTokens: z.coerce.number().nonnegative(),
  concurrency: z.coerce.number().positive(),
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
  /** Pipeline stages, each with the GPUs of `served`. */
  readonly stages: number;
  readonly load: ServingLoad;
  /** Undefined if it was not measured; so is the next. */
  readonly tpotSeconds: number | undefined;
  readonly ttftSeconds: number | undefined;
  /** Why the run is doubted, by its inputs alone; undefined if it is not. */
  readonly doubt: Doubt | undefined;
  /** What the file does not say, or says in a way that may mean something else. */
  readonly assumed: readonly string[];
}

/** A line that cannot be read, and why. */
export interface RefusedLine {
  readonly line: number;
  readonly why: string;
}

function engineOf({ engine }: Line, assumed: string[]): EngineName {
  const found = engineIn(engine);
  if (found !== undefined) return found;
  assumed.push(`engine ${engine === '' ? 'not said' : engine}: as vLLM`);
  return 'vllm';
}

function precisionOf({ precision }: Line, published: Precision, assumed: string[]): Precision {
  const found = precisionIn(precision);
  if (precision !== '' && found === undefined) assumed.push(`precision ${precision}: as published`);
  return found ?? published;
}

function pointOf(one: Line): Point {
  const { promptTokens, responseTokens, engineVersion } = one;
  const found = modelIn(one.model);
  const { shape: model } = found;
  const { gpu, assumed: asGpu } = gpuIn(one.gpu);
  const assumed = [...model.assumed, ...(asGpu === undefined ? [] : [asGpu])];
  const engine = engineOf(one, assumed);
  const precision = precisionOf(one, found.precision ?? model.nativePrecision, assumed);
  const layout = layoutOf(one, {
    gpusPerDomain: gpu.gpusPerDomain,
    isMixture: model.experts > 0,
    dividesTensorParallel: engine !== 'vllm',
  });
  if (layout.assumed !== undefined) assumed.push(layout.assumed);
  const { gpus, stages, attentionRanks, concurrency } = layout;
  const isQuantized = precision === 'fp8' || precision === 'fp4';
  const served: ServedModel = {
    model,
    // All stages hold the weights and the cache together.
    gpu: stages === 1 ? gpu : { ...gpu, memoryGb: gpu.memoryGb * stages },
    precision,
    // TensorRT-LLM's quantized checkpoints carry scales for an fp8 cache.
    kvPrecision: engine === 'trtllm' && isQuantized ? 'fp8' : 'bf16',
    gpus,
    attentionRanks,
  };
  return {
    model,
    gpu,
    engine,
    engineVersion,
    served,
    stages,
    load: { concurrency, attentionRanks, promptTokens, responseTokens },
    // A single token has none after it.
    tpotSeconds: one.tpotMs === undefined || responseTokens <= 1 ? undefined : one.tpotMs / 1000,
    ttftSeconds: one.ttftMs === undefined ? undefined : one.ttftMs / 1000,
    doubt: doubtOf({ ...one, engine, model, gpu, gpus, precision }),
    assumed,
  };
}

function whyOf(error: unknown): string {
  if (error instanceof PolicyError && error.code === 'unknown_id') return `${error.path} ${error.got} is not known`;
  if (!(error instanceof z.ZodError)) return String(error);
  return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
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
      refused.push({ line: index + 2, why: whyOf(error) });
    }
  }
  return { points, refused };
}

/** Models of one architecture and size are a family: R1, V3 and quantized copies too. */
export const familyOf = ({ model }: Point): string =>
  `${model.family} ${Number((model.totalParameters / 1e9).toPrecision(2))}B`;

/** What is left out of a fit together. */
export const configurationOf = (point: Point): string => `${familyOf(point)}, ${point.gpu.id}, ${point.engine}`;

/** The points of a list by a name of each. */
export function groupedBy<T>(list: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const name = key(one);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return groups;
}

function medianOf(list: readonly Point[], of: (one: Point) => number | undefined): number | undefined {
  const measured = list.map(of).filter((one) => one !== undefined);
  return measured.length === 0 ? undefined : median(measured);
}

/** Runs with identical inputs count once, with their median. */
export function distinctPoints(points: readonly Point[]): Point[] {
  const alike = groupedBy(points, (point) => {
    const { served, load, stages } = point;
    return JSON.stringify([configurationOf(point), point.engineVersion, served.precision, served.gpus, stages, load]);
  });
  return [...alike.values()].map((list) => ({
    ...list[0]!,
    tpotSeconds: medianOf(list, (one) => one.tpotSeconds),
    ttftSeconds: medianOf(list, (one) => one.ttftSeconds),
  }));
}

/** What the constants are fitted on: runs that nobody doubts, identical ones once. */
export const fittedPoints = (points: readonly Point[]): Point[] =>
  distinctPoints(points.filter(({ doubt }) => doubt === undefined));
