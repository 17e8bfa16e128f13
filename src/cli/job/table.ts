/** Returns the comparison as a table for the terminal, and its explanation. */
import { oneLine } from '../../core/ids/printable.ts';
import type { ComparisonResult, SchedulerResult } from '../../sim/comparison/result.ts';
import { bestOf, isIdle } from '../../sim/report/best.ts';
import { equalText, fasterText, plainSigns } from '../../sim/report/faster.ts';
import { colocatedText } from '../../sim/report/measures/colocated.ts';
import { type Column, fixed, listed, percent, plainTable, prose } from '../terminal/plain-table.ts';
import type { ComparisonTexts } from './simulation.ts';
import { contributions } from './verdict.ts';

/**
 * Returns one workload as text: its lengths, and a row for each scheduler and for the oracle. The one that the verdict is about is in bold. A variant
 * that changes nothing has no row; a line below the table names it.
 *
 * @param isWhole - whether every column is shown, even on a narrow terminal
 */
export function comparisonTable(comparison: ComparisonResult, isWhole = true): string {
  const { workload, oracle } = comparison;
  const schedulers = comparison.schedulers.filter((one) => !isIdle(one, comparison));
  const isStale = schedulers.some((one) => one.maxLag > 0);
  const columns: readonly Column<SchedulerResult>[] = [['scheduler', (one) => one.label], ...colocatedText(isStale)];
  const best = bestOf(schedulers);
  const table = plainTable(columns, oracle === undefined ? schedulers : [...schedulers, oracle], {
    beyond: isWhole ? 'below' : 'left out',
    lookOf: (one) => (one === best ? 'bold' : one === oracle ? 'dim' : undefined),
  });
  const { p50, p75, p99, max } = workload.quantiles;
  const lengths = `P50 ${Math.round(p50)}, P75 ${Math.round(p75)}, P99 ${Math.round(p99)}, longest ${Math.round(max)} tokens`;
  return `${prose(`${oneLine(workload.name)}: ${workload.prompts} prompts, simulated responses ${lengths}`)}\n\n${table}\n`;
}

/** Returns a sentence about the gain of each variant of an ablation; an empty text without an ablation. */
export function rungsSentence(comparison: ComparisonResult): string {
  const variants = contributions(comparison);
  return variants === '' ? '' : `${prose(`Seconds of a step: ${variants}.`)}\n`;
}

/** Explains the table in sentences, followed by the notes. */
function meaning({ schedulers, oracle, notes }: ComparisonResult): string {
  const [baseline, ...all] = schedulers;
  // The last variant of an ablation includes all mechanisms.
  const others = all.filter(
    (one) => one.variant === undefined || !all.some(({ variant }) => variant?.above === one.scheduler),
  );
  const nameOf = (one: SchedulerResult): string => one.variant?.ablation ?? one.label;
  const sentences = others.flatMap((one) => {
    return [
      `${nameOf(one)}: ${fasterText(one.speedup, plainSigns)}, ${equalText(one.equalTokenSpeedup, plainSigns)}: engines idle for ` +
        `${percent(one.bubbleRatio)} of a rollout instead of ${percent(baseline!.bubbleRatio)}.`,
      `What it costs: kept tokens ${fixed(one.keptTokenRatio, 2)} of the baseline's, ` +
        `${percent(one.cappedShare)} at the cap instead of ${percent(baseline!.cappedShare)}; of the longest 1% ` +
        `of the responses ${percent(one.longestKeptShare)} are trained on, and ${percent(one.longestTrainedRatio)} as many as long.`,
    ];
  });
  const reached = others.map((one) => `${nameOf(one)} has ${fixed(100 * (one.ofOracle ?? 0), 0)}%`).join(', ');
  const left =
    oracle === undefined
      ? []
      : [
          `What is left: an oracle that knows all lengths is ${fixed(oracle.equalTokenSpeedup.value, 2)}x as fast with every response ` +
            `kept. At equal tokens, ${reached} of that.`,
        ];
  return [...[...sentences, ...left].map((one) => prose(one)), ...(notes.length === 0 ? [] : [listed(notes)])].join(
    '\n',
  );
}

/** Comparisons of colocated jobs on the terminal. */
export const comparisonTexts: ComparisonTexts<ComparisonResult> = { table: comparisonTable, meaning };
