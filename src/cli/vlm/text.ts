/** VLM comparisons on the terminal: two tables, and their explanation. */

import { fastestVlm } from '../../sim/report/best.ts';
import { onTerminal } from '../../sim/report/measures/measure.ts';
import { loadMeasures, stepMeasures } from '../../sim/report/measures/vlm.ts';
import type { VlmComparison, VlmSchedulerResult } from '../../sim/vlm-formulas/result.ts';
import { type ComparisonTexts, headOf } from '../job/simulation.ts';
import { type Column, fixed, listed, plainTable, prose } from '../terminal/plain-table.ts';

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
  const fastest = fastestVlm(schedulers);
  const lookOf = (one: VlmSchedulerResult) => (one === fastest ? 'bold' : undefined);
  const label: Column<VlmSchedulerResult> = ['scheduler', (one) => one.label];
  const tables = [stepMeasures, loadMeasures].map((measures) =>
    plainTable([label, ...onTerminal(measures)], schedulers, { lookOf }),
  );
  return `${headOf(workload, 'sequences', shape)}\n${tables.join('\n\n')}\n`;
}

/** Vision-language comparisons on the terminal. */
export const vlmTexts: ComparisonTexts<VlmComparison> = { table: vlmTables, meaning };
