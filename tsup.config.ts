import { readdirSync } from 'node:fs';
import { defineConfig, type Options } from 'tsup';
import { treeShaking } from './scripts/tree-shaking.ts';

const entries = {
  index: 'src/index.ts',
  schemas: 'src/schemas/index.ts',
  rpc: 'src/rpc/index.ts',
  sim: 'src/sim/index.ts',
  'sim-browser': 'src/sim/browser.ts',
  testing: 'src/testing/index.ts',
  'mock-engine': 'src/mock-engine/index.ts',
};
// An entry for each definition, `rollflex/<id>`; a bundler that takes one from the root leaves the files of the others out.
const definitions = Object.fromEntries(
  ['policies', 'planners', 'recipes'].flatMap((kind) =>
    readdirSync(`src/${kind}`, { withFileTypes: true })
      .filter((one) => one.isDirectory())
      .map(({ name }) => [`definitions/${name}`, `src/${kind}/${name}/index.ts`]),
  ),
);
// Under `Bundler` TypeScript looks for the imports of a file in a mode in which it has none, and names an inferred type by the
// shortest path there is, that of the root entry: every definition would import it, in a circle.
const compilerOptions = { module: 'NodeNext', moduleResolution: 'NodeNext' };
const dts = { entry: { ...entries, ...definitions }, compilerOptions };
const common = {
  target: 'node20',
  sourcemap: false,
  splitting: true,
  external: ['fast-check', 'esbuild'],
  esbuildPlugins: [treeShaking],
} satisfies Options;

// `shims`: the CommonJS build finds the files beside it, as `import.meta.url` does in the other.
const library: Options = {
  ...common,
  entry: { ...entries, ...definitions },
  format: ['esm', 'cjs'],
  shims: true,
  dts,
};
// Beside the command line: its threads.
const commandLine: Options = {
  ...common,
  entry: { cli: 'src/cli/bin.ts', worker: 'src/cli/worker.ts' },
  format: ['esm'],
};
// The report's own script: the chart library and what draws with it, inlined into every report.
const reportClient: Options = {
  entry: { 'report-client': 'src/sim/report/client.ts' },
  format: ['iife'],
  platform: 'browser',
  target: 'es2020',
  minify: true,
  noExternal: [/.*/],
  outExtension: () => ({ js: '.js' }),
};

// `npm start` needs the command line alone, which builds in a second and leaves what else was built as it was.
const isForStart = process.env.ROLLFLEX_BUILD === 'command-line';
export default defineConfig(isForStart ? [commandLine, reportClient] : [library, commandLine, reportClient]);
