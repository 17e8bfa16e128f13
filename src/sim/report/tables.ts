/** The tables of a report: the comparison, and the numbers of the charts for readers who cannot see the charts. */
import type { ComparisonResult, EngineResult, RunResult, SchedulerResult } from '../comparison/result.ts';
import { type Column, escapeHtml, number, percent, table } from './format.ts';
import { comparedColumns, stepColumns, trainedColumns } from './measures/colocated.ts';
import { type Measure, onPages } from './measures/measure.ts';

const shownOf = ({ schedulers, oracle }: ComparisonResult): readonly SchedulerResult[] =>
  oracle === undefined ? schedulers : [...schedulers, oracle];
const lastRow = ({ oracle }: ComparisonResult): string => (oracle === undefined ? '' : 'oracle');

/** Returns the table of schedulers, with speedups and their costs. */
export const comparisonTable = (comparison: ComparisonResult): string =>
  table('Comparison', comparedColumns, shownOf(comparison), lastRow(comparison));

/** Returns the table of the trained data: kept long responses, groups with equal rewards, redraws and staleness. */
export const trainedTable = (comparison: ComparisonResult): string =>
  table('What is trained on', trainedColumns, shownOf(comparison), lastRow(comparison));

const engineColumns: readonly Column<EngineResult>[] = [
  ['engine', (one) => escapeHtml(one.engineId)],
  ['GPUs', (one) => number(one.gpus, 0)],
  ['busy, s', (one) => number(one.busySeconds, 1)],
  ['bubbles', (one) => percent(one.bubbleRatio)],
  ['preemptions', (one) => number(one.preemptions, 0)],
];

const shownQuantiles = [1, 10, 25, 50, 75, 90, 95, 99, 100];

const lengthMeasures = shownQuantiles.map((share): Measure<SchedulerResult> => {
  const at = ({ lengthQuantiles }: RunResult): number =>
    lengthQuantiles[Math.round((share / 100) * (lengthQuantiles.length - 1))] ?? 0;
  return { page: [share === 100 ? 'longest' : `P${share}`, (one) => number(at(one.runs[0]!), 0)] };
});

/** Returns the data of the charts as tables. */
export function numbersBehind({ schedulers }: ComparisonResult): string {
  const tables = schedulers.flatMap(({ label, runs: [run] }) => [
    table(`Steps: ${escapeHtml(label)}`, stepColumns, run!.steps),
    table(`Engines: ${escapeHtml(label)}`, engineColumns, run!.engines),
  ]);
  return `<div class="numbers">${table('Tokens of the responses trained on', onPages(lengthMeasures), schedulers)}
${tables.join('\n')}</div>`;
}
