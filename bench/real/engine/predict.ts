/** Predicts rollouts of a real engine by the model as it was calibrated there, and tells how near that was. */
import { mean, median } from 'simple-statistics';
import { machinePrior } from '../../../src/sim/calibration/machine.ts';
import { machinesOf } from '../../../src/sim/calibration/machines.ts';
import { calibrateOnSite, type OnSiteCalibration } from '../../../src/sim/calibration/on-site.ts';
import { defineJob, type Job } from '../../../src/sim/colocated/job.ts';
import { DecodeEngine } from '../../../src/sim/engine/decode-engine.ts';
import { type CostModel, costModelOf } from '../../../src/sim/models/cost-model.ts';
import { siliconConstants } from '../../../src/sim/silicon/constants.ts';
import { shapeOf } from '../../../src/sim/silicon/models/model-config.ts';
import { engineCosts } from '../../../src/sim/silicon/served-model.ts';
import type { MeasuredRollout, Size } from './rollouts.ts';
import { mostRunning } from './server.ts';
import type { EngineStudy } from './study.ts';

/** Seconds of a rollout. */
export interface Seconds {
  /** Until its last response was complete. */
  readonly all: number;
  /** Of these, after the moment from which no request waited. */
  readonly draining: number;
  /** Of these, after the moment from which fewer ran than half of what the engine runs at once. */
  readonly tail: number;
}

/** Returns the seconds of a rollout from the seconds at which its responses were complete. */
export function secondsOf(ends: readonly number[]): Seconds {
  const sorted = [...ends].sort((a, b) => a - b);
  const all = sorted.at(-1)!;
  const since = (unfinished: number): number => all - (sorted[sorted.length - unfinished - 1] ?? 0);
  return { all, draining: since(mostRunning), tail: since(mostRunning / 2 - 1) };
}

/** No processor is in the table of GPUs: about one core of a server, of which the engine has one thread. */
const processor = { label: 'one core', memoryGb: 4, bandwidthGbps: 15, tflops: 0.1, linkGbps: 1 };

/** The job of a model on a processor, before anything was measured. */
export function modelledJob(config: unknown): Job {
  const served = { model: shapeOf(config, 'tiny'), gpu: processor, precision: 'bf16', gpus: 1 } as const;
  const cost: CostModel = {
    ...costModelOf(engineCosts(served)),
    maxRunningSequences: mostRunning,
    fixedRolloutSeconds: siliconConstants.firstToken.vllm.seconds,
  };
  const shape = { engines: 1, promptsPerRound: 1, responsesPerPrompt: 1 };
  return defineJob({ name: 'a tiny Qwen2 on a processor', ...shape, cost, outside: ['a processor in place of a GPU'] });
}

/** Returns the seconds of a rollout on an engine with these costs. */
export function predictedSeconds(cost: CostModel, sizes: readonly Size[]): Seconds {
  const engine = new DecodeEngine('engine', cost);
  for (const [index, size] of sizes.entries()) engine.add({ requestId: `r${index}`, ...size }, 0);
  const ends = engine.advanceTo(Number.POSITIVE_INFINITY).map(({ at }) => at + cost.fixedRolloutSeconds);
  return secondsOf(ends);
}

const parts = ['all', 'draining', 'tail'] as const;
type Part = (typeof parts)[number];
const z95 = 1.959964;

/** A part of a rollout, predicted with its interval beside what was measured. */
export interface Predicted {
  readonly measured: number;
  readonly predicted: number;
  readonly low: number;
  readonly high: number;
}

/** Returns the predictions of a rollout: the interval covers the machine, and what its factors leave open at one load. */
export function predictedRollout(job: Job, { sizes, endSeconds }: MeasuredRollout): Record<Part, Predicted> {
  const measured = secondsOf(endSeconds);
  const [asSaid, ...others] = machinesOf(job).map(({ cost }) => predictedSeconds(cost, sizes));
  const one = (part: Part): Predicted => {
    const predicted = asSaid![part];
    const variance = others.reduce(
      (sum, other) => sum + Math.log(other[part] / predicted) ** 2,
      machinePrior.load ** 2,
    );
    const wide = Math.exp(z95 * Math.sqrt(variance));
    return { measured: measured[part], predicted, low: predicted / wide, high: predicted * wide };
  };
  return { all: one('all'), draining: one('draining'), tail: one('tail') };
}

/** How near predictions were; shares, not percent. */
export interface Nearness {
  readonly medianError: number;
  /** Median of predicted ÷ measured − 1. */
  readonly bias: number;
  /** Share in the interval of 95 %. */
  readonly coverage: number;
  /** Mean of its upper ÷ lower end. */
  readonly width: number;
}

function nearnessOf(list: readonly Predicted[]): Nearness {
  const errors = list.map(({ measured, predicted }) => predicted / measured - 1);
  const sizes = errors.map(Math.abs);
  return {
    medianError: median(sizes),
    bias: median(errors),
    coverage: list.filter(({ measured, low, high }) => measured >= low && measured <= high).length / list.length,
    width: mean(list.map(({ low, high }) => high / low)),
  };
}

/** Returns how near a job is to the rollouts, by part. */
export function nearness(job: Job, rollouts: readonly MeasuredRollout[]): Record<Part, Nearness> {
  const list = rollouts.map((one) => predictedRollout(job, one));
  const of = (part: Part): Nearness => nearnessOf(list.map((one) => one[part]));
  return { all: of('all'), draining: of('draining'), tail: of('tail') };
}

/** The model of the study, calibrated by its points. */
export const calibratedOn = ({ config, points }: EngineStudy): OnSiteCalibration =>
  calibrateOnSite(modelledJob(config), points);

/** A share of what is left of a prediction, below which responses have not come as the engine made them. */
const held = 0.25;

/** What is told of the study. */
export interface EngineResults {
  /** By model and rollouts. */
  readonly rows: readonly (readonly [name: string, by: Record<Part, Nearness>])[];
  /** Rollouts whose last responses came all at once. */
  readonly heldBack: number;
}

/** Returns what a study tells. */
export function resultsOf(study: EngineStudy): EngineResults {
  const { config, rollouts, during } = study;
  const { job } = calibratedOn(study);
  const half = rollouts.length / 2;
  const own = calibrateOnSite(modelledJob(config), during.flat()).job;
  return {
    rows: [
      ['as modelled', nearness(modelledJob(config), rollouts)],
      ['calibrated', nearness(job, rollouts)],
      ['calibrated, the first half', nearness(job, rollouts.slice(0, half))],
      ['calibrated, the second half', nearness(job, rollouts.slice(half))],
      ['by points of the rollouts themselves: no prediction', nearness(own, rollouts)],
    ],
    heldBack: rollouts.filter((one) => {
      const { measured, predicted } = predictedRollout(job, one).tail;
      return measured < held * predicted;
    }).length,
  };
}
