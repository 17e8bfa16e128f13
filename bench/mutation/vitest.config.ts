/** The tests that a mutant of one definition (`ROLLFLEX_ONLY`) must fail: its own, and its part of the shared ones. */
import { fileURLToPath } from 'node:url';
import { mergeConfig, type ViteUserConfig } from 'vitest/config';
import base from '../../vitest.config.ts';
import { testsOf } from './tests.ts';

const { test, ...rest } = base as ViteUserConfig;

export default mergeConfig(
  { ...rest, test: { ...test, include: undefined } },
  {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    test: { include: testsOf(process.env.ROLLFLEX_ONLY ?? '') },
  },
);
