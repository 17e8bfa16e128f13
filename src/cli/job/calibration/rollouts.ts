/** Fits the cost model of a job to rollouts that the user has measured. */
import { dirname, isAbsolute, join } from 'node:path';
import { oneLine } from '../../../core/ids/printable.ts';
import { parse } from '../../../core/machine/validate.ts';
import { refuse } from '../../../errors.ts';
import { calibrate } from '../../../sim/calibration/fit.ts';
import { calibrationFileSchema, type MeasuredStep } from '../../../sim/calibration/measured.ts';
import type { Calibration, FittedSeconds } from '../../../sim/calibration/result.ts';
import type { Job } from '../../../sim/colocated/job.ts';
import type { CostModel } from '../../../sim/models/cost-model.ts';
import { inputFiles, readPaths } from '../../files/input/paths.ts';
import { type ReadOptions, readingOf, readTraces } from '../../files/input/read.ts';
import { type JsonFile, readJson } from '../../files/json-file.ts';

/**
 * Returns the job with costs that fit a file of measured rollouts.
 *
 * @param job - the job, with its engines, and the cost model to start from
 * @param steps - the result of {@link readMeasuredFile}
 * @throws PolicyError `invalid_input` with the field for a file without data, `infeasible` where nothing fits
 */
export function calibrated(job: Job, file: string, steps: readonly MeasuredStep[]): Calibration {
  return measuredFile(file).within(() => calibrate(job, steps));
}

/** Returns the path of the file, and the paths of the traces in it. Throws as {@link readMeasuredFile} does. */
export function calibrationFiles(file: string): string[] {
  const measured = measuredFile(file);
  const traces = measured
    .within(() => measuredRollouts(measured))
    .flatMap(({ trace }) => (trace === undefined ? [] : readPaths(inputFiles([traceAt(trace, dirname(file))]))));
  return [file, ...traces];
}

const traceAt = (path: string, folder: string): string => (isAbsolute(path) ? path : join(folder, path));

const measuredFile = (file: string): JsonFile => readJson(file, 'measured rollouts as JSON');
const measuredRollouts = ({ value }: JsonFile) => parse(calibrationFileSchema, value, 'invalid_input').rollouts;

/**
 * Returns the steps in a file, with the lengths from the traces that the file names.
 *
 * @throws PolicyError `invalid_input` with the field for a file without data; the errors of reading a trace; the system's error
 */
export async function readMeasuredFile(file: string, options: ReadOptions): Promise<MeasuredStep[]> {
  const measured = measuredFile(file);
  try {
    return await measuredSteps(measured, dirname(file), options);
  } catch (error) {
    return measured.within(() => {
      throw error;
    });
  }
}

async function measuredSteps(measured: JsonFile, folder: string, options: ReadOptions): Promise<MeasuredStep[]> {
  const steps: MeasuredStep[] = [];
  for (const [index, { prompts, trace, step, seconds, ...others }] of measuredRollouts(measured).entries()) {
    const at = `rollouts[${index}]`;
    const lengths = prompts?.map(({ promptTokens, responses }) => ({ promptTokens, responseTokens: responses }));
    const found = lengths ?? (await tracedLengths(trace!, step, { folder, at, options }));
    const known = Object.fromEntries(Object.entries(others).filter(([, one]) => one !== undefined));
    steps.push({ seconds, prompts: found.map((one) => ({ ...one, promptTokens: one.promptTokens ?? 1 })), ...known });
  }
  return steps;
}

interface Lengths {
  readonly promptTokens: number | undefined;
  readonly responseTokens: readonly number[];
}

/** Reads the lengths of a trace. From an imported trace, reads only one step: the ids of its prompts end with the step number. */
async function tracedLengths(
  path: string,
  step: number | undefined,
  { folder, at, options }: { readonly folder: string; readonly at: string; readonly options: ReadOptions },
): Promise<Lengths[]> {
  const { trace } = (await readTraces([traceAt(path, folder)], readingOf(options), true))[0]!;
  if (trace.kind !== 'prompts') {
    refuse('invalid_input', `${at}.trace`, 'a trace of responses', trace.kind);
  }
  const prompts = trace.prompts.filter(({ prompt }) => step === undefined || prompt.endsWith(`@${step}`));
  if (prompts.length === 0) {
    const expected = `a step of ${path}: prompts whose id ends with @${step}`;
    refuse('invalid_input', `${at}.step`, expected, trace.prompts[0]!.prompt);
  }
  return prompts.map(({ promptTokens, responses }) => ({
    promptTokens,
    responseTokens: responses.map(({ tokens }) => tokens),
  }));
}

/** Returns the calibration as JSON: the whole cost model, and the quality of the fit. */
export function calibrationJson({ job, fitted, training, steps, warnings }: Calibration, file: string): object {
  return { file, fitted, cost: job.cost, training: training ?? null, rollouts: steps, warnings };
}

/** Returns the calibration as text for a reader; `of` is what gives the costs that are not fitted. */
export function calibrationText(
  { job, fitted, training, steps, warnings }: Calibration,
  file: string,
  of: 'preset' | 'model',
): string {
  const { overheadSeconds, fixedRolloutSeconds, rewardTailSeconds, weightSyncSeconds } = job.cost;
  const lines = [
    `Calibrated by ${oneLine(file)}, starting from ${job.name}`,
    `  decode step  ${(1000 * overheadSeconds).toFixed(2)} ms of overhead (host, launches, all-reduce)`,
    `  rollout      ${fixedRolloutSeconds.toFixed(2)} s fixed`,
  ];
  if (training === undefined) lines.push(`  training     as of the ${of}: no trainSeconds were measured`);
  else {
    const { fixedSeconds, secondsPerToken } = training;
    lines.push(
      `  training     ${fixedSeconds.toFixed(2)} s a step, ${(1e6 * secondsPerToken).toFixed(3)} µs a token, passes included`,
    );
  }
  const from = (cost: keyof CostModel): string => (fitted.includes(cost) ? '' : ` (of the ${of})`);
  const rewards = `${rewardTailSeconds.toFixed(1)} s of rewards${from('rewardTailSeconds')}`;
  lines.push(
    `  around       ${rewards}, ${weightSyncSeconds.toFixed(1)} s of weight sync${from('weightSyncSeconds')} a step`,
  );
  for (const { index, responses, longestTokens, rollout, training: trained } of steps) {
    const what = `${responses} responses, longest ${longestTokens}`;
    lines.push(`  rollout ${index + 1}    ${compared(rollout)} (${what})`);
    if (trained !== undefined) lines.push(`  training ${index + 1}   ${compared(trained)}`);
  }
  if (steps.every(({ rollout }) => rollout.use === 'fit')) {
    lines.push('  Two rollouts fit two constants exactly, right or wrong: a third one would be a check.');
  }
  return [...lines, ...warnings.map((one) => `  WARNING: ${one}`)].join('\n');
}

function compared({ use, measuredSeconds, simulatedSeconds, error }: FittedSeconds): string {
  const percent = `${error < 0 ? '-' : '+'}${(100 * Math.abs(error)).toFixed(1)}%`;
  const seconds = `${measuredSeconds.toFixed(1)} s measured, ${simulatedSeconds.toFixed(1)} s simulated`;
  return use === 'fit' ? `${seconds}, fitted` : `${seconds}, a check: ${percent}`;
}
