/** VLM comparisons on the terminal: two tables, and their explanation. */
import type { VlmComparison, VlmSchedulerResult } from '../../sim/vlm-formulas/result.ts';
import { type ComparisonTexts, headOf } from '../job/simulation.ts';
import { type Column, fixed, listed, plainTable, prose, seconds } from '../terminal/plain-table.ts';

const gigabytes = (bytes: number): string =>
  bytes >= 1e13 ? `${fixed(bytes / 1e12, 0)}k` : fixed(bytes / 1e9, bytes >= 1e10 ? 0 : 1);
const short = { device: 'GPU', controller: 'control', node: 'node' } as const;

const times: readonly Column<VlmSchedulerResult>[] = [
  ['scheduler', (one) => one.label],
  ['load\ns', (one) => seconds(one.exposedLoadSeconds)],
  ['rollout\ns', (one) => seconds(one.rolloutSeconds)],
  ['old\ns', (one) => seconds(one.oldSeconds)],
  ['ref\ns', (one) => seconds(one.referenceSeconds)],
  ['update\ns', (one) => seconds(one.updateSeconds)],
  ['step\ns', (one) => seconds(one.stepSeconds)],
  ['tokens/\ns/GPU', (one) => seconds(one.throughput)],
  ['speedup', (one) => `${fixed(one.speedup, 2)}x`],
  ['without\nload', (one) => `${fixed(one.speedupWithoutLoading, 2)}x`],
];

const loads: readonly Column<VlmSchedulerResult>[] = [
  ['scheduler', (one) => one.label],
  ['balance', (one) => fixed(one.balance, 2)],
  ['sharded', (one) => `${fixed(100 * one.shardedShare, 0)}%`],
  ['sent\nktokens', (one) => fixed(one.sentTokens / 1e3, 0)],
  ['sent\nGB', (one) => gigabytes(one.sentBytes)],
  ['inputs\nGB', (one) => gigabytes(one.movedBytes)],
  ['control\nGB', (one) => gigabytes(one.controllerBytes)],
  ['node\nGB', (one) => gigabytes(one.nodeBytes)],
  ['GPU\nGB', (one) => gigabytes(one.deviceBytes)],
  ['OOM', (one) => (one.exceeded.length === 0 ? 'no' : one.exceeded.map((name) => short[name]).join('\n'))],
];

/** Explains the tables in sentences, followed by the notes. */
function meaning({ schedulers, notes }: VlmComparison): string {
  const [baseline, ...others] = schedulers;
  const best = others.at(-1);
  if (baseline === undefined || best === undefined) return listed(notes);
  const sentence =
    `${best.label}: ${fixed(best.speedup, 2)}x as fast as ${baseline.label}, ` +
    `${fixed(best.speedupWithoutLoading, 2)}x without data loading; ` +
    `balance ${fixed(best.balance, 2)} instead of ${fixed(baseline.balance, 2)}.`;
  return [prose(sentence), ...(notes.length === 0 ? [] : [listed(notes)])].join('\n');
}

/** Returns one workload as text. */
export function vlmTables(comparison: VlmComparison): string {
  const { workload, job, schedulers } = comparison;
  const shape = `${job.model} on ${job.gpus} ${job.gpu}, ${job.batchSequences} sequences a step`;
  const fastest = schedulers.reduce((one, other) => (other.speedup >= one.speedup ? other : one));
  const lookOf = (one: VlmSchedulerResult) => (one === fastest ? 'bold' : undefined);
  const tables = [times, loads].map((columns) => plainTable(columns, schedulers, { lookOf }));
  return `${headOf(workload, 'sequences', shape)}\n${tables.join('\n\n')}\n`;
}

/** Vision-language comparisons on the terminal. */
export const vlmTexts: ComparisonTexts<VlmComparison> = { table: vlmTables, meaning };
