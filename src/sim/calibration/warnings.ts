/** Warnings to read before you rely on a calibration. */
import { baseSeconds, type CostModel } from '../models/cost-model.ts';
import type { CalibratedStep } from './result.ts';
import { trainingOfStep } from './training.ts';

/** Error of a measurement that the warnings assume. */
const measurementError = 0.01;
/** Share of a constant by which such an error may change it without a warning. */
const mostOfStep = 0.1;
const mostOfTraining = 0.25;
const mostOfCheck = 0.1;

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const milliseconds = (seconds: number): string => `${(1000 * seconds).toFixed(2)} ms`;

/** Warns if the measurements cannot separate the constants, and if checks have large errors. */
export function calibrationWarnings(cost: CostModel, steps: readonly CalibratedStep[]): string[] {
  return [...ofRollouts(cost, steps), ...ofTraining(cost, steps), ...ofChecks(steps)];
}

/**
 * Checks the overhead: it is a quotient of two differences (of rollout times and of decode steps), so that the errors of both
 * rollouts add up.
 */
function ofRollouts(cost: CostModel, steps: readonly CalibratedStep[]): string[] {
  const [short, long] = steps
    .filter(({ rollout }) => rollout.use === 'fit')
    .sort((a, b) => a.longestTokens - b.longestTokens);
  const errors = measurementError * (short!.rollout.measuredSeconds + long!.rollout.measuredSeconds);
  const moved = errors / (long!.longestTokens - short!.longestTokens);
  const share = moved / baseSeconds(cost, 1);
  if (share <= mostOfStep) return [];
  return [
    `The two rollouts hardly tell the overhead of a decode step from the fixed seconds: errors of ${percent(measurementError)} ` +
      `in them move a decode step by ${milliseconds(moved)} (${percent(share)}). Measure one with a much longer response.`,
  ];
}

function ofTraining(cost: CostModel, steps: readonly CalibratedStep[]): string[] {
  const fitted = steps.filter(({ training }) => training?.use === 'fit').sort((a, b) => a.tokens - b.tokens);
  if (fitted.length < 2) return [];
  const [few, most] = fitted as [CalibratedStep, CalibratedStep];
  const errors = measurementError * (few.training!.measuredSeconds + most.training!.measuredSeconds);
  const share = errors / (most.tokens - few.tokens) / trainingOfStep(cost, few).secondsPerToken;
  if (share <= mostOfTraining) return [];
  return [
    `The two trainings hardly tell seconds a token from seconds a step: errors of ${percent(measurementError)} in them move ` +
      `the seconds a token by ${share > 10 ? 'more than 1000 %' : percent(share)}. Measure steps whose tokens differ more.`,
  ];
}

function ofChecks(steps: readonly CalibratedStep[]): string[] {
  return steps.flatMap(({ index, rollout, training }) =>
    [['rollout', rollout] as const, ['training of rollout', training] as const].flatMap(([what, one]) => {
      if (one === undefined || one.use === 'fit' || Math.abs(one.error) <= mostOfCheck) return [];
      const seconds = `${one.measuredSeconds.toFixed(1)} s measured, ${one.simulatedSeconds.toFixed(1)} s simulated`;
      return [`The check does not hold: ${what} ${index + 1} takes ${seconds}.`];
    }),
  );
}
