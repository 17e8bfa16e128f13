/**
 * Answers the question of `rollflex advise` for one trainer, as a generator: it yields the runs of a search, and then those that
 * compare the result with the baseline. Whoever makes the runs may do so in threads.
 */
import { usualSchedulers } from '../colocated/ablation.ts';
import type { Job } from '../colocated/job.ts';
import { prepareRuns } from '../comparison/compare.ts';
import { type CompareOptions, usualRuns } from '../comparison/compare-options.ts';
import type { RunResult, SchedulerResult } from '../comparison/result.ts';
import { gainOverMachines, machineTasks, machineWork } from '../sweep/machines.ts';
import { responsesOfRound, stepsWithin, usualBudget } from '../sweep/plan.ts';
import type { SweepAdvice, SweepOptions } from '../sweep/result.ts';
import { type SweepRun, type SweepTask, type SynchronousProblem, sweepEvaluator } from '../sweep/run.ts';
import type { SweepBatch, SweepPhase } from '../sweep/search/batch.ts';
import { withLevers } from '../sweep/settings/levers.ts';
import { synchronousScheduler } from '../sweep/settings/schedulers.ts';
import { defineSynchronousSettings, keyOf, type SynchronousSettings } from '../sweep/settings/settings.ts';
import { sweepingAlone } from '../sweep/sweep.ts';
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

/**
 * A run to make, as JSON: of the search, and on the machines that the job may turn out to run on; of a host of the user's own, which
 * can apply everything; or of the comparison of settings with the baseline, by its index.
 */
export type AdviseTask =
  | { readonly kind: 'search' | 'own'; readonly task: SweepTask }
  | {
      readonly kind: 'comparison';
      readonly settings: SynchronousSettings;
      readonly steps: number;
      readonly index: number;
    };
/** The result of a run. */
export type AdviseRun = SweepRun | RunResult;

/** The next runs; the caller answers with one result per run, in this order. */
export interface AdviseWork extends Omit<SweepBatch, 'tasks' | 'phase'> {
  /** A part of the search, or `costs`: the comparisons after it. */
  readonly phase: SweepPhase | 'costs';
  /** The runs to make. */
  readonly tasks: readonly AdviseTask[];
}

type Rated = Exclude<SweepRun, { readonly infeasible: string }>;

const seeds = Array.from({ length: usualRuns.seeds }, (_, index) => 1 + index);

/** Returns the problem for a trainer, without settings that the trainer cannot apply. */
export function problemFor({ trainer, job, workload, steps }: AdviseQuestion): SynchronousProblem {
  const { levers } = trainer;
  if (Object.values(levers).every((one) => one)) return { kind: 'synchronous', job, workload, steps };
  return { kind: 'synchronous', job, workload: (seed) => withLevers(workload(seed), levers), steps, levers };
}

/** Returns the problem for a host of the user's own. */
const ownProblem = ({ job, workload, steps }: AdviseQuestion): SynchronousProblem => ({
  kind: 'synchronous',
  job,
  workload,
  steps,
});

/**
 * Seeds of the comparison of full RollPacker with the baseline, as a host of the user's own could run it; made only if the
 * trainer cannot apply all settings.
 */
const ownSeeds = [101, 102, 103, 104];
/** Shares of a budget for the comparisons after the search. */
const shares = { comparison: 0.1, own: 0.08, machines: 0.12 } as const;

function comparedOf({ job, ...question }: AdviseQuestion, chosen: SynchronousSettings, steps: number): CompareOptions {
  const { workload } = problemFor({ job, ...question });
  const [baseline] = usualSchedulers(job);
  const schedulers = [{ ...synchronousScheduler(job, chosen), id: 'recommended' }];
  return { job, workload, steps, seeds, baseline, schedulers, oracle: false, timeline: false };
}

/** Returns a function that makes runs. The same question and task give the same run, in any process. Throws as `simulate` does. */
export function adviseEvaluator(question: AdviseQuestion): (task: AdviseTask) => AdviseRun {
  const searched = sweepEvaluator(problemFor(question));
  const owned = sweepEvaluator(ownProblem(question));
  const prepared = new Map<string, ReturnType<typeof prepareRuns>>();
  return (task) => {
    if (task.kind !== 'comparison') return task.kind === 'own' ? owned(task.task) : searched(task.task);
    const key = `${keyOf(task.settings)} ${task.steps}`;
    const runs = prepared.get(key) ?? prepareRuns(comparedOf(question, task.settings, task.steps));
    prepared.set(key, runs);
    return runs.make(task.index);
  };
}

