/**
 * Compares schedulers, and the oracle schedule, on one workload. All schedulers train the same prompts exactly once (after these
 * the source is exhausted, which empties every queue), so that ratios of total times are meaningful. Schedulers may train
 * different responses, so the result also has seconds per kept token.
 */
import { refuse } from '../../errors.ts';
import { oracleSchedule } from '../bounds/oracle.ts';
import { usualSchedulers } from '../colocated/ablation.ts';
import { basisOf } from '../colocated/basis.ts';
import { simulate } from '../colocated/driver.ts';
import { type Scheduler, synchronousBaseline, tailBatchingScheduler } from '../colocated/scheduler.ts';
import { describeWorkload, notesOn, settingsOf } from './compare-notes.ts';
import type { CompareOptions, CompareProgress } from './compare-options.ts';
import type { ComparisonResult, RunResult } from './result.ts';
import { schedulerResult } from './scheduler-result.ts';
import { checkConfidence } from './statistics.ts';
import { comparedAll, type PreparedRuns, preparedRuns } from './world.ts';

/** Compares schedulers. Throws `PolicyError` `invalid_input` for bad options, and the errors of `simulate`. */
export const compare = (options: CompareOptions): ComparisonResult => comparedAll(prepareRuns(options));

/** Compares schedulers, and yields after each run: for hosts that show progress, or that must not block. */
export function* comparing(options: CompareOptions): Generator<CompareProgress, ComparisonResult> {
  const { totalRuns, make, compared } = prepareRuns(options);
  const runs: RunResult[] = [];
  while (runs.length < totalRuns) {
    const run = make(runs.length);
    runs.push(run);
    yield { doneRuns: runs.length, totalRuns, scheduler: run.scheduler, seed: run.seed };
  }
  return compared(runs);
}

/**
 * Prepares the runs of a comparison: schedulers × seeds, and one oracle run per seed. Throws `PolicyError` `invalid_input` for bad
 * options.
 */
export function prepareRuns(options: CompareOptions): PreparedRuns<RunResult, ComparisonResult> {
  const { job, seeds, steps, confidence = 0.95, oracle: withOracle = true, validate = false } = options;
  if (!Number.isInteger(steps) || steps < 1) refuse('invalid_input', 'steps', 'a whole number >= 1', steps);
  checkConfidence(confidence);
  const schedulers = schedulersOf(options);
  const { promptsPerRound, responsesPerPrompt } = job;
  const prompts = steps * promptsPerRound;
  const trains = schedulers.some((one) => one.trains === true || one.staged === true);
  const oneStepOff = schedulers.some((one) => one.oneStepOff);
  return preparedRuns<Scheduler, RunResult, ComparisonResult>({
    ids: [...schedulers.map((one) => one.id), ...(withOracle ? ['oracle'] : [])],
    seeds,
    workload: options.workload,
    prompts,
    responsesPerPrompt,
    timeline: options.timeline,
    run: options.run,
    entrant: (index, { workload, fixed, seed }) => {
      const scheduler = schedulers[index];
      if (scheduler !== undefined) return { scheduler, workload };
      return { ...oracleSchedule({ job, workload, fixed, seed, trains, oneStepOff }), timeline: false };
    },
    simulate: ({ scheduler, workload, timeline }, { seed, longTokens }) =>
      simulate(job, scheduler, workload, { prompts, seed, timeline, validate, longTokens }),
    compared: (runs, on, lengthsOf) => {
      const oracle = runs[schedulers.length];
      const beside = { baseline: runs[0]!, confidence, ...(oracle === undefined ? {} : { oracle }) };
      const results = schedulers.map((scheduler, index) => schedulerResult(scheduler, runs[index]!, beside));
      const asked = { ...options, seeds: on };
      return {
        basis: basisOf(job),
        workload: describeWorkload(options.workload(on[0]!), prompts, on.flatMap(lengthsOf)),
        settings: settingsOf(asked),
        schedulers: results,
        ...(oracle === undefined ? {} : { oracle: schedulerResult({ id: 'oracle', label: 'oracle' }, oracle, beside) }),
        notes: notesOn(asked, results),
      };
    },
  });
}

/** Returns all schedulers, the baseline first. A default scheduler gets reward workers if the given ones have them. */
function schedulersOf({ job, baseline, schedulers }: CompareOptions): Scheduler[] {
  const given = [...(baseline === undefined ? [] : [baseline]), ...(schedulers ?? [])];
  if (baseline !== undefined && schedulers !== undefined) return given;
  const isConstant = given.length > 0 && given.every((one) => one.trains !== true && one.staged !== true);
  const [first, tail] = isConstant ? [synchronousBaseline(job), tailBatchingScheduler(job)] : usualSchedulers(job);
  return [baseline ?? first, ...(schedulers ?? [tail])];
}
