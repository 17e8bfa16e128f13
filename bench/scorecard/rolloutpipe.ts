/** RolloutPipe: every figure that it prints in numbers and that the simulator can print. */
import { type PoolsTaskId, poolsTaskIds } from '../../src/sim/pools/presets.ts';
import { ranges, type Size, sizes, table1 } from '../papers/rolloutpipe.ts';
import type { Row } from './row.ts';

/** What a row of a task and a size is about. */
export const schedulers = ['slime', 'cgp', 'both'] as const;

const row = (id: string, where: string, what: string, printed: Row['printed'], use: Row['use']): Row => ({
  id,
  paper: 'RolloutPipe',
  where,
  what,
  printed,
  use,
});

const of = (task: PoolsTaskId, size: Size): string => `${task}, R ${size}`;

/**
 * The median length of each task follows from what its rounds of 32 groups train; rounds of 96 were in view for two tasks, and
 * reductions and shares at both sizes when spread, correlation and the width of the frontier were chosen.
 */
const isFittedCompute = (task: PoolsTaskId, size: Size): boolean =>
  size === 32 || (size === 96 && (task === 'lsat-ar' || task === 'sci-jl'));

const each = <T>(list: readonly T[], rows: (one: T) => readonly Row[]): Row[] => list.flatMap((one) => [...rows(one)]);

export const rolloutpipeRows: readonly Row[] = [
  ...each(poolsTaskIds, (task) =>
    each(sizes, (size) =>
      schedulers.map((scheduler, index) => {
        const use = isFittedCompute(task, size) ? 'fitted' : 'validation';
        const what = `trainer compute, ${scheduler}, s (${of(task, size)})`;
        return row(`compute-${task}-${size}-${scheduler}`, 'Table 1', what, table1[task][size][index]!, use);
      }),
    ),
  ),
  ...each([32, 96] as const, (size) =>
    each(poolsTaskIds, (task) => [
      row(
        `reduction-${task}-${size}`,
        '§5.2',
        `shorter than serial (${of(task, size)})`,
        ranges.reduction[size],
        'fitted',
      ),
      row(
        `cgp-share-${task}-${size}`,
        '§5.2',
        `share of CGP in that (${of(task, size)})`,
        ranges.cgpShare[size],
        'fitted',
      ),
    ]),
  ),
  ...each(sizes, (size) =>
    each(poolsTaskIds, (task) => [
      row(
        `fgd-${task}-${size}`,
        '§5.2',
        `what FGD takes off CGP's time (${of(task, size)})`,
        [0.025, 0.114],
        'validation',
      ),
    ]),
  ),
  ...each(poolsTaskIds, (task) => {
    const { serial, cgp, both } = ranges.firstDispatch96;
    return [
      row(`reduction-${task}-64`, '§5.2', `shorter than serial (${of(task, 64)})`, [0.307, 0.423], 'validation'),
      row(`first-${task}-slime`, '§5.2', `first dispatch, slime, s (${of(task, 96)})`, serial, 'validation'),
      row(`first-${task}-cgp`, '§5.2', `first dispatch, CGP, s (${of(task, 96)})`, cgp, 'validation'),
      row(`first-${task}-both`, '§5.2', `first dispatch, CGP + FGD, s (${of(task, 96)})`, both, 'validation'),
      row(
        `waiting-${task}`,
        '§5.3',
        `waiting ratio of serial, equation 4 (${of(task, 32)})`,
        ranges.serialWaitingRatio,
        'validation',
      ),
    ];
  }),
  ...each(sizes, (size) =>
    each(poolsTaskIds, (task) => [
      row(
        `waiting-both-${task}-${size}`,
        '§5.3',
        `waiting ratio of CGP + FGD (${of(task, size)})`,
        ranges.waitingRatio,
        'validation',
      ),
    ]),
  ),
  row('main-sci-xw-96-cgp', '§5.2', `rollout start to train end, CGP, s (${of('sci-xw', 96)})`, 659, 'validation'),
  row(
    'main-sci-xw-96-both',
    '§5.2',
    `rollout start to train end, CGP + FGD, s (${of('sci-xw', 96)})`,
    642,
    'validation',
  ),
  ...each(poolsTaskIds, (task) => [
    row(`length-${task}`, '§5.3', `mean tokens of a response (${task})`, [3300, 3600], 'fitted'),
  ]),
];

export const rolloutpipeOutside: readonly (readonly [where: string, why: string])[] = [
  ['Figure 4, 6, 7', 'bars and traces whose values are not printed'],
  ['§5.1', 'a frontier of F_w = U = 2: cannot give the figures of §5.2 (docs/calibration.md)'],
];
