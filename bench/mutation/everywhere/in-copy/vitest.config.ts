// @ts-nocheck
/** The configuration of the copy's own tests, for test files of pairs. */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import base from '../vitest.config.ts';

const root = join(import.meta.dirname, '..');
const loader = `file://${join(root, 'planted/loader.mjs')}`;
const registered = `import { register } from 'node:module'; register(${JSON.stringify(loader)});`;

class InOrder extends BaseSequencer {
  async sort(files) {
    return [...files].sort((one, other) => (one.moduleId < other.moduleId ? -1 : 1));
  }
}

export default defineConfig(async (env) => {
  const { test } = await base(env);
  return {
    root,
    test: {
      ...test,
      include: [`${process.env.ROLLFLEX_MUTANTS_STUBS}/*.test.ts`],
      exclude: [],
      execArgv: ['--import', `data:text/javascript,${encodeURIComponent(registered)}`],
      globalSetup: ['planted/global.ts'],
      setupFiles: [...test.setupFiles, 'planted/setup.ts'],
      reporters: [join(root, 'planted/reporter.mjs')],
      maxWorkers: 1,
      sequence: { sequencer: InOrder },
    },
  };
});
