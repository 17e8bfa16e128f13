/** Disaggregated pools: a serial trainer, and RolloutPipe's two mechanisms. */
import {
  cgpScheduler,
  comparePools,
  fgdScheduler,
  type PoolsComparison,
  type PoolsJob,
  type PoolsRun,
  type PoolsScheduler,
  rolloutpipeJob,
  rolloutpipeScheduler,
  serialBaseline,
} from 'rollflex/sim';
import { poolsData } from '../../../../src/sim/report/pools-data.ts';
import type { PoolsSettings } from '../settings/pools.ts';
import type { Keep } from './keep.ts';
import type { Library } from './library.ts';
import type { Shown, ShownRow } from './messages.ts';
import { number, percent, seconds, times } from './text.ts';

/** The job that settings describe: RolloutPipe's machines. */
export function poolsJobOf({ R, K, U, e, tr, ver }: PoolsSettings): PoolsJob {
  const { cost, verifier } = rolloutpipeJob(R);
  return rolloutpipeJob(R, {
    responsesPerPrompt: K,
    globalBatchSamples: U * K,
    engines: e,
    cost: { ...cost, trainSecondsPerToken: tr / 1000 },
    verifier: { ...verifier, medianSeconds: ver },
  });
}

/** Serial, each mechanism alone, and both. */
export const poolsSchedulersOf = ({ Fw }: PoolsSettings): PoolsScheduler[] => [
  serialBaseline,
  cgpScheduler,
  fgdScheduler(Fw),
  rolloutpipeScheduler(Fw),
];

/** Simulates: the first seed alone, then all of them. */
export function* simulatePoolsView(
  settings: PoolsSettings,
  library: Library,
  keep: Keep,
): Generator<{ shown: Shown; seeds: number } | undefined> {
  const job = poolsJobOf(settings);
  const schedulers = poolsSchedulersOf(settings);
  const { Fw: _, s, ...rest } = settings;
  const given = JSON.stringify([library.keyOf(settings.t), rest]);
  const run = (scheduler: PoolsScheduler, seed: number, simulate: () => PoolsRun): PoolsRun =>
    // The id has the width of the frontier.
    keep.get(`${scheduler.id} ${seed} ${given}`, simulate);
  const workload = (seed: number) => library.pools(settings, seed);
  for (const count of s === 1 ? [1] : [1, s]) {
    // One seed more each time, so that a change of settings need not wait for all of them.
    for (let most = Math.min(2, count); most <= count; most += 1) {
      const seeds = Array.from({ length: most }, (_unused, index) => index + 1);
      const comparison = comparePools({ job, workload, rounds: settings.n, seeds, schedulers, run });
      yield most === count ? { shown: shownOf(comparison, settings, job), seeds: count } : undefined;
    }
  }
}

function shownOf(comparison: PoolsComparison, settings: PoolsSettings, job: PoolsJob): Shown {
  const { schedulers, workload, notes } = comparison;
  const baseline = schedulers[0]!;
  const rows = schedulers.map(
    (one): ShownRow => ({
      id: one.scheduler.replace(/-\d+$/, ''),
      label: one.label,
      cells: {
        speedup: times(baseline.mainSeconds.value / one.mainSeconds.value),
        equal: times(one.equalTokenSpeedup.value),
        kept: times(one.keptTokenRatio),
        capped: percent(one.cappedShare),
        main: seconds(one.mainSeconds.value),
        round: seconds(one.roundSeconds),
        first: seconds(one.firstDispatchSeconds),
        eq4: percent(one.startWaitingRatio),
        waiting: percent(one.computeWaitingRatio),
        bubbles: percent(one.bubbleRatio),
        starved: number(one.starvedRounds, 0),
      },
    }),
  );
  const best = schedulers
    .slice(1)
    .reduce((one, other) => (other.mainSeconds.value < one.mainSeconds.value ? other : one));
  const ratio = times(baseline.mainSeconds.value / best.mainSeconds.value);
  const kept = times(best.keptTokenRatio);
  return {
    headline: `${best.label}: ${ratio} as fast, on ${kept} the tokens; ${percent(best.cappedShare)} at the cap.`,
    cost:
      `From rollout start to train end a round takes ${seconds(best.mainSeconds.value)} instead of ` +
      `${seconds(baseline.mainSeconds.value)} with a serial trainer. The trainer has nothing to do for ` +
      `${percent(best.computeWaitingRatio)} of its time instead of ${percent(baseline.computeWaitingRatio)}.`,
    rows,
    charts: { kind: 'pools', data: poolsData(comparison) },
    facts: [
      `${workload.name}: ${workload.source}`,
      `simulated responses mean ${number(workload.meanTokens, 0)}, longest ${number(workload.longestTokens, 0)} tokens`,
      job.name,
    ],
    notes,
    configs: [
      {
        kind: 'policy',
        id: 'rolloutpipe',
        config: {
          responsesPerPrompt: job.responsesPerPrompt,
          globalBatchSamples: job.globalBatchSamples,
          pipelining: true,
          frontier: true,
          width: settings.Fw,
        },
      },
    ],
  };
}
