/** What settings save on the machines that a job may turn out to run on, beside what runs alone leave open. */
import { machinesOf, overMachines } from '../calibration/machines.ts';
import type { Interval } from '../comparison/result.ts';
import { gain, type Measured, type Pair } from './book.ts';
import { responsesOfRound, stepsWithin } from './plan.ts';
import type { SweepRun, SweepTask, SynchronousProblem } from './run.ts';
import { defineSynchronousSettings, type SynchronousSettings } from './settings/settings.ts';

/** Seeds of these runs. */
const seeds = [201, 202];

/** How much is run. */
export interface MachineWork {
  /** Steps of a run. */
  readonly steps: number;
  /** Number of runs. */
  readonly runs: number;
  /** Simulated responses of all of them, about. */
  readonly responses: number;
}

/** Returns how much is run within a budget of simulated responses, about. */
export function machineWork(problem: SynchronousProblem, budget: number): MachineWork {
  const pairs = machinesOf(problem.job).length * seeds.length;
  const ofStep = responsesOfRound(problem, 'baseline') + responsesOfRound(problem, defineSynchronousSettings());
  const steps = Math.min(problem.steps, stepsWithin(budget, pairs * ofStep));
  return { steps, runs: 2 * pairs, responses: steps * pairs * ofStep };
}

/** Returns the runs of settings and of the baseline on each machine. */
export const machineTasks = (
  { job }: SynchronousProblem,
  settings: SynchronousSettings,
  { steps }: MachineWork,
): SweepTask[] =>
  machinesOf(job).flatMap((_, machine) =>
    seeds.flatMap((seed) => [settings, 'baseline' as const].map((one) => ({ settings: one, seed, steps, machine }))),
  );

const isMeasured = (run: SweepRun | undefined): run is Measured => run !== undefined && !('infeasible' in run);

/**
 * Returns the interval of what settings save that covers the machine, too.
 *
 * @param sampling - its interval on the engines as they are modelled, or were calibrated
 * @param runs - those of {@link machineTasks}, in their order
 */
export function gainOverMachines(sampling: Interval, runs: readonly SweepRun[]): Interval {
  const ofMachine = 2 * seeds.length;
  const gains: number[] = [];
  for (let begin = 0; begin < runs.length; begin += ofMachine) {
    const pairs = seeds.flatMap((_, index): Pair[] => {
      const [one, other] = [runs[begin + 2 * index], runs[begin + 2 * index + 1]];
      return isMeasured(one) && isMeasured(other) ? [{ one, other }] : [];
    });
    gains.push(gain(pairs));
  }
  return overMachines(sampling, gains);
}
