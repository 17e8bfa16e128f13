/** Output of `rollflex simulate`: one screen, or every table and note with `--verbose`. */
import { oneLine } from '../../core/ids/printable.ts';
import { basisOf } from '../../sim/colocated/basis.ts';
import type { Job } from '../../sim/colocated/job.ts';
import { unmetNotes } from '../../sim/comparison/compare-notes.ts';
import type { ComparisonResult } from '../../sim/comparison/result.ts';
import type { PoolsComparison } from '../../sim/pools/result.ts';
import { bestOf } from '../../sim/report/best.ts';
import type { VlmComparison } from '../../sim/vlm-formulas/result.ts';
import { basisText } from '../job/basis.ts';
import { printTables } from '../job/simulation.ts';
import { comparisonTable, comparisonTexts, rungsSentence } from '../job/table.ts';
import { comparisonVerdict, poolsVerdict, vlmVerdict } from '../job/verdict.ts';
import { printPoolsSummary, printTail } from '../pools/text.ts';
import { look, print } from '../terminal/output.ts';
import { prose } from '../terminal/plain-table.ts';
import { vlmTexts } from '../vlm/text.ts';

/** Options that decide how much is printed. */
export interface OutputOptions {
  readonly ablation?: boolean;
  readonly fromLog?: string;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

/** Prints the parts of a simulation as soon as they are complete. */
export class SimulateOutput {
  readonly #options: OutputOptions;
  /** Text about the job, printed before the lengths are known. */
  readonly #ofJob: string;
  readonly #isWhole: boolean;
  #measuredPoints = 0;

  constructor(options: OutputOptions, ofJob: string) {
    this.#options = options;
    this.#ofJob = ofJob;
    this.#isWhole = options.verbose === true || options.quiet === true;
  }

  /** Prints the job at once, since the first result takes seconds. */
  begin(job: Job): void {
    this.#measuredPoints = job.machine?.points ?? 0;
    if (this.#options.json) return;
    const { name } = job;
    print(`${basisText(basisOf(job))}\n`);
    if (this.#ofJob !== '') print(`${this.#ofJob}\n`);
    if (!this.#isWhole && this.#options.ablation)
      print(`${prose(`Simulated on ${oneLine(name)}, without and with every mechanism.`)}\n`);
  }

  comparison(comparison: ComparisonResult): void {
    const { json, quiet, ablation, fromLog } = this.#options;
    if (json) return;
    // The log records what happened; the figures shown here are simulated.
    if (fromLog !== undefined) print(`${prose(oneLine(comparison.workload.source))}\n`);
    if (this.#isWhole) {
      print(comparisonTable(comparison));
      if (ablation) print(rungsSentence(comparison));
      if (!quiet) print(`${comparisonTexts.meaning(comparison)}\n`);
    } else if (ablation) print(comparisonVerdict(comparison));
    else {
      const { label } = bestOf(comparison.schedulers) ?? comparison.schedulers[0]!;
      print(`${comparisonTable(comparison, false)}\n${comparisonVerdict(comparison, label)}\n`);
      const { predict } = comparison.workload;
      if (predict !== undefined) print(prose(`Prompts come with predicted lengths: ${predict}.`));
      for (const text of unmetNotes(comparison.schedulers)) print(prose(oneLine(text)));
    }
  }

  /** Prints what there is of a comparison on so many seeds that was stopped. */
  part(comparison: ComparisonResult, seeds: number): void {
    if (this.#options.json) return;
    const done = Number(comparison.settings.seeds);
    if (done < seeds) print(look('bold', `Partial, since it was stopped: ${done} of ${seeds} seeds.`));
    this.comparison(comparison);
  }

  pools(comparisons: readonly PoolsComparison[], tail?: PoolsComparison): void {
    if (this.#options.json) return;
    if (!this.#isWhole) return print(poolsVerdict(comparisons, tail));
    printPoolsSummary(comparisons, this.#options);
    if (tail !== undefined) printTail(tail);
  }

  vlm(comparisons: readonly VlmComparison[]): void {
    if (this.#options.json) return;
    if (this.#isWhole) printTables(comparisons, vlmTexts, this.#options);
    else print(vlmVerdict(comparisons));
  }

  /** Prints the names of the written files, and the next steps for the user. */
  end(written: readonly string[], paths: readonly string[]): void {
    const { quiet, ablation, verbose, fromLog } = this.#options;
    if (quiet) return;
    if (ablation && !verbose) print('');
    const isOwn = paths.length > 0 || fromLog !== undefined;
    if (isOwn) {
      const on = this.#measuredPoints === 0 ? 'modelled' : 'calibrated';
      print(`sure: ± is for engines exactly as ${on}; advise and sweep cover others, too`);
    }
    for (const line of written) print(line);
    if (!isOwn)
      print(`next: ${look('bold', 'rollflex advise your-dump.jsonl')}  what to switch on for your own rollouts`);
    if (!verbose) print('more: --verbose prints every column and note');
  }
}
