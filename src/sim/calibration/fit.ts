/** Calibrates a job with measured steps. Two steps are used for each fit; the others check it. */
import { refuse } from '../../errors.ts';
import { paperAssumed } from '../colocated/basis.ts';
import type { Job, MachineBelief } from '../colocated/job.ts';
import type { CostModel } from '../models/cost-model.ts';
import { rewardsAssumed } from '../silicon/cluster.ts';
import { trainingAssumed } from '../silicon/training.ts';
import { calibrateJob, checkMeasured, longestTokens, simulatedSeconds } from './calibrate.ts';
import { afterMeasuring, jobSlowedBy, type MachineFactors, unmeasuredMachine, withEachCost } from './machine.ts';
import type { MeasuredStep } from './measured.ts';
import type { CalibratedStep, Calibration, FittedSeconds } from './result.ts';
import { fitTraining, trainingOfStep, trainingSeconds } from './training.ts';
import { calibrationWarnings } from './warnings.ts';

const responsesOf = ({ prompts }: MeasuredStep): number =>
  prompts.reduce((sum, one) => sum + one.responseTokens.length, 0);
const tokensOf = ({ prompts }: MeasuredStep): number =>
  prompts.reduce((sum, one) => sum + one.responseTokens.reduce((total, tokens) => total + tokens, 0), 0);

/** Returns the items of a list with the least and the largest number; of equal items, the first. */
function ends<T>(list: readonly T[], by: (one: T) => number): [T, T] {
  const sorted = [...list].sort((a, b) => by(a) - by(b));
  return [sorted[0]!, sorted.at(-1)!];
}

/**
 * Fits a job to measured steps: the overhead of a decode step and the fixed seconds of a rollout come from the two rollouts whose
 * longest responses are shortest and longest; training, if it was measured, comes from the steps with the fewest and the most
 * tokens; rewards and weight sync are means of their measurements.
 *
 * @param job - the job, with its engines and the initial cost model
 * @param steps - two or more
 * @throws PolicyError `invalid_input` for steps without data; `infeasible` when no costs >= 0 fit
 */
export function calibrate(job: Job, steps: readonly MeasuredStep[]): Calibration {
  if (steps.length < 2) {
    refuse('invalid_input', 'rollouts', 'two rollouts or more', steps.length);
  }
  for (const [index, step] of steps.entries()) checkMeasured(step, `rollouts[${index}]`);
  const rollouts = ends(steps, longestTokens);
  const { overheadSeconds, fixedRolloutSeconds } = calibrateJob(job, rollouts).cost;
  const trained = steps.filter((one) => one.trainSeconds !== undefined);
  if (trained.length === 1) {
    const path = `rollouts[${steps.indexOf(trained[0]!)}].trainSeconds`;
    const expected = 'it in two rollouts or more, or in none: it has two constants';
    refuse('invalid_input', path, expected, 'one');
  }
  const trainings = trained.length > 0 ? ends(trained, tokensOf) : undefined;
  const changes: Partial<CostModel> = {
    overheadSeconds,
    fixedRolloutSeconds,
    ...(trainings === undefined ? undefined : fitTraining(job.cost, [batchOf(trainings[0]), batchOf(trainings[1])])),
    ...meanOf(steps, 'rewardSeconds', 'rewardTailSeconds'),
    ...meanOf(steps, 'syncSeconds', 'weightSyncSeconds'),
  };
  const fitted = withRewards(
    withCosts(measuredOf(job, changes), changes),
    changes.rewardTailSeconds,
    responsesOf(steps[0]!),
  );
  const machine = machineAfter(fitted, steps);
  const calibrated = steps.map((step, index): CalibratedStep => {
    const batch = { responses: responsesOf(step), tokens: tokensOf(step) };
    const use = (fit: readonly MeasuredStep[] | undefined) => (fit?.includes(step) ? 'fit' : 'check');
    return {
      index,
      prompts: step.prompts.length,
      ...batch,
      longestTokens: longestTokens(step),
      rollout: beside(use(rollouts), step.seconds, simulatedSeconds(fitted, step)),
      ...(step.trainSeconds === undefined
        ? undefined
        : { training: beside(use(trainings), step.trainSeconds, trainingSeconds(fitted.cost, batch)) }),
    };
  });
  return {
    job: { ...fitted, machine },
    fitted: Object.keys(changes) as (keyof CostModel)[],
    ...(trainings === undefined
      ? undefined
      : { training: trainingOfStep(fitted.cost, { responses: responsesOf(steps[0]!), tokens: 0 }) }),
    steps: calibrated,
    warnings: calibrationWarnings(fitted.cost, calibrated),
  };
}

