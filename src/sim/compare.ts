/**
 * Several schedulers on one workload. All of them train exactly the same prompts once (the source is exhausted after
 * them, which flushes every queue), so that the ratio of total times is a fair speedup, comparable with the clairvoyant
 * lower bound.
 */
import { PolicyError } from '../errors.ts';
import { describeWorkload, meanTotalSeconds, notesOn, settingsOf } from './compare-notes.ts';
import type { CompareOptions, CompareProgress } from './compare-options.ts';
import { simulate } from './host/driver.ts';
import { type Scheduler, synchronousBaseline, tailBatchingScheduler } from './host/scheduler.ts';
import { clairvoyantLowerBound, type FixedPrompt } from './lower-bound.ts';
import { ratio, sumOf } from './metrics.ts';
import type { ComparisonResult, Interval, RunResult, SchedulerResult } from './result.ts';
import { bootstrap, checkConfidence } from './statistics.ts';
import type { Workload } from './workload/workload.ts';

/** Compares schedulers. Throws `PolicyError` `invalid_input` for bad options, and as `simulate` does. */
export function compare(options: CompareOptions): ComparisonResult {
  const runs = comparing(options);
  let next = runs.next();
  while (next.done !== true) next = runs.next();
  return next.value;
}

/** The same, one run at a time: for hosts that show progress, or that must not block. */
export function* comparing(options: CompareOptions): Generator<CompareProgress, ComparisonResult> {
  check(options);
  const { job, seeds, steps } = options;
  const prompts = steps * job.promptsPerRound;
  const { baseline: first = synchronousBaseline(job) } = options;
  const schedulers = [first, ...(options.schedulers ?? [tailBatchingScheduler(job)])];
  // Policies that see to rewards and training may do both beside the rollout.
  const overlap = schedulers.some((one) => one.trains);
  const oneOff = schedulers.some((one) => one.oneOff);
  const runs: RunResult[][] = schedulers.map(() => []);
  const bounds: number[] = [];
  const lengths: number[] = [];
  const totalRuns = seeds.length * schedulers.length;
  for (const [place, seed] of seeds.entries()) {
    const workload = options.workload(seed);
    const fixed = fixedPrompts(workload, prompts, job.responsesPerPrompt);
    for (const one of fixed) lengths.push(...one.responseTokens);
    bounds.push(
      clairvoyantLowerBound(fixed, job.promptsPerRound, job.engines, job.cost, { overlap, oneOff }).totalSeconds,
    );
    for (const [index, scheduler] of schedulers.entries()) {
      const timeline = place === 0 && (options.timeline ?? true);
      const validate = options.validate ?? false;
      const run = (): RunResult => simulate(job, scheduler, workload, { prompts, seed, timeline, validate });
      runs[index]!.push(options.run === undefined ? run() : options.run(scheduler, seed, run));
      const doneRuns = place * schedulers.length + index + 1;
      yield { doneRuns, totalRuns, scheduler: scheduler.id, seed };
    }
  }
  const baseline = runs[0]!;
  const boundSeconds = ratio(
    sumOf(bounds, (one) => one),
    bounds.length,
  );
  const confidence = options.confidence ?? 0.95;
  const results = schedulers.map((scheduler, index) => schedulerResult(scheduler, runs[index]!, baseline, confidence));
  return {
    workload: describeWorkload(options.workload(seeds[0]!), prompts, lengths),
    settings: settingsOf(options),
    schedulers: results,
    lowerBound: { totalSeconds: boundSeconds, speedupLimit: ratio(meanTotalSeconds(baseline), boundSeconds) },
    notes: notesOn(options, results, boundSeconds),
  };
}

function check({ steps, seeds, baseline, schedulers, confidence }: CompareOptions): void {
  const refuse = (path: string, expected: string, got: unknown): never => {
    throw new PolicyError('invalid_input', { expected, got, path });
  };
  if (!Number.isInteger(steps) || steps < 1) refuse('steps', 'a whole number >= 1', steps);
  if (seeds.length === 0) refuse('seeds', 'at least one seed', seeds);
  for (const seed of seeds) if (!Number.isSafeInteger(seed)) refuse('seeds', 'whole numbers', seed);
  if (new Set(seeds).size < seeds.length) refuse('seeds', 'seeds that differ', seeds);
  const ids = [baseline?.id ?? 'synchronous', ...(schedulers ?? []).map((one) => one.id)];
  if (new Set(ids).size < ids.length) refuse('schedulers', 'ids that differ', ids);
  if (confidence !== undefined) checkConfidence(confidence);
}

/** The prompts with the R0 responses that the baseline trains on. */
function fixedPrompts(workload: Workload, count: number, responses: number): FixedPrompt[] {
  return Array.from({ length: count }, (_, index) => {
    const prompt = workload.prompt(index);
    const responseTokens = Array.from({ length: responses }, (_unused, k) => prompt.sample(k).tokens);
    return { promptTokens: prompt.promptTokens, responseTokens };
  });
}

function schedulerResult(
  { id, label, rung }: Scheduler,
  runs: readonly RunResult[],
  baseline: readonly RunResult[],
  confidence: number,
): SchedulerResult {
  const pairs = runs.map((run, index) => ({ run, base: baseline[index]! }));
  type Pair = (typeof pairs)[number];
  // Seeds are resampled as pairs: both schedulers saw the same prompts and samples.
  const interval = (over: (pair: Pair) => number, under: (pair: Pair) => number): Interval =>
    bootstrap(pairs, (cases) => ratio(sumOf(cases, over), sumOf(cases, under)), { seed: 1, confidence });
  const responses = sumOf(runs, (run) => run.trainedResponses);
  const mean = (list: readonly RunResult[]): number =>
    ratio(
      sumOf(list, (run) => run.keptTokens),
      sumOf(list, (run) => run.trainedResponses),
    );
  const ages = runs.flatMap((run) => run.steps.flatMap((step) => step.queueAges));
  return {
    scheduler: id,
    label,
    ...(rung === undefined ? undefined : { rung }),
    runs,
    stepSeconds: interval(
      ({ run }) => run.totalSeconds,
      ({ run }) => run.steps.length,
    ),
    rolloutSeconds: interval(
      ({ run }) => run.rolloutSeconds,
      ({ run }) => run.steps.length,
    ),
    speedup: interval(
      ({ base }) => base.totalSeconds,
      ({ run }) => run.totalSeconds,
    ),
    rolloutSpeedup: interval(
      ({ base }) => base.rolloutSeconds,
      ({ run }) => run.rolloutSeconds,
    ),
    keptTokenRatio: ratio(mean(runs), mean(baseline)),
    cappedShare: ratio(
      sumOf(runs, (run) => run.cappedShare * run.trainedResponses),
      responses,
    ),
    bubbleRatio: ratio(
      sumOf(runs, (run) => run.bubbleRatio * run.rolloutSeconds),
      sumOf(runs, (run) => run.rolloutSeconds),
    ),
    meanQueueAge: ratio(
      sumOf(ages, (age) => age),
      ages.length,
    ),
    maxQueueAge: runs.reduce((most, run) => Math.max(most, run.maxQueueAge), 0),
  };
}
