/** What `rollflex simulate`, `pools` and `vlm` share: options, the order of their output, and results as JSON. */
import type { Command } from 'commander';
import { oneLine } from '../../core/ids/printable.ts';
import type { ComparisonResult } from '../../sim/comparison/result.ts';
import type { PoolsComparison } from '../../sim/pools/result.ts';
import type { VlmComparison } from '../../sim/vlm-formulas/result.ts';
import { preparedReport, type Results } from '../files/written.ts';
import { whole } from '../terminal/arguments.ts';
import { option } from '../terminal/options.ts';
import { print, printJson } from '../terminal/output.ts';
import { fixed, prose } from '../terminal/plain-table.ts';
import { correlationOption, resamplingOption, textOptions, withOptions } from './workloads.ts';

/** Options about what is printed and written. */
export interface ResultOptions {
  readonly report: string | false;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const seed = whole(0, Number.MAX_SAFE_INTEGER);

/** Adds the options for samples of a trace: seeds, resampling, correlation, tokenizer. */
export const withSampling = (command: Command, seeds: number): Command =>
  withOptions(
    command
      .addOption(option('seeds', 'runs, each with other samples; intervals need at least 2', { usual: seeds }))
      .addOption(option('seed', undefined, { usual: 1, parse: seed }))
      .addOption(resamplingOption())
      .addOption(correlationOption()),
    textOptions(),
  );

/** Adds the options of {@link ResultOptions}. */
export const withResults = (command: Command): Command =>
  command
    .option('--report <file>', 'where to write the HTML report', 'rollflex-report.html')
    .option('--no-report', 'write no report')
    .addOption(option('json', 'print one JSON object, and nothing else'))
    .option('--quiet', 'print the tables only, and no progress');

/** Returns the seeds of runs, from the first on. */
export const seedsFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first + index);

/** Timelines, pictures and single steps are for the report; as JSON they would be most of the output. */
export const plain = {
  comparisons: (one: ComparisonResult): unknown =>
    withRuns(one, (run) => ({ ...run, engines: run.engines.map(({ timeline: _, ...engine }) => engine) })),
  pools: (one: PoolsComparison): unknown =>
    withRuns(one, (run) => ({ ...run, rows: run.rows.map(({ timeline: _, ...row }) => row) })),
  vlm: ({ batch: _, ...comparison }: VlmComparison): unknown => ({
    ...comparison,
    schedulers: comparison.schedulers.map(({ picture: _picture, ...one }) => one),
  }),
};

function withRuns<R>(comparison: { schedulers: readonly { runs: readonly R[] }[] }, change: (run: R) => unknown) {
  const schedulers = comparison.schedulers.map((one) => ({ ...one, runs: one.runs.map(change) }));
  return { ...comparison, schedulers };
}

/** The texts of a comparison: its table, and its explanation. */
export interface ComparisonTexts<C> {
  table(comparison: C): string;
  meaning(comparison: C): string;
}

/** Prints each comparison: its table, and unless that is all that is wanted its explanation. */
export function printTables<C>(
  comparisons: readonly C[],
  texts: ComparisonTexts<C>,
  { quiet }: { quiet?: boolean },
): void {
  for (const comparison of comparisons) {
    print(texts.table(comparison));
    if (!quiet) print(`${texts.meaning(comparison)}\n`);
  }
}

/** Returns what stands above the tables of a workload: its lengths, and the job. */
export function headOf(
  { name, meanTokens, longestTokens }: PoolsComparison['workload'] | VlmComparison['workload'],
  of: 'responses' | 'sequences',
  job: string,
): string {
  const lengths = `simulated ${of} mean ${fixed(meanTokens, 0)}, longest ${longestTokens} tokens`;
  return `${prose(`${oneLine(name)}: ${lengths}`)}\n${prose(job)}\n`;
}

/** Prints the comparisons of a kind as tables, or as JSON, and then writes the report. */
export async function present<K extends 'pools' | 'vlm'>(
  kind: K,
  comparisons: Results[K],
  texts: ComparisonTexts<Results[K][number]>,
  options: ResultOptions,
): Promise<void> {
  const writeReport = await preparedReport(options.report, { [kind]: comparisons });
  if (options.json) {
    printJson({ [kind]: comparisons.map(plain[kind] as never), report: options.report || null });
    writeReport();
    return;
  }
  printTables(comparisons as readonly Results[K][number][], texts, options);
  const said = writeReport();
  if (!options.quiet && said !== undefined) print(said);
}
