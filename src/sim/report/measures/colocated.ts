/** The measures of colocated jobs. */
import type { SchedulerResult, StepResult } from '../../comparison/result.ts';
import { type Column, number, numbers, percent } from '../format.ts';
import { formats, longest, type Measure, measuresOf, onPages, onTerminal } from './measure.ts';
import { fixed } from './plain.ts';

const { tenths, share, shareInWhole, relative, interval, mainInterval } = formats;
const of = measuresOf<SchedulerResult>();

const step = of('step\ns', 'step, s', (one) => one.stepSeconds.value, tenths);
const rollout = of('rollout\ns', 'rollout, s', (one) => one.rolloutSeconds.value, tenths);
const speedup = of('speedup', 'speedup', (one) => one.speedup, mainInterval);
const equal = of('at equal\ntokens', 'at equal tokens', (one) => one.equalTokenSpeedup, mainInterval);
const ofOracle = of('of the\noracle', 'of the oracle', (one) => one.ofOracle, {
  text: (value) => (value === undefined ? '' : shareInWhole.text(value)),
  page: (value) => (value === undefined ? '' : percent(value)),
});
const kept = of('kept\ntokens', 'kept tokens', (one) => one.keptTokenRatio, relative);
const bubbles = of('bubbles', 'bubbles', (one) => one.bubbleRatio, share);
const capped = of('at cap', 'at the cap', (one) => one.cappedShare, share);
const even = of('even\ngroups', 'even groups', (one) => one.evenGroupShare, share);
const redrawn = of(null, 'drawn again', (one) => one.redrawnShare, share);
const rolloutSpeedup = of('rollout\nspeedup', 'speedup of the rollout', (one) => one.rolloutSpeedup, interval);
const stale: Measure<SchedulerResult> = {
  text: ['stale\nlag', (one) => `${fixed(100 * one.staleShare, 0)}% / ${one.maxLag}`],
  page: ['stale, lag', (one) => `${percent(one.staleShare)}, ${one.maxLag}`],
};
const waited: Measure<SchedulerResult> = {
  text: ['rounds\nwaited', (one) => `${fixed(one.meanQueueAge, 1)} / ${fixed(one.maxQueueAge, 0)}`],
  page: ['rounds waited, mean / most', (one) => `${number(one.meanQueueAge, 1)} / ${number(one.maxQueueAge, 0)}`],
};

const usual = [step, speedup, equal, ofOracle, kept, longest, bubbles, capped, even, rollout];

/** Returns the columns on the terminal; if some weights lag, their staleness replaces the speedup of the rollout. */
export const colocatedText = (isStale: boolean): Column<SchedulerResult>[] =>
  onTerminal([...usual, ...(isStale ? [waited, stale] : [rolloutSpeedup, waited])]);

/** Columns of pages: speedups with their costs, and the trained data. */
export const comparedColumns = onPages([step, rollout, speedup, equal, ofOracle, kept, capped, bubbles]);
export const trainedColumns = onPages([longest, even, redrawn, stale, waited, rolloutSpeedup]);

/** Columns of pages about the steps of a run. */
export const stepColumns: readonly Column<StepResult>[] = [
  ['step', (one) => `${one.step}`],
  ['round', (one) => one.kind],
  ...numbers<StepResult>(1, {
    'starts, s': 'startSeconds',
    'rollout, s': 'rolloutSeconds',
    'reward, s': 'rewardSeconds',
    'reference, s': 'referenceSeconds',
    'training, s': 'trainSeconds',
    'sync, s': 'syncSeconds',
  }),
  ...numbers<StepResult>(0, {
    prompts: 'prompts',
    'mean tokens': 'meanResponseTokens',
    longest: 'maxResponseTokens',
    'at the cap': 'cappedResponses',
    'aborted tokens': 'abortedTokens',
    preemptions: 'preemptions',
  }),
  ['bubbles', (one) => percent(one.bubbleRatio)],
  ['in the queue', (one) => number(one.queueDepth, 0)],
];
