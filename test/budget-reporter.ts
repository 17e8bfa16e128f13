/**
 * Says at the end of a whole run which files were dearest, and fails the run if one is over its budget by half; not on a machine with
 * other work, where a file that waits for a core or a browser takes any share.
 */
import { availableParallelism, loadavg } from 'node:os';
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { judged, type Took } from './budgets.ts';

export class BudgetReporter implements Reporter {
  #vitest: Vitest | undefined;
  #isWhole = false;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  /** A part of a run, or one that is repeated while its files change, says nothing of shares. */
  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    const { config } = this.#vitest!;
    const all = await this.#vitest!.globTestSpecifications();
    this.#isWhole = !config.watch && config.testNamePattern === undefined && specifications.length === all.length;
  }

  onTestRunEnd(modules: readonly TestModule[], _errors: unknown, reason: string): void {
    if (!this.#isWhole || reason !== 'passed') return;
    const took = modules.map((one): Took => {
      const { duration, collectDuration } = one.diagnostic();
      return { file: one.moduleId.replace(/^.*\/test\//, ''), seconds: (duration + collectDuration) / 1000 };
    });
    const { text, faults } = judged(took);
    console.log(`\n${text}`);
    if (faults.length === 0) return;
    // A run that is alone makes two or three processes want each core.
    if (loadavg()[1]! > 3 * availableParallelism()) {
      console.error(`\nOver its budget by half, on a machine that has other work: ${faults.join(', ')}.`);
      return;
    }
    console.error(
      `\nOver its budget by half: ${faults.join(', ')}. Make it cheaper, or give it more in test/budgets.ts.`,
    );
    process.exitCode = 1;
  }
}
