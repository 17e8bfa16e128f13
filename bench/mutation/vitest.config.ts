/** The tests that a mutant must fail: `all.test.ts` has those of one definition. */
import { fileURLToPath } from 'node:url';
import { mergeConfig, type ViteUserConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

// No test of a definition starts the command line, which the setup of all tests builds.
const { test, ...rest } = base as ViteUserConfig;

export default mergeConfig(
  { ...rest, test: { ...test, include: undefined, globalSetup: undefined } },
  {
    root: fileURLToPath(new URL('../..', import.meta.url)), // Counting what is covered makes searches ten times slower.
    test: { include: ['bench/mutation/all.test.ts'], testTimeout: 600_000 },
  },
);
