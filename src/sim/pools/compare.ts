/** Several schedulers of disaggregated pools on the same prompts and samples. */
import { sampleStandardDeviation } from 'simple-statistics';
import { refuse } from '../../errors.ts';
import { fixedPrompts, keptShares, longestOf } from '../comparison/kept-shares.ts';
import { ratio, sumOf } from '../comparison/metrics.ts';
import { pairedStatistics } from '../comparison/scheduler-result.ts';
import type { Workload } from '../workload/workload.ts';
import { simulatePools } from './driver.ts';
import { notesOnPools } from './notes.ts';
import { reproducingWidth } from './presets.ts';
import type { PoolsComparison, PoolsRound, PoolsRun, PoolsSchedulerResult, ReductionShares } from './result.ts';
import {
  cgpScheduler,
  fgdScheduler,
  type PoolsScheduler,
  poolsTailScheduler,
  rolloutpipeScheduler,
  serialBaseline,
} from './scheduler.ts';
import type { PoolsJob } from './settings.ts';

/** Options of a comparison of disaggregated pools. */
export interface PoolsCompareOptions {
  /** Rollout pool, trainer and batch shape. */
  readonly job: PoolsJob;
  /** Prompts and lengths for each seed. */
  readonly workload: (seed: number) => Workload;
  /** Rounds of each run, by default 4. */
  readonly rounds?: number;
  /** Seeds, by default 1, 2 and 3. */
  readonly seeds?: readonly number[];
  /** The first is the baseline; by default {@link poolsSchedulers}. */
  readonly schedulers?: readonly PoolsScheduler[];
  /** Whether timelines of the first seed are kept (default true). */
  readonly timeline?: boolean;
  /** Called for every run, to return the result of `simulate`: for hosts that keep runs from one comparison to the next. */
  readonly run?: (scheduler: PoolsScheduler, seed: number, simulate: () => PoolsRun) => PoolsRun;
}

/**
 * Returns four kinds of schedulers: serial, each mechanism alone, and both together.
 *
 * @param width - F_w of the frontier, by default the one that reproduces RolloutPipe
 */
export function poolsSchedulers(width: number | 'auto' = reproducingWidth): PoolsScheduler[] {
  const both = width === 'auto' ? [] : [rolloutpipeScheduler(width)];
  return [serialBaseline, cgpScheduler, fgdScheduler(width), ...both, rolloutpipeScheduler('auto')];
}

/** Returns tail batching whose rounds are trained when complete, then as they are generated, then with a frontier. */
export function poolsTailSchedulers(): PoolsScheduler[] {
  return [poolsTailScheduler(false), poolsTailScheduler(true), poolsTailScheduler(true, 'auto')];
}

/**
 * Compares schedulers.
 *
 * @throws PolicyError `invalid_input` for bad options, and as `simulatePools` does
 */
export function comparePools(options: PoolsCompareOptions): PoolsComparison {
  const { job, rounds = 4, seeds = [1, 2, 3], schedulers = poolsSchedulers() } = options;
  check(seeds, schedulers);
  const longTokens = seeds.map((seed) =>
    longestOf(fixedPrompts(options.workload(seed), rounds * job.groupsPerRound, job.responsesPerPrompt)),
  );
  const runs = schedulers.map((scheduler) =>
    seeds.map((seed, index) => {
      const given = {
        rounds,
        seed,
        timeline: index === 0 && (options.timeline ?? true),
        longTokens: longTokens[index]!,
      };
      const run = (): PoolsRun => simulatePools(job, scheduler, options.workload(seed), given);
      return options.run === undefined ? run() : options.run(scheduler, seed, run);
    }),
  );
  const results = schedulers.map((scheduler, index) => resultOf(scheduler, runs[index]!, runs[0]!));
  const { name, source, caveat, capTokens, correlation } = options.workload(seeds[0]!);
  const all = runs[0]!.flatMap((run) => run.rounds);
  const workload = {
    name,
    source,
    capTokens,
    correlation,
    meanTokens: results[0]!.meanResponseTokens,
    longestTokens: all.reduce((most, round) => Math.max(most, round.maxResponseTokens), 0),
  };
  const shares = sharesOf(results);
  const notes = [...notesOnPools(job, results), ...(caveat === undefined ? [] : [caveat])];
  return { workload, job, rounds, seeds, schedulers: results, shares, notes };
}

