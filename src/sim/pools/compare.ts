/** Several schedulers of disaggregated pools on the same prompts and samples. */
import { sampleStandardDeviation } from 'simple-statistics';
import { keptShares } from '../comparison/kept-shares.ts';
import { meanOf, meansOf, mostOf, ratio, ratioOf, sumOf } from '../comparison/metrics.ts';
import { pairedStatistics } from '../comparison/statistics.ts';
import { comparedAll, preparedRuns } from '../comparison/world.ts';
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
  return comparedAll(
    preparedRuns<PoolsScheduler, PoolsRun, PoolsComparison>({
      ids: schedulers.map((one) => one.id),
      seeds,
      workload: options.workload,
      prompts: rounds * job.groupsPerRound,
      responsesPerPrompt: job.responsesPerPrompt,
      timeline: options.timeline,
      run: options.run,
      entrant: (index, { workload }) => ({ scheduler: schedulers[index]!, workload }),
      simulate: ({ scheduler, workload, timeline }, { seed, longTokens }) =>
        simulatePools(job, scheduler, workload, { rounds, seed, timeline, longTokens }),
      compared: (runs) => {
        const results = schedulers.map((scheduler, index) => resultOf(scheduler, runs[index]!, runs[0]!));
        const { name, source, caveat, capTokens, correlation } = options.workload(seeds[0]!);
        const workload = {
          name,
          source,
          capTokens,
          correlation,
          meanTokens: results[0]!.meanResponseTokens,
          longestTokens: mostOf(roundsOf(runs[0]!), 'maxResponseTokens'),
        };
        const notes = [...notesOnPools(job, results), ...(caveat === undefined ? [] : [caveat])];
        return { workload, job, rounds, seeds, schedulers: results, shares: sharesOf(results), notes };
      },
    }),
  );
}

const roundsOf = (runs: readonly PoolsRun[]): PoolsRound[] => runs.flatMap((run) => run.rounds);
const mainOf = ({ rounds }: PoolsRun): number => sumOf(rounds, 'mainSeconds');
const tokensOf = ({ rounds }: PoolsRun): number => sumOf(rounds, 'tokens');
const perToken = (runs: readonly PoolsRun[]): number => ratioOf(runs, mainOf, tokensOf);

function resultOf(
  { id, label, pipelining, width, tailBatching }: PoolsScheduler,
  runs: readonly PoolsRun[],
  baseline: readonly PoolsRun[],
): PoolsSchedulerResult {
  const rounds = roundsOf(runs);
  const mean = (value: (round: PoolsRound) => number): number => ratio(sumOf(rounds, value), rounds.length);
  const paired = pairedStatistics(runs, baseline);
  const widths = rounds.flatMap((round) => (round.width === undefined ? [] : [round.width]));
  const seconds = rounds.map((round) => round.mainSeconds);
  const redrawn = sumOf(runs, ({ kept }) => kept.redrawnResponses);
  return {
    scheduler: id,
    label,
    pipelining,
    width,
    tailBatching,
    runs,
    mainSeconds: paired.mean(mainOf, (run) => run.rounds.length),
    mainDeviation: seconds.length < 2 ? 0 : sampleStandardDeviation(seconds),
    reduction: paired.saved(mainOf),
    roundSeconds: mean((round) => round.endSeconds - round.startSeconds),
    ...meansOf(rounds, 'rolloutSeconds', 'firstDispatchSeconds', 'recoverySeconds', 'waitSeconds', 'computeSeconds'),
    ...meansOf(rounds, 'publishSeconds', 'startWaitingRatio', 'computeWaitingRatio', 'wallClockWaitingRatio'),
    ...meansOf(rounds, 'bubbleRatio'),
    meanResponseTokens: ratioOf(rounds, 'tokens', 'responses'),
    cappedShare: ratioOf(rounds, 'cappedResponses', 'responses'),
    longShare: mean((round) => (round.kind === 'long' ? 1 : 0)),
    keptTokenRatio: ratio(sumOf(rounds, 'tokens'), sumOf(roundsOf(baseline), 'tokens')),
    equalTokenSpeedup: paired.interval((some, base) => ratio(perToken(base), perToken(some))),
    ...keptShares(runs.map(({ kept }) => kept)),
    redrawnShare: ratio(redrawn, sumOf(rounds, 'responses')),
    maxLag: mostOf(rounds, 'lag'),
    ...meansOf(rounds, 'preemptions'),
    ...(widths.length === 0 ? {} : { meanWidth: meanOf(widths) }),
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
