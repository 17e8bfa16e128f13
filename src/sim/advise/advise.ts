/** Finds, from a trace of a job, the settings to switch on in its trainer. */
import { given } from '../../core/collections/given.ts';
import type { Job } from '../colocated/job.ts';
import type { SweepOptions } from '../sweep/result.ts';
import type { Trace } from '../trace/read.ts';
import { type TraceWorkloadOptions, traceWorkload, usualWorkload } from '../workload/of-trace.ts';
import { type AdviseRun, type AdviseWork, adviseEvaluator, advising } from './advising.ts';
import type { Answer } from './answer.ts';
import { selectingOf } from './selecting.ts';
import { type TrainerId, trainerOf, trainerOfReader } from './trainers.ts';

/** Steps in each run of a search. */
export const usualSteps = 10;

/** How the question is asked. */
export interface AdviceOptions extends Partial<TraceWorkloadOptions>, SweepOptions {
  /** The trainer that is to apply the settings; that whose dump the trace is, if absent. */
  readonly trainer?: TrainerId;
  /** Steps in each run of the search (default 10). */
  readonly steps?: number;
  /** What the trace is called in results (default `trace`). */
  readonly name?: string;
  /** Called after each run, with their number so far and in all. */
  readonly progress?: (doneRuns: number, plannedRuns: number) => void;
}

/**
 * Finds the settings that save most of a job's time, of those that its trainer can apply: it searches on some seeds, and measures what
 * it recommends on others, within a budget of work, 1.2 million simulated responses. With `thorough` it looks at all that the
 * effort `thorough` has, several times the work. {@link advising} yields the runs to whoever has threads for them.
 *
 * @param trace - the lengths of responses, as `readTrace` returns them
 * @param job - shape and costs of a round: of `jobPreset`, `defineJob` or `calibrateJob`; its cap is `capTokens`
 * @throws PolicyError as `sweep` does
 */
export function advise(trace: Trace, job: Job, options: AdviceOptions = {}): Answer {
  const {
    trainer,
    steps = usualSteps,
    name = 'trace',
    progress,
    resampling,
    correlation,
    capTokens,
    ...search
  } = options;
  const longest = capTokens ?? job.hardware?.maxResponseTokens ?? usualWorkload.capTokens;
  const sampling = given({ resampling, correlation, capTokens: longest });
  const facts = trainerOf(trainer ?? trainerOfReader(trace.reader));
  const question = { trainer: facts, job, workload: traceWorkload({ name, trace }, sampling), steps };
  const evaluate = adviseEvaluator(question);
  const work = advising(question, search);
  let made: AdviseRun[] = [];
  for (;;) {
    const next = work.next(made);
    if (next.done === true) return { ...next.value, ...given({ selecting: selectingOf(trace) }) };
    made = runsOf(next.value, evaluate, progress);
  }
}

function runsOf(
  { tasks, doneRuns, plannedRuns }: AdviseWork,
  evaluate: ReturnType<typeof adviseEvaluator>,
  progress: AdviceOptions['progress'],
): AdviseRun[] {
  progress?.(doneRuns, plannedRuns);
  return tasks.map((task, index) => {
    const run = evaluate(task);
    progress?.(doneRuns + index + 1, plannedRuns);
    return run;
  });
}
