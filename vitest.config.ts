import { register } from 'node:module';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BudgetReporter } from './test/budget-reporter.ts';
import { LongestFirst } from './test/longest-first.ts';

/** Node loads the modules, not Vite: tests run a fifth faster. The names of the package are those of `tsconfig.json`. */
const loader = new URL('./test/typescript-loader.mjs', import.meta.url).href;
const registered = `import { register } from 'node:module'; register(${JSON.stringify(loader)});`;
// Here for the global setup.
register(loader);

/** What vitest has if nobody names any. */
const usual = process.env.GITHUB_ACTIONS === 'true' ? ['default', 'github-actions'] : ['default'];

/** `npm test` makes a tenth of the runs of each property; `npm run test:all`, the mode `all`, makes all of them. */
export default defineConfig(({ mode }) => {
  const isWhole = mode === 'all';
  const runs = process.env.ROLLFLEX_RUNS ?? (isWhole ? '1' : '0.1');
  return {
    test: {
      include: ['test/**/*.test.ts'],
      // Simulations against the figures of papers, fits that are made anew, and what reads all sources.
      exclude: isWhole ? [] : ['**/*.whole.test.ts'],
      env: { ROLLFLEX_RUNS: runs },
      // Modules are loaded once for each worker: no test leaves anything behind in them.
      isolate: false,
      experimental: { viteModuleRunner: false, nodeLoader: false },
      execArgv: ['--import', `data:text/javascript,${encodeURIComponent(registered)}`],
      restoreMocks: true,
      // One more than there are cores, since some tests wait for a browser or a process: two cores are a tenth faster so.
      maxWorkers: availableParallelism() + 1,
      // What hangs is to be found; a machine that is slow, or busy, is no fault of a test.
      testTimeout: 300_000 * Math.max(1, Number(runs)),
      hookTimeout: 300_000,
      expect: { poll: { timeout: 120_000 } },
      // All runs have other shares.
      reporters: [...usual, ...(isWhole ? [] : [new BudgetReporter()])],
      sequence: { sequencer: LongestFirst },
      globalSetup: ['test/installed.ts'],
      setupFiles: ['test/setup.ts'],
    },
  };
});
