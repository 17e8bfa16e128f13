/** Tasks of `rollflex simulate` for threads: the runs of each comparison, and the other simulations. */

import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { registry } from '../../registry.ts';
import { ablation, losslessScheduler, partialScheduler, usualSchedulers } from '../../sim/colocated/ablation.ts';
import type { Job } from '../../sim/colocated/job.ts';
import { oneStepOffAblation } from '../../sim/colocated/one-step-off.ts';
import { type Scheduler, synchronousBaseline, tailBatchingScheduler } from '../../sim/colocated/scheduler.ts';
import { prepareRuns } from '../../sim/comparison/compare.ts';
import type { ComparisonResult, RunResult } from '../../sim/comparison/result.ts';
import type { PreparedRuns } from '../../sim/comparison/world.ts';
import type { PoolsComparison } from '../../sim/pools/result.ts';
import type { VlmComparison } from '../../sim/vlm-formulas/result.ts';
import type { LoggedJob } from '../../sim/what-if/logged-job.ts';
import { loggedScheduler } from '../../sim/what-if/logged-scheduler.ts';
import { returning } from '../../sim/workload/epochs.ts';
import type { NamedTrace } from '../../sim/workload/of-trace.ts';
import type { Workload } from '../../sim/workload/workload.ts';
import { type LengthOptions, workloads } from '../job/lengths.ts';
import { type OwnOptions, predictedAs } from '../job/own.ts';
import { seedsFrom } from '../job/simulation.ts';
import { bundledPools, runBundledTail } from '../pools/run.ts';
import { bundledVlm } from '../vlm/run.ts';

type Prepared = PreparedRuns<RunResult, ComparisonResult>;

/** Input of all tasks, from which a thread makes the tasks again. */
export interface SimulateInput extends LengthOptions, OwnOptions {
  readonly job: Job;
  readonly capTokens: number;
  readonly traces: readonly NamedTrace[];
  readonly factors: { readonly promptSpeculation: number; readonly responseSpeculation: number };
  readonly steps: number;
  readonly seeds: number;
  readonly seed: number;
  /** Times that each prompt comes. */
  readonly epochs?: number;
  readonly ablation?: boolean;
  readonly oneStepOff?: boolean;
  /** The job of the log, if its prompts come in their order. */
  readonly logged?: LoggedJob | undefined;
}

/** A task: one run of a comparison, or a whole comparison of another kind. */
export interface SimulateTask {
  readonly kind: 'run' | 'pools' | 'tail' | 'vlm';
  /** Index of the comparison among those of its kind. */
  readonly of: number;
  /** Index of the run in the comparison. */
  readonly place: number;
}

/** The result of a task: one field is set, that of its kind. */
export interface SimulateMade {
  readonly run?: RunResult;
  readonly pools?: PoolsComparison;
  readonly vlm?: VlmComparison;
}

/** Returns the schedulers to compare, the baseline first. */
function schedulersOf(input: SimulateInput, own: readonly Scheduler[]): Scheduler[] {
  const { job, factors, ablation: all, oneStepOff, epochs = 1, logged } = input;
  if (logged !== undefined && !all && !oneStepOff) {
    // As what-if does, all of them let the times of rewards and training pass as the preset, or the calibration, has them.
    const [baseline, tail] = [synchronousBaseline(job), tailBatchingScheduler(job, factors)];
    const asLogged = loggedScheduler(registry.get(logged.snapshot.policy) as AnyPolicyDefinition, logged, job);
    return [baseline, tail, asLogged, ...own];
  }
  const variants = oneStepOff ? oneStepOffAblation(job, factors) : ablation(job, factors);
  // Where no prompt comes back, nothing is known of its lengths.
  const more = epochs > 1 ? [losslessScheduler(job, { oneStepOff })] : [];
  if (all) return [...variants, ...(oneStepOff ? [] : [partialScheduler(job)]), ...more];
  // Without the ablation, its first variant is compared with the same baseline.
  const usual = oneStepOff ? variants.slice(0, 2) : usualSchedulers(job, factors);
  // The same job for all: rewards and training follow the rollout of a policy of the user as they follow that of the baseline.
  return [...usual, ...more, ...own.map((one) => ({ ...one, staged: true }))];
}

/**
 * Returns the comparisons before any of their runs.
 *
 * @param own - those of the user's policies, of `ownSchedulers`
 * @throws `PolicyError`, or the system's error, for bad input
 */
export function comparisonsOf(input: SimulateInput, own: readonly Scheduler[] = []): Prepared[] {
  const { job, steps, epochs = 1 } = input;
  const [baseline, ...schedulers] = schedulersOf(input, own);
  const seeds = seedsFrom(input.seed, input.seeds);
  return workloads(input.traces, input, input.capTokens, input.logged).map((given) => {
    const inEpochs = (seed: number): Workload => returning(given(seed), steps * job.promptsPerRound, epochs, seed);
    const workload = predictedAs(epochs > 1 ? inEpochs : given, input, job);
    return prepareRuns({ job, workload, steps, seeds, baseline: baseline!, schedulers });
  });
}

/** Returns a function that does tasks; it prepares the comparisons at the first task that needs them. */
export function simulateWork(
  input: SimulateInput,
  prepared: () => readonly Prepared[],
): (task: SimulateTask) => SimulateMade {
  let comparisons: readonly Prepared[] | undefined;
  return ({ kind, of, place }) => {
    if (kind === 'pools') return { pools: bundledPools(input.seed)[of]!() };
    if (kind === 'tail') return { pools: runBundledTail(input.seed) };
    if (kind === 'vlm') return { vlm: bundledVlm(input.seed)[of]!() };
    comparisons ??= prepared();
    return { run: comparisons[of]!.make(place) };
  };
}
