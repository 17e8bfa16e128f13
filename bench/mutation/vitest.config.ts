/** The tests that a mutant must fail: `all.test.ts` has those of one definition. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

export default defineConfig(async (env) => {
  const { test, ...rest } = await base(env);
  return {
    ...rest,
    root: fileURLToPath(new URL('../..', import.meta.url)),
    resolve: { tsconfigPaths: true },
    test: {
      ...test,
      include: ['bench/mutation/all.test.ts'],
      exclude: [],
      // Stryker has its copy of the modules loaded by Vite.
      experimental: {},
      execArgv: [],
      // No test of a definition starts the command line, which the setup of all tests builds.
      globalSetup: [],
      // Counting what is covered makes searches ten times slower.
      testTimeout: 600_000,
    },
  };
});
