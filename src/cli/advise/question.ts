/** The question of `rollflex advise`, from options as JSON: each thread makes the same question from the same options. */
import { type AdviseQuestion, type AdviseRun, type AdviseTask, adviseEvaluator } from '../../sim/advise/advising.ts';
import { type TrainerId, trainerOf } from '../../sim/advise/trainers.ts';
import { jobOfOptions } from '../job/job.ts';
import { workloads } from '../job/lengths.ts';
import { type SweepInput, sweepProblems } from '../sweep/problem.ts';

/** Options of the question, as JSON. */
export interface AdviseInput extends SweepInput {
  readonly trainer: TrainerId;
}

/** Returns the question. Throws as `sweepProblems` does. */
export function adviseQuestion(input: AdviseInput): AdviseQuestion {
  const { steps } = sweepProblems(input)[0]!.problem;
  const { job, capTokens } = jobOfOptions(input, input.measured);
  const [workload] = workloads(input.traces, input, capTokens);
  return { trainer: trainerOf(input.trainer), job, workload: workload!, steps };
}

/** Returns what makes the runs. */
export const adviseWork = (input: AdviseInput): ((task: AdviseTask) => AdviseRun) =>
  adviseEvaluator(adviseQuestion(input));