function check(seeds: readonly number[], schedulers: readonly PoolsScheduler[]): void {
  if (seeds.length === 0 || new Set(seeds).size < seeds.length)
    refuse('invalid_input', 'seeds', 'seeds that differ', seeds);
  const ids = schedulers.map((one) => one.id);
  if (ids.length === 0 || new Set(ids).size < ids.length) refuse('invalid_input', 'schedulers', 'ids that differ', ids);
}

function resultOf(
  { id, label, pipelining, width, tailBatching }: PoolsScheduler,
  runs: readonly PoolsRun[],
  baseline: readonly PoolsRun[],
): PoolsSchedulerResult {
  const rounds = runs.flatMap((run) => run.rounds);
  const sum = (value: (round: PoolsRound) => number): number => sumOf(rounds, value);
  const mean = (value: (round: PoolsRound) => number): number => ratio(sum(value), rounds.length);
  const main = (run: PoolsRun): number => sumOf(run.rounds, (round) => round.mainSeconds);
  const { interval, quotient } = pairedStatistics(runs, baseline);
  const tokens = (run: PoolsRun): number => sumOf(run.rounds, (round) => round.tokens);
  const perToken = (list: readonly PoolsRun[]): number => ratio(sumOf(list, main), sumOf(list, tokens));
  const widths = rounds.flatMap((round) => (round.width === undefined ? [] : [round.width]));
  const seconds = rounds.map((round) => round.mainSeconds);
  return {
    scheduler: id,
    label,
    pipelining,
    width,
    tailBatching,
    runs,
    mainSeconds: quotient(
      ({ run }) => main(run),
      ({ run }) => run.rounds.length,
    ),
    mainDeviation: seconds.length < 2 ? 0 : sampleStandardDeviation(seconds),
    reduction: interval(
      (cases) =>
        1 -
        ratio(
          sumOf(cases, ({ run }) => main(run)),
          sumOf(cases, ({ base }) => main(base)),
        ),
    ),
    roundSeconds: mean((round) => round.endSeconds - round.startSeconds),
    rolloutSeconds: mean((round) => round.rolloutSeconds),
    firstDispatchSeconds: mean((round) => round.firstDispatchSeconds),
    recoverySeconds: mean((round) => round.recoverySeconds),
    waitSeconds: mean((round) => round.waitSeconds),
    computeSeconds: mean((round) => round.computeSeconds),
    publishSeconds: mean((round) => round.publishSeconds),
    startWaitingRatio: mean((round) => round.startWaitingRatio),
    computeWaitingRatio: mean((round) => round.computeWaitingRatio),
    wallClockWaitingRatio: mean((round) => round.wallClockWaitingRatio),
    bubbleRatio: mean((round) => round.bubbleRatio),
    meanResponseTokens: ratio(
      sum((round) => round.tokens),
      sum((round) => round.responses),
    ),
    cappedShare: ratio(
      sum((round) => round.cappedResponses),
      sum((round) => round.responses),
    ),
    longShare: mean((round) => (round.kind === 'long' ? 1 : 0)),
    keptTokenRatio: ratio(
      sum((round) => round.tokens),
      sumOf(
        baseline.flatMap((run) => run.rounds),
        (round) => round.tokens,
      ),
    ),
    equalTokenSpeedup: interval((cases) =>
      ratio(perToken(cases.map(({ base }) => base)), perToken(cases.map(({ run }) => run))),
    ),
    ...keptShares(runs.map(({ kept }) => kept)),
    redrawnShare: ratio(
      sumOf(runs, ({ kept }) => kept.redrawnResponses),
      sum((round) => round.responses),
    ),
    maxLag: rounds.reduce((most, round) => Math.max(most, round.lag), 0),
    preemptions: mean((round) => round.preemptions),
    ...(widths.length === 0
      ? {}
      : {
          meanWidth: ratio(
            sumOf(widths, (one) => one),
            widths.length,
          ),
        }),
    starvedRounds: rounds.filter((round) => round.starved > 0).length,
  };
}

/** For each scheduler with both mechanisms: the share of its reduction that CGP alone reaches. */
function sharesOf(results: readonly PoolsSchedulerResult[]): ReductionShares[] {
  const ofRolloutPipe = results.filter((one) => one.pipelining && !one.tailBatching);
  const alone = ofRolloutPipe.find((one) => one.width === 'all');
  if (alone === undefined) return [];
  return ofRolloutPipe
    .filter((one) => one.width !== 'all' && one.reduction.value > 0)
    .map(({ scheduler, reduction }) => {
      const cgp = alone.reduction.value / reduction.value;
      return { scheduler, cgp, fgd: 1 - cgp };
    });
}
