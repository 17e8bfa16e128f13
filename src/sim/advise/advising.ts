/**
 * Answers the question of `rollflex advise` for one trainer, as a generator: it yields the runs of a search, and then compares the
 * result with the baseline.
 */

import { usualSchedulers } from '../colocated/ablation.ts';
import type { Job } from '../colocated/job.ts';
import { comparing } from '../comparison/compare.ts';
import { usualRuns } from '../comparison/compare-options.ts';
import type { SweepOptions } from '../sweep/result.ts';
import { type SweepRun, type SynchronousProblem, sweepEvaluator } from '../sweep/run.ts';
import type { SweepBatch } from '../sweep/search.ts';
import { withLevers } from '../sweep/settings/levers.ts';
import { synchronousScheduler } from '../sweep/settings/schedulers.ts';
import { defineSynchronousSettings, type SynchronousSettings } from '../sweep/settings/settings.ts';
import { sweeping } from '../sweep/sweep.ts';
import type { Workload } from '../workload/workload.ts';
import { type Answer, answerOf, paidOf } from './answer.ts';
import type { TrainerFacts } from './trainers.ts';

/** The question: a trainer, with its job and its workload. */
export interface AdviseQuestion {
  /** The trainer that is to apply the settings. */
  readonly trainer: TrainerFacts;
  /** Shape and costs of a round. */
  readonly job: Job;
  /** Returns the responses of a run, by its seed. */
  readonly workload: (seed: number) => Workload;
  /** Number of steps in each run of the search. */
  readonly steps: number;
}

/** The next piece of work: runs of the search, which the caller makes, or a run of a comparison, which this generator makes. */
export type AdviseWork =
  | (SweepBatch & { readonly kind: 'search' })
  | { readonly kind: 'comparison'; readonly doneRuns: number; readonly plannedRuns: number };

type Rated = Exclude<SweepRun, { readonly infeasible: string }>;

const seeds = Array.from({ length: usualRuns.seeds }, (_, index) => 1 + index);

/** Returns the problem for a trainer, without settings that the trainer cannot apply. */
export function problemFor({ trainer, job, workload, steps }: AdviseQuestion): SynchronousProblem {
  const { levers } = trainer;
  if (Object.values(levers).every((one) => one)) return { kind: 'synchronous', job, workload, steps };
  return { kind: 'synchronous', job, workload: (seed) => withLevers(workload(seed), levers), steps, levers };
}

/**
 * Seeds of the comparison of full RollPacker with the baseline, as a host of the user's own could run it; made only if the
 * trainer cannot apply all settings.
 */
const ownSeeds = [101, 102, 103, 104];
/**
 * Returns the number of runs of the comparisons: baseline and recommendation and, unless the host is the user's own, baseline and
 * full RollPacker.
 */
const comparedRuns = (isOwn: boolean): number => 2 * (seeds.length + (isOwn ? 0 : ownSeeds.length));

/**
 * Searches and compares. The caller passes back the results of `search` in the order of its runs.
 *
 * @throws PolicyError as `sweeping` and `comparing` do
 */
export function* advising(
  question: AdviseQuestion,
  options: SweepOptions,
): Generator<AdviseWork, Answer, readonly SweepRun[]> {
  const { trainer, job, workload } = question;
  const problem = problemFor(question);
  const isOwn = problem.levers === undefined;
  const later = comparedRuns(isOwn);
  const search = sweeping(problem, options);
  let runs = 0;
  let next = search.next();
  while (next.done !== true) {
    const batch = next.value;
    runs = batch.doneRuns + batch.tasks.length;
    next = search.next(yield { kind: 'search', ...batch, plannedRuns: batch.plannedRuns + later });
  }
  const sweep = next.value;
  let made = 0;
  const tell = (): AdviseWork => {
    made += 1;
    return { kind: 'comparison', doneRuns: runs + made, plannedRuns: runs + later };
  };
  const { settings } = sweep.recommended;
  const chosen = (settings === 'baseline' ? sweep.published.settings : settings) as SynchronousSettings;
  const [baseline] = usualSchedulers(job);
  const schedulers = [{ ...synchronousScheduler(job, chosen), id: 'recommended' }];
  const { steps } = usualRuns;
  const compared = { job, workload: problem.workload, steps, seeds, baseline, schedulers };
  const comparison = comparing({ ...compared, oracle: false, timeline: false });
  let step = comparison.next();
  while (step.done !== true) {
    yield tell();
    step = comparison.next();
  }
  const own: { one: Rated; baseline: Rated }[] = [];
  const evaluate = sweepEvaluator({ kind: 'synchronous', job, workload, steps: question.steps });
  for (const seed of isOwn ? [] : ownSeeds) {
    const one = evaluate({ settings: defineSynchronousSettings(), seed });
    yield tell();
    const base = evaluate({ settings: 'baseline', seed });
    yield tell();
    if (!('infeasible' in one) && !('infeasible' in base)) own.push({ one, baseline: base });
  }
  const { promptsPerRound } = job;
  const found = own.length === 0 ? {} : { own: paidOf(own) };
  return answerOf({ trainer, promptsPerRound, sweep, comparison: step.value, ...found });
}
