/** Output for disaggregated pools: one table for each workload, and its explanation. */
import { oneLine } from '../../core/ids/printable.ts';
import type { PoolsComparison, PoolsSchedulerResult } from '../../sim/pools/result.ts';
import { fastestPools, hasBoth } from '../../sim/report/best.ts';
import { fasterText, plainSigns, speedupOf, timesOf } from '../../sim/report/faster.ts';
import { formats } from '../../sim/report/measures/measure.ts';
import { poolsText } from '../../sim/report/measures/pools.ts';
import { type ComparisonTexts, headOf } from '../job/simulation.ts';
import { print } from '../terminal/output.ts';
import { type Column, fixed, listed, plainTable, prose, seconds } from '../terminal/plain-table.ts';

const percent = formats.shareInTenths.text;

const columns: readonly Column<PoolsSchedulerResult>[] = [
  ['scheduler', ({ label, tailBatching }) => (tailBatching ? label.replaceAll(' + ', '+') : label)],
  ...poolsText,
];

/** Returns the speedup at equal tokens, if fewer tokens are trained on than in the baseline. */
const perToken = ({ keptTokenRatio, equalTokenSpeedup }: PoolsSchedulerResult): string =>
  keptTokenRatio < 0.995 ? `, and ${fixed(equalTokenSpeedup.value, 2)}x as fast at equal tokens` : '';

/** Explains the table in a sentence, followed by the notes. */
function meaning({ schedulers, shares, notes }: PoolsComparison): string {
  const [baseline, ...others] = schedulers;
  const best = fastestPools(others);
  const points = listed(notes);
  if (baseline === undefined || best === undefined) return points;
  const share = shares.find((one) => one.scheduler === best.scheduler);
  const [ours, theirs] = [seconds(best.mainSeconds.value), seconds(baseline.mainSeconds.value)];
  const shareText =
    share === undefined ? '' : `; of the time saved, CGP alone has ${percent(share.cgp)}, FGD ${percent(share.fgd)}`;
  const sentence =
    best.reduction.value > 0.0005
      ? `${best.label} takes ${ours} s instead of ${theirs} s: ${fasterText(speedupOf(best.reduction), plainSigns)}${perToken(best)}${shareText}.`
      : `Nothing is saved here: ${best.label} takes ${ours} s instead of ${theirs} s.`;
  return [prose(sentence), ...(notes.length === 0 ? [] : [points])].join('\n');
}

/** Returns the machines, and the values of R, K and U. */
const shapeOf = ({ name, groupsPerRound, responsesPerPrompt, globalBatchSamples }: PoolsComparison['job']): string =>
  `${name}, R ${groupsPerRound}, K ${responsesPerPrompt}, U ${globalBatchSamples / responsesPerPrompt}`;

/** Returns one workload as text. */
function poolsTable({ workload, job, schedulers }: PoolsComparison): string {
  const best = fastestPools(schedulers);
  const table = plainTable(columns, schedulers, { lookOf: (one) => (one === best ? 'bold' : undefined) });
  return `${headOf(workload, 'responses', shapeOf(job))}\n${table}\n`;
}

/** Comparisons of pools on the terminal. */
export const poolsTexts: ComparisonTexts<PoolsComparison> = { table: poolsTable, meaning };

/** One row for a comparison: serial, CGP, and both mechanisms with the given width and with `auto`. */
interface Summary {
  readonly name: string;
  readonly serial: PoolsSchedulerResult;
  readonly cgp: PoolsSchedulerResult;
  readonly both: PoolsSchedulerResult;
  readonly auto: PoolsSchedulerResult;
}

const mostLetters = 18;
const main = (one: PoolsSchedulerResult): string => seconds(one.mainSeconds.value);

const summaryColumns: readonly Column<Summary>[] = [
  ['workload', ({ name }) => (name.length > mostLetters ? `${name.slice(0, mostLetters - 1)}…` : name)],
  ['serial\ns', ({ serial }) => main(serial)],
  ['CGP\ns', ({ cgp }) => main(cgp)],
  ['\nless', ({ cgp }) => percent(cgp.reduction.value)],
  ['+ FGD\ns', ({ both }) => main(both)],
  ['\nless', ({ both }) => percent(both.reduction.value)],
  ['auto\ns', ({ auto }) => main(auto)],
  ['\nless', ({ auto }) => percent(auto.reduction.value)],
  ['waits\nserial', ({ serial }) => percent(serial.computeWaitingRatio)],
  ['\nCGP', ({ cgp }) => percent(cgp.computeWaitingRatio)],
  ['\n+ FGD', ({ both }) => percent(both.computeWaitingRatio)],
];

/** Prints comparisons of `poolsSchedulers`, one row each, because a report with other workloads has no room for more. */
export function printPoolsSummary(
  comparisons: readonly PoolsComparison[],
  { quiet }: { readonly quiet?: boolean },
): void {
  const [first] = comparisons;
  if (first === undefined) return;
  const rows = comparisons.map(({ workload, schedulers }): Summary => {
    const [serial, cgp] = schedulers as [PoolsSchedulerResult, PoolsSchedulerResult];
    const [both, auto = both] = schedulers.filter(hasBoth) as [PoolsSchedulerResult, PoolsSchedulerResult?];
    return { name: oneLine(workload.name), serial, cgp, both, auto };
  });
  print(`Disaggregated pools: ${shapeOf(first.job)}\n\n${plainTable(summaryColumns, rows)}\n`);
  if (quiet) return;
  const savings = rows.map((one) => one.both.reduction.value);
  const [least, most] = [Math.min(...savings), Math.max(...savings)].map((one) => fixed(timesOf(one), 2));
  print(
    prose(
      `From rollout start to train end, RolloutPipe (${rows[0]!.both.label}: groups are trained while others are generated, at most ` +
        `${rows[0]!.both.width} of them at once) is ${least} to ${most}x as fast as a serial trainer; all tokens are kept.`,
    ),
  );
  print(listed(['waits: share of its time in which the trainer has nothing to do. rollflex pools says more.']));
}

/** Prints a sentence about the gain of tail batching on top of pipelining. */
export function printTail({ workload, job, schedulers }: PoolsComparison): void {
  const [cgp, both] = schedulers as [PoolsSchedulerResult, PoolsSchedulerResult];
  const perPrompt = (one: PoolsSchedulerResult): string => fixed(one.mainSeconds.value / job.groupsPerRound);
  const point =
    `With tail batching, ${oneLine(workload.name)}: ${perPrompt(both)} s a trained prompt instead of ${perPrompt(cgp)} s with CGP ` +
    `alone, on ${fixed(100 * both.keptTokenRatio, 0)}% of the tokens (rollflex pools --tail).`;
  print(`${listed([point])}\n`);
}