const isOfSweep = (run: AdviseRun): run is SweepRun => !('scheduler' in run);
const isRated = (run: AdviseRun): run is Rated => 'secondsPerPrompt' in run && isOfSweep(run);
const isCompared = (run: AdviseRun): run is RunResult => !isOfSweep(run);

/** Returns the runs of settings, each with that of the baseline behind it. */
function pairsIn(runs: readonly AdviseRun[]): { readonly one: Rated; readonly baseline: Rated }[] {
  return runs.flatMap((one, at) => {
    const baseline = runs[at + 1];
    return at % 2 === 0 && baseline !== undefined && isRated(one) && isRated(baseline) ? [{ one, baseline }] : [];
  });
}

/**
 * Searches and compares. The caller makes the runs by {@link adviseEvaluator}.
 *
 * @throws PolicyError as `sweeping` and `prepareRuns` do
 */
export function* advising(
  question: AdviseQuestion,
  options: SweepOptions,
): Generator<AdviseWork, Answer, readonly AdviseRun[]> {
  const { trainer, job } = question;
  const problem = problemFor(question);
  const isOwn = problem.levers === undefined;
  const { thorough = false } = options;
  const { budget = thorough || options.effort !== undefined ? Number.POSITIVE_INFINITY : usualBudget } = options;
  const { effort = thorough ? 'thorough' : 'fast' } = options;
  const afterwards = shares.comparison + shares.machines + (isOwn ? 0 : shares.own);
  const published = defineSynchronousSettings();
  const ofStep = responsesOfRound(problem, 'baseline') + responsesOfRound(problem, published);
  const steps = stepsWithin(shares.comparison * budget, seeds.length * ofStep);
  const ownSteps = Math.min(question.steps, stepsWithin(shares.own * budget, ownSeeds.length * ofStep));
  const onMachines = machineWork(problem, shares.machines * budget);
  const later = {
    runs: 2 * (seeds.length + (isOwn ? 0 : ownSeeds.length)) + onMachines.runs,
    responses: ofStep * (steps * seeds.length + (isOwn ? 0 : ownSteps * ownSeeds.length)) + onMachines.responses,
  };
  const search = sweepingAlone(problem, { ...options, effort, budget: budget * (1 - afterwards) });
  const sofar = { runs: 0, responses: 0, found: undefined as SweepBatch['found'] };
  let next = search.next();
  while (next.done !== true) {
    const { tasks, responses, ...batch } = next.value;
    sofar.runs = batch.doneRuns + tasks.length;
    sofar.responses = responses.done + responses.next;
    sofar.found = batch.found;
    const made = yield {
      ...batch,
      plannedRuns: batch.plannedRuns + later.runs,
      responses: { ...responses, planned: responses.planned + later.responses },
      tasks: tasks.map((task): AdviseTask => ({ kind: 'search', task })),
    };
    next = search.next(made.filter(isOfSweep));
  }
  const found: SweepAdvice = next.value;
  const { settings } = found.recommended;
  const chosen = (settings === 'baseline' ? found.published.settings : settings) as SynchronousSettings;
  const compared = seeds.flatMap((_, at) => [2 * at, 2 * at + 1]);
  const owned = isOwn
    ? []
    : ownSeeds.flatMap((seed) => [published, 'baseline' as const].map((one) => [one, seed] as const));
  // One batch, so that threads can share it.
  const made = yield {
    phase: 'costs',
    doneRuns: sofar.runs,
    plannedRuns: sofar.runs + later.runs,
    responses: { done: sofar.responses, next: later.responses, planned: sofar.responses + later.responses },
    ...(sofar.found === undefined ? {} : { found: sofar.found }),
    tasks: [
      ...compared.map((index): AdviseTask => ({ kind: 'comparison', settings: chosen, steps, index })),
      ...owned.map(([one, seed]): AdviseTask => ({ kind: 'own', task: { settings: one, seed, steps: ownSteps } })),
      ...machineTasks(problem, chosen, onMachines).map((task): AdviseTask => ({ kind: 'search', task })),
    ],
  };
  const comparison = prepareRuns(comparedOf(question, chosen, steps)).compared(made.filter(isCompared));
  const [baseline] = comparison.schedulers as readonly [SchedulerResult];
  const sweep = { ...found, stepSeconds: baseline.stepSeconds };
  const rest = made.slice(compared.length);
  const pairs = pairsIn(rest.slice(0, owned.length));
  return answerOf({
    trainer,
    job,
    sweep,
    comparison,
    gain: gainOverMachines(found.recommended.gain, rest.slice(owned.length).filter(isOfSweep)),
    ...(pairs.length === 0 ? {} : { own: paidOf(pairs) }),
  });
}
