/** `rollflex vlm`: simulates the time that FlexRL saves in a VLM RL step. */
import { basename } from 'node:path';
import { refuse } from '../../errors.ts';
import { hasKeys } from '../../sim/trace/format.ts';
import { formatOf } from '../../sim/trace/import/format-of.ts';
import { compareVlm } from '../../sim/vlm-formulas/compare.ts';
import type { VlmGpuId, VlmModelId } from '../../sim/vlm-formulas/models.ts';
import type { VlmComparison } from '../../sim/vlm-formulas/result.ts';
import { checkDegree, fixedUlysses, vlmSchedulers } from '../../sim/vlm-formulas/scheduler.ts';
import { defineVlmJob, type VlmJob } from '../../sim/vlm-formulas/settings.ts';
import {
  mixtureIds,
  mixtureWorkload,
  recordedVlmWorkload,
  textVlmWorkload,
} from '../../sim/vlm-formulas/workload/mixtures.ts';
import type { VlmWorkload } from '../../sim/vlm-formulas/workload/sample.ts';
import { readVlmTrace } from '../../sim/vlm-formulas/workload/trace.ts';
import type { NamedTrace } from '../../sim/workload/of-trace.ts';
import { traceWorkload, usualWorkload } from '../../sim/workload/of-trace.ts';
import { inputFiles } from '../files/input/paths.ts';
import { readTraces } from '../files/input/read.ts';
import { recordsOf, textOf, unheard } from '../files/input/records.ts';
import { bundledVisionSources, heavyTailTrace, readTraceFile } from '../files/traces.ts';
import { checkOutputs } from '../files/written.ts';
import { present, type ResultOptions } from '../job/simulation.ts';
import { vlmTexts } from './text.ts';

/** Ids of the bundled workloads. */
export const bundledVlmIds = [...mixtureIds, 'text'] as const;
/** Id of a bundled workload. */
export type BundledVlmId = (typeof bundledVlmIds)[number];

/** Options as the command line gives them. */
export interface VlmOptions extends ResultOptions {
  readonly mixture?: BundledVlmId;
  readonly frames: number;
  /** Default 1024, as in FlexRL; for text 16,384. */
  readonly cap?: number;
  readonly model: VlmModelId;
  readonly gpu: VlmGpuId;
  readonly gpus: number;
  readonly gpusPerNode: number;
  readonly batch: number;
  readonly controllerMemory: number;
  readonly nodeMemory: number;
  readonly degree?: number;
  readonly steps: number;
  readonly seed: number;
}

/** Defaults: the longest response in FlexRL §5.1, the longest response of text workloads, and the responses per text prompt. */
const defaultCap = 1024;
const defaultTextCap = 16_384;
const responsesPerPrompt = 8;

type Draw = Pick<VlmOptions, 'frames' | 'cap' | 'seed'>;

function textWorkload(trace: NamedTrace, { cap: capTokens = defaultTextCap, seed }: Draw): VlmWorkload {
  const workload = traceWorkload(trace, { ...usualWorkload, capTokens })(seed);
  return textVlmWorkload(workload, responsesPerPrompt);
}

function bundled(id: BundledVlmId, draw: Draw): VlmWorkload {
  if (id === 'text') return textWorkload(readTraceFile(heavyTailTrace()), draw);
  const { frames: maxFrames, cap: capTokens = defaultCap, seed } = draw;
  return mixtureWorkload(id, { sources: bundledVisionSources(), maxFrames, capTokens, seed });
}

/** Reads a file of sequences, or any trace of responses as a text workload. */
async function fromFile(path: string, draw: Draw): Promise<VlmWorkload> {
  const lines = path === '-' ? undefined : await sequencesAt(path);
  if (lines === undefined) return textWorkload((await readTraces([path], {}, true))[0]!, draw);
  const samples = readVlmTrace(lines.join('\n'), basename(path), { maxFrames: draw.frames, capTokens: draw.cap });
  return recordedVlmWorkload(basename(path).replace(/\.jsonl(\.gz)?$/, ''), samples, draw.seed);
}

/**
 * Whether a line belongs to a trace of responses. Any other line is read as a sequence, and the reader of sequences reports its
 * errors.
 */
function isTrace(line: string, path: string): boolean {
  if (hasKeys(line, ['responseTokens'])) return false;
  try {
    return formatOf(line, path) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the lines of a file of sequences, by line; nothing for another kind of file. */
async function sequencesAt(path: string): Promise<string[] | undefined> {
  const [file, ...more] = inputFiles([path]);
  const lines: string[] = [];
  let isFirst = true;
  if (more.length > 0) return undefined;
  for await (const records of recordsOf(file!, unheard())) {
    for (const record of records) {
      const [text, { number }] = [textOf(record), record];
      if (isFirst && text.trim() !== '' && isTrace(text.trim(), path)) return undefined;
      if (text.trim() !== '') isFirst = false;
      lines[number - 1] = text;
    }
  }
  return lines;
}

/** Most sequences that a run may place; more would take hours. */
const mostSequences = 5_000_000;

function checkSize({ batch, steps }: VlmOptions): void {
  if (batch * steps <= mostSequences) return;
  const expected = `at most ${mostSequences}`;
  refuse('limit_exceeded', 'sequences of all steps', expected, batch * steps);
}

function jobOf(options: VlmOptions): VlmJob {
  return defineVlmJob({
    model: options.model,
    gpu: options.gpu,
    gpus: options.gpus,
    gpusPerNode: options.gpusPerNode,
    batchSequences: options.batch,
    controllerMemoryGb: options.controllerMemory,
    nodeMemoryGb: options.nodeMemory,
  });
}

/** Returns the bundled workloads on a job of FlexRL's Table 2, with 64 GPUs and few steps, for a report beside other workloads. */
export function bundledVlm(seed: number): (() => VlmComparison)[] {
  const job = defineVlmJob({ gpus: 64, batchSequences: 128 });
  return bundledVlmIds.map((id) => () => compareVlm({ job, workload: bundled(id, { frames: 128, seed }), steps: 3 }));
}

/** Runs the simulation, prints it, and writes the requested files. */
export async function runVlm(path: string | undefined, options: VlmOptions): Promise<void> {
  checkOutputs({ '--report': options.report }, path === undefined ? [] : [path]);
  const job = jobOf(options);
  checkSize(options);
  if (options.degree !== undefined) checkDegree(options.degree, job, 'degree');
  if (path !== undefined && options.mixture !== undefined) {
    const expected = 'a file, or --mixture, not both';
    refuse('invalid_input', '--mixture', expected, path);
  }
  const ids = options.mixture === undefined ? bundledVlmIds : [options.mixture];
  const workloads = path === undefined ? ids.map((id) => bundled(id, options)) : [await fromFile(path, options)];
  const { steps, degree } = options;
  const fixed = degree === undefined ? [] : [fixedUlysses(degree), fixedUlysses(degree, 'shadow-loader')];
  const added = fixed.filter((one) => vlmSchedulers.every((known) => known.id !== one.id));
  const fit = vlmSchedulers.filter((one) => one.degree <= job.gpus);
  const schedulers = [...fit.slice(0, -1), ...added, ...fit.slice(-1)];
  const comparisons = workloads.map((workload) => compareVlm({ job, workload, steps, schedulers }));
  await present('vlm', comparisons, vlmTexts, options);
}
