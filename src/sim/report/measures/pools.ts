/** The measures of disaggregated pools. */
import type { PoolsRound, PoolsSchedulerResult } from '../../pools/result.ts';
import { type Column, number, numbers, percent } from '../format.ts';
import { formats, longest, type Measure, measuresOf, onPages, onTerminal } from './measure.ts';
import { seconds as short } from './plain.ts';

const { seconds, tenths, share, shareInTenths, relative, mainValue } = formats;
const of = measuresOf<PoolsSchedulerResult>();

const small = (text: string): string => `<span class="range">${text}</span>`;
const main: Measure<PoolsSchedulerResult> = {
  text: ['main\ns', (one) => short(one.mainSeconds.value)],
  page: ['main time, s', (one) => `${number(one.mainSeconds.value, 1)} ${small(`± ${number(one.mainDeviation, 1)}`)}`],
};
const shorter = of('shorter', 'shorter by', (one) => one.reduction, {
  text: ({ value }) => shareInTenths.text(value),
  page: ({ value, low, high }) =>
    `<b>${percent(value)}</b> ${small(`${number(100 * low, 1)} to ${number(100 * high, 1)}`)}`,
});
const trained = [
  of('equal\ntokens', 'at equal tokens', (one) => one.equalTokenSpeedup, mainValue),
  of('kept\ntokens', 'kept tokens', (one) => one.keptTokenRatio, relative),
  of(null, 'at the cap', (one) => one.cappedShare, share),
  longest,
  of('even\ngroups', 'even groups', (one) => one.evenGroupShare, shareInTenths),
  of(null, 'drawn again', (one) => one.redrawnShare, share),
];
const times = [
  of(null, 'rollout, s', (one) => one.rolloutSeconds, tenths),
  of('first\ns', 'first dispatch, s', (one) => one.firstDispatchSeconds, seconds),
  of('recover\ns', 'recovery, s', (one) => one.recoverySeconds, seconds),
  of('train\ns', 'training, s', (one) => one.computeSeconds, seconds),
  of('wait\ns', 'wait, s', (one) => one.waitSeconds, seconds),
];
const waits = [
  of('wait\neq. 4', 'wait, eq.\u00a04', (one) => one.startWaitingRatio, shareInTenths),
  of('wait\nshare', 'wait ÷ (wait + training)', (one) => one.computeWaitingRatio, shareInTenths),
  of('wait\nclock', 'wait ÷ main time', (one) => one.wallClockWaitingRatio, shareInTenths),
];
const round = of('round\ns', 'round, s', (one) => one.roundSeconds, seconds);

/** Columns on the terminal. */
export const poolsText = onTerminal([main, shorter, ...trained, ...times, ...waits, round]);

/** Columns of pages about the times of a round, the trained data, and waits. */
export const timeColumns = onPages([main, shorter, ...times, round]);
export const trainedColumns = onPages(trained);
export const waitColumns = onPages(waits);
export const frontierColumns: readonly Column<PoolsSchedulerResult>[] = [
  ['F_w', ({ meanWidth, width }) => (meanWidth === undefined ? 'all' : number(meanWidth, width === 'auto' ? 1 : 0))],
  ['starved rounds', (one) => number(one.starvedRounds, 0)],
  ['bubbles', (one) => percent(one.bubbleRatio)],
];

/** Columns of pages about the rounds of a run. */
export const roundColumns: readonly Column<PoolsRound>[] = [
  ['round', (one) => `${one.round}`],
  ...numbers<PoolsRound>(1, {
    'starts, s': 'startSeconds',
    'main, s': 'mainSeconds',
    'rollout, s': 'rolloutSeconds',
    'first dispatch, s': 'firstDispatchSeconds',
    'recovery, s': 'recoverySeconds',
    'training, s': 'computeSeconds',
    'wait, s': 'waitSeconds',
    'weights, s': 'publishSeconds',
  }),
  ...numbers<PoolsRound>(0, {
    updates: 'updates',
    responses: 'responses',
    tokens: 'tokens',
    'most in service': 'mostInService',
    preemptions: 'preemptions',
  }),
];
