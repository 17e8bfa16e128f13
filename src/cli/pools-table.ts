/** Disaggregated pools on the terminal: one table for each workload, within 80 columns, and what it says. */
import type { PoolsComparison, PoolsSchedulerResult } from '../sim/pools/result.ts';
import { print } from './output.ts';
import { type Column, plainTable } from './vlm-table.ts';

const fixed = (value: number, digits = 1): string => value.toFixed(digits);
const seconds = (value: number): string => fixed(value, value >= 100 ? 0 : 1);
const percent = (share: number): string => `${fixed(100 * share)}%`;

const columns: readonly Column<PoolsSchedulerResult>[] = [
  ['scheduler', (one) => one.label],
  ['main\ns', (one) => seconds(one.mainSeconds.value)],
  ['shorter', (one) => percent(one.reduction.value)],
  ['first\ns', (one) => seconds(one.firstDispatchSeconds)],
  ['recover\ns', (one) => seconds(one.recoverySeconds)],
  ['train\ns', (one) => seconds(one.computeSeconds)],
  ['wait\ns', (one) => seconds(one.waitSeconds)],
  ['wait\neq. 4', (one) => percent(one.startWaitingRatio)],
  ['wait\nshare', (one) => percent(one.computeWaitingRatio)],
  ['wait\nclock', (one) => percent(one.wallClockWaitingRatio)],
  ['round\ns', (one) => seconds(one.roundSeconds)],
];

/** What the table says, in a sentence; then what a reader must know. */
function meaning({ schedulers, shares, notes }: PoolsComparison): string {
  const [baseline, ...others] = schedulers;
  const best = [...others].sort((a, b) => a.mainSeconds.value - b.mainSeconds.value)[0];
  const lines = notes.map((note) => `- ${note}`);
  if (baseline === undefined || best === undefined) return lines.join('\n');
  const share = shares.find((one) => one.scheduler === best.scheduler);
  const [ours, theirs] = [seconds(best.mainSeconds.value), seconds(baseline.mainSeconds.value)];
  const parts = share === undefined ? '' : `, of which CGP alone has ${percent(share.cgp)}`;
  const sentence =
    best.reduction.value > 0.0005
      ? `${best.label} takes ${ours} s instead of ${theirs} s: ${percent(best.reduction.value)} less${parts}.`
      : `Nothing is saved here: ${best.label} takes ${ours} s instead of ${theirs} s.`;
  return [sentence, ...lines].join('\n');
}

/** One workload as text. */
export function poolsTable({ workload, job, schedulers }: PoolsComparison): string {
  const lengths = `mean ${fixed(workload.meanTokens, 0)}, longest ${workload.longestTokens} tokens`;
  const { groupsPerRound, responsesPerPrompt, globalBatchSamples } = job;
  const shape = `R ${groupsPerRound}, K ${responsesPerPrompt}, U ${globalBatchSamples / responsesPerPrompt}`;
  return `${workload.name}: ${lengths}\n${job.name}, ${shape}\n\n${plainTable(columns, schedulers)}\n`;
}

/** Prints comparisons. */
export function printPools(comparisons: readonly PoolsComparison[], { quiet }: { readonly quiet?: boolean }): void {
  for (const comparison of comparisons) {
    print(poolsTable(comparison));
    if (!quiet) print(`${meaning(comparison)}\n`);
  }
}
