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
import { fixedPrompts, longestOf } from './kept-shares.ts';
import type { ComparisonResult, RunResult } from './result.ts';
import { schedulerResult } from './scheduler-result.ts';
import { checkConfidence } from './statistics.ts';

/** Compares schedulers. Throws `PolicyError` `invalid_input` for bad options, and the errors of `simulate`. */
export function compare(options: CompareOptions): ComparisonResult {
  const runs = comparing(options);
  let next = runs.next();
  while (next.done !== true) next = runs.next();
  return next.value;
}

/** Compares schedulers, and yields after each run: for hosts that show progress, or that must not block. */
export function* comparing(options: CompareOptions): Generator<CompareProgress, ComparisonResult> {
  const prepared = prepareRuns(options);
  const { totalRuns } = prepared;
  const runs: RunResult[] = [];
  for (let runIndex = 0; runIndex < totalRuns; runIndex += 1) {
    const run = prepared.make(runIndex);
    runs.push(run);
    yield { doneRuns: runIndex + 1, totalRuns, scheduler: run.scheduler, seed: run.seed };
  }
  return prepared.compared(runs);
}

/** The runs of a comparison. Each can be made alone, even in another process with the same options. */
export interface PreparedRuns {
  /** Number of runs: schedulers × seeds, and one oracle run per seed. */
  readonly totalRuns: number;
  /** Makes a run by its index. The runs of a seed are adjacent; those of the first seed come first. */
  make(runIndex: number): RunResult;
  /** Compares all runs, which must be in index order. */
  compared(runs: readonly RunResult[]): ComparisonResult;
  /** Compares the runs of those seeds that have all of theirs, given by their index; `undefined` if no seed has. */
  comparedSoFar(runs: ReadonlyMap<number, RunResult>): ComparisonResult | undefined;
}

/** Prepares the runs of a comparison. Throws `PolicyError` `invalid_input` for bad options. */
export function prepareRuns(options: CompareOptions): PreparedRuns {
  const schedulers = schedulersOf(options);
  check(options, schedulers);
  const { job, seeds, steps } = options;
  const prompts = steps * job.promptsPerRound;
  const withOracle = options.oracle ?? true;
  const perSeed = schedulers.length + (withOracle ? 1 : 0);
  const fixedOf = (seed: number) => {
    const workload = options.workload(seed);
    const fixed = fixedPrompts(workload, prompts, job.responsesPerPrompt);
    const lengths = fixed.flatMap(({ responseTokens }) => responseTokens);
    lengthsOf.set(seed, lengths);
    return { seed, workload, fixed, longTokens: longestOf(fixed) };
  };
  // The runs of a seed are adjacent, so only one seed's workload is kept in memory, and only the lengths of the others.
  const lengthsOf = new Map<number, number[]>();
  let drawn: ReturnType<typeof fixedOf> | undefined;
  const ofSeed = (seed: number) => {
    if (drawn?.seed !== seed) drawn = fixedOf(seed);
    return drawn;
  };
  const trains = schedulers.some((one) => one.trains === true || one.staged === true);
  const oneStepOff = schedulers.some((one) => one.oneStepOff);
  const compared = (runs: readonly RunResult[], on: readonly number[]): ComparisonResult => {
    const runsOf = (index: number): RunResult[] => runs.filter((_, runIndex) => runIndex % perSeed === index);
    const confidence = options.confidence ?? 0.95;
    const oracleRuns = withOracle ? runsOf(schedulers.length) : undefined;
    const beside = { baseline: runsOf(0), confidence, ...(oracleRuns === undefined ? {} : { oracle: oracleRuns }) };
    const results = schedulers.map((scheduler, index) => schedulerResult(scheduler, runsOf(index), beside));
    for (const seed of on) if (!lengthsOf.has(seed)) ofSeed(seed);
    const lengths = on.flatMap((seed) => lengthsOf.get(seed)!);
    return {
      basis: basisOf(job),
      workload: describeWorkload(options.workload(on[0]!), prompts, lengths),
      settings: settingsOf({ ...options, seeds: on }),
      schedulers: results,
      ...(oracleRuns === undefined
        ? {}
        : { oracle: schedulerResult({ id: 'oracle', label: 'oracle' }, oracleRuns, beside) }),
      notes: notesOn({ ...options, seeds: on }, results),
    };
  };
  return {
    totalRuns: seeds.length * perSeed,
    make: (runIndex) => {
      const index = runIndex % perSeed;
      const { seed, workload, fixed, longTokens } = ofSeed(seeds[Math.floor(runIndex / perSeed)]!);
      const scheduler = schedulers[index];
      const one =
        scheduler === undefined
          ? oracleSchedule({ job, workload, fixed, seed, trains, oneStepOff })
          : { scheduler, workload };
      const timeline = scheduler !== undefined && runIndex < perSeed && (options.timeline ?? true);
      const given = { prompts, seed, timeline, validate: options.validate ?? false, longTokens };
      const simulated = (): RunResult => simulate(job, one.scheduler, one.workload, given);
      return options.run === undefined ? simulated() : options.run(one.scheduler, seed, simulated);
    },
    compared: (runs) => compared(runs, seeds),
    comparedSoFar: (runs) => {
      const ofSeedAt = (index: number): RunResult[] =>
        Array.from({ length: perSeed }, (_, one) => runs.get(index * perSeed + one)).filter((one) => one !== undefined);
      const whole = [...seeds.keys()].filter((index) => ofSeedAt(index).length === perSeed);
      if (whole.length === 0) return undefined;
      return compared(
        whole.flatMap(ofSeedAt),
        whole.map((index) => seeds[index]!),
      );
    },
  };
}

/** Returns all schedulers, the baseline first. A default scheduler gets reward workers if the given ones have them. */
function schedulersOf({ job, baseline, schedulers }: CompareOptions): Scheduler[] {
  const given = [...(baseline === undefined ? [] : [baseline]), ...(schedulers ?? [])];
  if (baseline !== undefined && schedulers !== undefined) return given;
  const isConstant = given.length > 0 && given.every((one) => one.trains !== true && one.staged !== true);
  const [first, tail] = isConstant ? [synchronousBaseline(job), tailBatchingScheduler(job)] : usualSchedulers(job);
  return [baseline ?? first, ...(schedulers ?? [tail])];
}

function check({ steps, seeds, confidence, oracle = true }: CompareOptions, schedulers: readonly Scheduler[]): void {
  if (!Number.isInteger(steps) || steps < 1) refuse('invalid_input', 'steps', 'a whole number >= 1', steps);
  if (seeds.length === 0) refuse('invalid_input', 'seeds', 'at least one seed', seeds);
  for (const seed of seeds) if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seeds', 'whole numbers', seed);
  if (new Set(seeds).size < seeds.length) refuse('invalid_input', 'seeds', 'seeds that differ', seeds);
  const ids = [...schedulers.map((one) => one.id), ...(oracle ? ['oracle'] : [])];
  if (new Set(ids).size < ids.length) refuse('invalid_input', 'schedulers', 'ids that differ', ids);
  if (confidence !== undefined) checkConfidence(confidence);
}
