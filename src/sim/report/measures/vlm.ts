/** The measures of vision-language jobs. */
import type { VlmSchedulerResult } from '../../vlm-formulas/result.ts';
import { number } from '../format.ts';
import { type Format, formats, type Measure, measuresOf } from './measure.ts';
import { fixed } from './plain.ts';

const { seconds, factor, mainFactor, shareInWhole } = formats;
const of = measuresOf<VlmSchedulerResult>();

const gigabytes: Format<number> = {
  text: (bytes) => (bytes >= 1e13 ? `${fixed(bytes / 1e12, 0)}k` : fixed(bytes / 1e9, bytes >= 1e10 ? 0 : 1)),
  page: (bytes) => number(bytes / 1e9, bytes >= 1e10 ? 0 : 1),
};
const thousands: Format<number> = { text: (value) => fixed(value / 1e3, 0), page: (value) => number(value / 1e3, 0) };
const hundredths: Format<number> = { text: (value) => fixed(value, 2), page: (value) => number(value) };
/** What the terminal calls memory that is too little. */
const short = { device: 'GPU', controller: 'control', node: 'node' } as const;

/** Times of a step, and how fast it is. */
export const stepMeasures: readonly Measure<VlmSchedulerResult>[] = [
  of('load\ns', 'load, s', (one) => one.exposedLoadSeconds, seconds),
  of('rollout\ns', 'rollout, s', (one) => one.rolloutSeconds, seconds),
  of('old\ns', 'old, s', (one) => one.oldSeconds, seconds),
  of('ref\ns', 'ref, s', (one) => one.referenceSeconds, seconds),
  of('update\ns', 'update, s', (one) => one.updateSeconds, seconds),
  of('step\ns', 'step, s', (one) => one.stepSeconds, seconds),
  of('tokens/\ns/GPU', 'tokens/s a GPU', (one) => one.throughput, seconds),
  of('speedup', 'speedup', (one) => one.speedup, mainFactor),
  of('without\nload', 'without loading', (one) => one.speedupWithoutLoading, factor),
];

/** Balance, traffic and memory. */
export const loadMeasures: readonly Measure<VlmSchedulerResult>[] = [
  of('balance', 'balance', (one) => one.balance, hundredths),
  of('sharded', 'sharded', (one) => one.shardedShare, shareInWhole),
  of('sent\nktokens', 'sent, k tokens', (one) => one.sentTokens, thousands),
  of('sent\nGB', 'sent, GB', (one) => one.sentBytes, gigabytes),
  of('inputs\nGB', 'inputs, GB', (one) => one.movedBytes, gigabytes),
  of('control\nGB', 'controller, GB', (one) => one.controllerBytes, gigabytes),
  of('node\nGB', 'node, GB', (one) => one.nodeBytes, gigabytes),
  of('GPU\nGB', 'GPU, GB', (one) => one.deviceBytes, gigabytes),
  of('OOM', 'out of memory', (one) => one.exceeded, {
    text: (names) => (names.length === 0 ? 'no' : names.map((name) => short[name]).join('\n')),
    page: (names) => (names.length === 0 ? 'no' : `<b>${names.join(', ')}</b>`),
  }),
];