/** By how much a part is made slower, to see what of a rollout it is. */
const slightly = 1.1;

/** Returns what measured rollouts leave open of the engines, each of them counted as much as a measured point. */
function machineAfter(job: Job, steps: readonly MeasuredStep[]): MachineBelief {
  const same: MachineFactors = { fixed: 1, sequence: 1, prefill: 1 };
  const measured = steps.map((step) => {
    const all = simulatedSeconds(job, step);
    const partOf = (part: keyof MachineFactors): number =>
      (simulatedSeconds(jobSlowedBy(job, { ...same, [part]: slightly }), step) - all) / (slightly - 1);
    const [sequence, prefill] = [Math.max(0, partOf('sequence')), Math.max(0, partOf('prefill'))];
    // What is left is weights, launches and fixed seconds, which were fitted.
    return { parts: { fixed: Math.max(0, all - sequence - prefill), sequence, prefill }, measuredSeconds: all };
  });
  return afterMeasuring(unmeasuredMachine((job.outside?.length ?? 0) > 0), measured);
}

/** Returns the job without the assumptions in whose place there are measurements. */
function measuredOf(job: Job, changes: Partial<CostModel>): Job {
  if (job.assumed === undefined) return job;
  const open = {
    training: changes.trainSecondsPerToken === undefined,
    rewards: changes.rewardTailSeconds === undefined,
  };
  const [paper] = paperAssumed({ training: true, rewards: true });
  const assumed = job.assumed.flatMap((one) => {
    if (one === paper) return paperAssumed(open);
    return (one === trainingAssumed && !open.training) || (one === rewardsAssumed && !open.rewards) ? [] : [one];
  });
  return { ...job, assumed };
}

const batchOf = (step: MeasuredStep) => ({
  responses: responsesOf(step),
  tokens: tokensOf(step),
  trainSeconds: step.trainSeconds!,
});

const beside = (use: 'fit' | 'check', measuredSeconds: number, simulated: number): FittedSeconds => ({
  use,
  measuredSeconds,
  simulatedSeconds: simulated,
  error: simulated / measuredSeconds - 1,
});

/**
 * Returns the job with equal reward times for all responses, so that the rewards after a synchronous rollout take as long as
 * measured. The measurement does not show which rewards take longest.
 */
function withRewards(job: Job, tailSeconds: number | undefined, responses: number): Job {
  const { rewards } = job;
  if (rewards === undefined || tailSeconds === undefined) return job;
  const ruleSeconds = tailSeconds / Math.ceil(responses / rewards.workers.rule);
  return { ...job, rewards: { ...rewards, shares: { rule: 1, sandbox: 0, judge: 0 }, ruleSeconds } };
}

/** Returns a cost that is the mean of its measurements; nothing if there are none. */
function meanOf(
  steps: readonly MeasuredStep[],
  from: 'rewardSeconds' | 'syncSeconds',
  to: keyof CostModel,
): Partial<CostModel> {
  const values = steps.flatMap((one) => one[from] ?? []);
  return values.length === 0 ? {} : { [to]: values.reduce((sum, one) => sum + one, 0) / values.length };
}

/**
 * Returns the job with changed costs at every tensor parallelism that it may use. A measurement at one parallelism changes the
 * others too, with their overheads in proportion.
 */
function withCosts(job: Job, changes: Partial<CostModel>): Job {
  const { cost } = job;
  const { overheadSeconds } = { ...cost, ...changes };
  return withEachCost(job, (one) => {
    const proportion = cost.overheadSeconds > 0 ? one.overheadSeconds / cost.overheadSeconds : 1;
    return { ...one, ...changes, overheadSeconds: overheadSeconds * proportion };
  });
}
