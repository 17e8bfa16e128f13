import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

const src = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));
/** `rollflex/<id>`, the entry of each definition. */
const definitions = ['policies', 'recipes', 'planners'].flatMap((kind) =>
  readdirSync(new URL(`./src/${kind}`, import.meta.url), { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map(({ name }) => ({ find: `rollflex/${name}`, replacement: src(`${kind}/${name}/index.ts`) })),
);

/** `npm test` makes a tenth of the runs of each property; `npm run test:all`, the mode `all`, makes all of them. */
export default defineConfig(({ mode }) => {
  const isWhole = mode === 'all';
  const runs = process.env.ROLLFLEX_RUNS ?? (isWhole ? '1' : '0.1');
  return {
    resolve: {
      // Tests and documentation snippets import the package by its public names.
      alias: [
        { find: /^rollflex$/, replacement: src('index.ts') },
        { find: /^rollflex\/sim$/, replacement: src('sim/node.ts') },
        { find: /^rollflex\/(mock-engine|rpc|schemas|testing)$/, replacement: src('$1/index.ts') },
        ...definitions,
        { find: /^(@tensorflow\/tfjs-[a-z-]+)$/, replacement: '$1/dist/index.js' },
      ],
    },
    test: {
      include: ['test/**/*.test.ts'],
      // Half a minute of simulations, against the figures of papers.
      exclude: isWhole ? [] : ['**/*.whole.test.ts'],
      env: { ROLLFLEX_RUNS: runs },
      // Modules are loaded once for each worker: no test leaves anything behind in them.
      isolate: false,
      restoreMocks: true,
      // All cores: by itself vitest leaves one out.
      maxWorkers: availableParallelism(),
      testTimeout: 60_000 * Math.max(1, Number(runs)),
      hookTimeout: 60_000,
      sequence: { sequencer: LongestFirst },
      globalSetup: ['test/build-command-line.ts'],
      setupFiles: ['test/setup.ts'],
      // Its gradients are modules beside the bundle that Node would load: all of it comes from the modules.
      // The command line that is bundled for the tests is loaded by Node, as it is.
      server: { deps: { inline: [/@tensorflow\/tfjs/], external: [/\/test-cli-\d+\//] } },
    },
  };
});
