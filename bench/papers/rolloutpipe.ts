/**
 * Shows the simulator's figures, against those of RolloutPipe: trainer compute (Table 1), reductions and shares (Figure
 * 4), waiting ratios, first dispatches, and what other widths of the frontier give.
 * `npx tsx bench/papers/rolloutpipe.ts [seeds]`. docs/calibration.md says what was fitted, and what does not fit.
 */
import { pathToFileURL } from 'node:url';
import Table from 'cli-table3';
import { comparePools } from '../../src/sim/pools/compare.ts';
import { simulatePools } from '../../src/sim/pools/driver.ts';
import {
  type PoolsTaskId,
  poolsTaskIds,
  reproducingWidth,
  rolloutpipeJob,
  rolloutpipeWorkload,
} from '../../src/sim/pools/presets.ts';
import type { PoolsComparison, PoolsSchedulerResult } from '../../src/sim/pools/result.ts';
import {
  cgpScheduler,
  type FrontierWidth,
  type PoolsScheduler,
  rolloutpipeScheduler,
  serialBaseline,
} from '../../src/sim/pools/scheduler.ts';

/** Groups of a round. */
export const sizes = [32, 64, 96] as const;
export type Size = (typeof sizes)[number];

/** RolloutPipe Table 1: seconds of trainer compute of Slime, CGP and CGP + FGD. */
export const table1: Readonly<Record<PoolsTaskId, Readonly<Record<Size, readonly [number, number, number]>>>> = {
  'lsat-ar': { 32: [195.1, 194.7, 195.9], 64: [388.9, 387.6, 391.9], 96: [587.4, 589.0, 586.4] },
  'sci-xw': { 32: [191.8, 191.7, 192.5], 64: [379.9, 383.4, 375.9], 96: [572.2, 573.0, 577.3] },
  'sci-jl': { 32: [194.1, 195.2, 192.5], 64: [384.6, 380.7, 385.7], 96: [584.5, 584.1, 584.1] },
  olyphys: { 32: [211.5, 210.6, 211.1], 64: [420.7, 425.7, 426.9], 96: [640.0, 640.0, 644.4] },
};

/** Ranges over the four tasks that §5.2 gives; shares. */
export const ranges = {
  reduction: { 32: [0.307, 0.329], 96: [0.398, 0.423] },
  cgpShare: { 32: [0.71, 0.79], 96: [0.92, 0.96] },
  serialWaitingRatio: [0.47, 0.52],
  waitingRatio: [0.14, 0.33],
  firstDispatch96: { serial: [509, 543], cgp: [46, 90], both: [52, 61] },
} as const;

const schedulersWith = (width: FrontierWidth): PoolsScheduler[] => [
  serialBaseline,
  cgpScheduler,
  rolloutpipeScheduler(width as number | 'auto'),
];

/** A task and a size: serial, CGP, CGP + FGD. */
export interface Figures {
  readonly serial: PoolsSchedulerResult;
  readonly cgp: PoolsSchedulerResult;
  readonly both: PoolsSchedulerResult;
  /** What CGP alone has of the whole reduction. */
  readonly cgpShare: number;
  readonly comparison: PoolsComparison;
}

/** Runs a task, four rounds a seed as in the paper. */
export function figuresOf(
  task: PoolsTaskId,
  groups: number,
  seeds: readonly number[],
  width: number | 'auto' = reproducingWidth,
): Figures {
  const comparison = comparePools({
    job: rolloutpipeJob(groups),
    workload: (seed) => rolloutpipeWorkload(task, seed),
    rounds: 4,
    seeds,
    schedulers: schedulersWith(width),
    timeline: false,
  });
  const [serial, cgp, both] = comparison.schedulers as [
    PoolsSchedulerResult,
    PoolsSchedulerResult,
    PoolsSchedulerResult,
  ];
  return { serial, cgp, both, cgpShare: cgp.reduction.value / both.reduction.value, comparison };
}

const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)} %`;
const whole = (value: number): string => value.toFixed(0);

function printFigures(seeds: readonly number[]): void {
  const head = ['task', 'R', 'train s', 'Table 1', 'serial', 'CGP', 'both', 'shorter', 'CGP has'];
  const times = new Table({
    head: [...head, 'eq. 4 serial', 'first: serial', 'CGP', 'both', 'wait share: CGP', 'both'],
  });
  for (const groups of sizes) {
    for (const task of poolsTaskIds) {
      const { serial, cgp, both, cgpShare } = figuresOf(task, groups, seeds);
      times.push([
        task,
        groups,
        serial.computeSeconds.toFixed(1),
        table1[task][groups][0].toFixed(1),
        ...[serial, cgp, both].map((one) => whole(one.mainSeconds.value)),
        percent(both.reduction.value),
        percent(cgpShare),
        percent(serial.startWaitingRatio),
        ...[serial, cgp, both].map((one) => whole(one.firstDispatchSeconds)),
        ...[cgp, both].map((one) => percent(one.computeWaitingRatio)),
      ]);
    }
  }
  console.log(times.toString());
  console.log(
    'RolloutPipe: shorter by 30.7 to 32.9 % at R = 32, 39.8 to 42.3 % at 96; CGP has 71 to 79 %, 92 to 96 %;',
  );
  console.log('eq. 4 of serial 47 to 52 %; first dispatch at R = 96: 509 to 543 s, 46 to 90 s, 52 to 61 s;');
  console.log(
    'wait share of both 14 to 33 %, at R = 96 14.2, 15.0, 13.8 and 13.9 %; Sci-XW at 96: CGP 659 s, both 642 s.',
  );
}

/** Widths that are compared. */
export const widths = [2, 4, 8, 12, 14, 16, 20, 24, 32, 'auto'] as const;

function printWidths(seeds: readonly number[]): void {
  const table = new Table({ head: ['F_w', ...sizes.flatMap((size) => [`R ${size}: main s`, 'shorter', 'first s'])] });
  for (const width of widths) {
    const cells = sizes.flatMap((size) => {
      const { both } = figuresOf('lsat-ar', size, seeds, width);
      return [whole(both.mainSeconds.value), percent(both.reduction.value), whole(both.firstDispatchSeconds)];
    });
    table.push([width, ...cells]);
  }
  console.log(table.toString());
}

/** Simulated responses a second, best of some runs. */
export function responsesPerSecond(groups: number, rounds: number, tries: number): number {
  const job = rolloutpipeJob(groups);
  let best = 0;
  for (let seed = 1; seed <= tries; seed += 1) {
    for (const scheduler of schedulersWith(reproducingWidth)) {
      const workload = rolloutpipeWorkload('lsat-ar', seed);
      const start = performance.now();
      simulatePools(job, scheduler, workload, { rounds, seed, timeline: false });
      const seconds = (performance.now() - start) / 1000;
      best = Math.max(best, (rounds * groups * job.responsesPerPrompt) / seconds);
    }
  }
  return best;
}

function main(): void {
  const seeds = Array.from({ length: Number(process.argv[2] ?? 5) }, (_, index) => index + 1);
  printFigures(seeds);
  printWidths(seeds);
  console.log(`${whole(responsesPerSecond(96, 20, 3))} simulated responses a second, R = 96`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main();
