import { defineConfig, type Options } from 'tsup';
import { writeDeclarations } from './scripts/declarations.ts';
import { definitionFiles, writeEntries } from './scripts/definition-entries.ts';
import { noticesInto } from './scripts/notices.ts';
import { treeShaking } from './scripts/tree-shaking.ts';

const entries = {
  index: 'src/index.ts',
  schemas: 'src/schemas/index.ts',
  rpc: 'src/rpc/index.ts',
  sim: 'src/sim/node.ts',
  'sim-browser': 'src/sim/index.ts',
  testing: 'src/testing/index.ts',
  'mock-engine': 'src/mock-engine/index.ts',
};
const typed = Object.entries(definitionFiles).map(([id, file]) => [`definitions/${id}`, file]);
// Under `Bundler` TypeScript looks for the imports of a file in a mode in which it has none, and names an inferred type by the
// shortest path there is, that of the root entry: every definition would import it, in a circle.
// `npm run types` is what checks: checked again, declarations take twice the time.
const compilerOptions = { module: 'NodeNext', moduleResolution: 'NodeNext', noCheck: true };
const declared = { ...entries, ...Object.fromEntries(typed) };
// What is no dependency or peer of the package is built in: nobody installs it, and its licence goes along.
const withNotices = noticesInto('dist/THIRD-PARTY-LICENSES.txt');
const common = {
  target: 'node20',
  sourcemap: false,
  splitting: true,
  external: ['fast-check', 'esbuild'],
  esbuildPlugins: [treeShaking, withNotices],
} satisfies Options;

// The thread of `planThreads`. The command line is built for `npm start` alone, too: the ES module comes with it.
const planWorker = { 'plan-worker': 'src/rpc/transports/plan-worker.ts' };
const library = { ...common, entry: { ...entries, definitions: 'src/definitions.ts' } } satisfies Options;
const libraries: Options[] = [
  { ...library, format: ['esm'], onSuccess: async () => writeEntries('esm') },
  // `shims`: the CommonJS build finds the files beside it, as `import.meta.url` does in the other.
  {
    ...library,
    entry: { ...library.entry, ...planWorker },
    format: ['cjs'],
    shims: true,
    onSuccess: async () => writeEntries('cjs'),
  },
];
const declarations = (): Options => ({
  ...library,
  format: ['esm', 'cjs'],
  dts: { entry: writeDeclarations(declared, compilerOptions), compilerOptions, only: true },
});
// Beside the command line: its threads. It serves metrics to whoever asks, so that what it needs for them is built in too.
const commandLine: Options = {
  ...common,
  // Node loads what is built in a quarter sooner than zod with its many files.
  noExternal: ['prom-client', 'zod', 'eventemitter3'],
  // Packages in CommonJS ask for modules of Node by `require`.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  entry: { cli: 'src/cli/bin.ts', worker: 'src/cli/worker.ts', ...planWorker },
  format: ['esm'],
};
// The scripts of pages: that of the report, with the chart library, inlined into every report; and those of the command line.
const pageClients: Options = {
  entry: {
    'report-client': 'src/sim/report/client.ts',
    'debug-client': 'src/cli/debug/client/main.ts',
    'dashboard-client': 'src/cli/dashboard/client/main.ts',
  },
  format: ['iife'],
  platform: 'browser',
  target: 'es2020',
  minify: true,
  noExternal: [/.*/],
  outExtension: () => ({ js: '.js' }),
  esbuildPlugins: [withNotices],
};

// `npm start` needs the command line alone, which builds in a second and leaves what else was built as it was.
const isForStart = process.env.ROLLFLEX_BUILD === 'command-line';
export default defineConfig(
  isForStart ? [commandLine, pageClients] : [...libraries, declarations(), commandLine, pageClients],
);
