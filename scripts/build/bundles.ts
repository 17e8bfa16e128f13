/**
 * What is built, declared once: the npm package, the command line that the Python package carries, and what the tests run are
 * made of these bundles. A file that code opens beside itself at run time is one of them, or the build fails (`opened-files.ts`).
 */
import { basename } from 'node:path';
import { build, type Options } from 'tsup';
import { charts, pageNames, pageSource } from '../../src/sim/report/page-script.ts';
import { cjsFields } from './cjs-fields.ts';
import { writeEntries } from './definition-entries.ts';
import { noticesInto } from './notices.ts';
import { type Bundles, opensOnly } from './opened-files.ts';
import { chartsApart, chartsGlobal } from './page-charts.ts';
import { treeShaking } from './tree-shaking.ts';

/** The entries of the npm package, but those of single definitions. */
export const entries = {
  index: 'src/index.ts',
  schemas: 'src/schemas/index.ts',
  rpc: 'src/rpc/index.ts',
  logs: 'src/logs/node.ts',
  'logs-browser': 'src/logs/index.ts',
  sim: 'src/sim/node.ts',
  'sim-browser': 'src/sim/index.ts',
  testing: 'src/testing/index.ts',
  'mock-engine': 'src/mock-engine/index.ts',
};
/** Code opens these by the names of their sources: a built file has the same name. */
const named = (...sources: string[]): Record<string, string> =>
  Object.fromEntries(sources.map((source) => [basename(source, '.ts'), source]));
const planWorker = named('src/rpc/transports/plan-worker.ts');
const commands = { cli: 'src/cli/bin.ts', ...named('src/cli/threads/worker.ts'), ...planWorker };
/** That of the report is inlined into every report, behind the chart library; the others are those of the command line. */
const pageScripts = named(...pageNames.map(pageSource));
const chartLibrary = { [charts.name]: charts.source };
const pages = { ...chartLibrary, ...pageScripts };

/** Packages that users install themselves where they need them; esbuild is used by sources alone. */
export const external: readonly string[] = ['classic-level', 'fast-check', 'esbuild'];
/** What stands beside the library, in both products. */
export const bundles: Bundles = { commands, pages };

/** Where a product goes, and how. */
export interface Product {
  readonly outDir: string;
  /** Name of the file with the licences of what is built in. */
  readonly licences: string;
  readonly minify?: boolean;
}

/** The builds of a product: the library, and the command line with its threads and the scripts of its pages. */
export function buildsOf({ outDir, licences, minify = false }: Product): {
  library: Options[];
  commandLine: Options[];
} {
  // What is no dependency or peer of the package is built in: nobody installs it, and its licence goes along.
  const withNotices = noticesInto(`${outDir}/${licences}`);
  const plugins = (beside: Bundles, extension: '.js' | '.cjs') => [
    opensOnly(beside, extension),
    treeShaking,
    withNotices,
  ];
  const common = { outDir, target: 'node20', splitting: true, external: [...external] } satisfies Options;
  const inBrowser = {
    outDir,
    minify: true,
    format: ['iife'],
    platform: 'browser',
    target: 'es2020',
    noExternal: [/.*/],
    outExtension: () => ({ js: '.js' }),
  } satisfies Options;
  const library = { ...common, entry: { ...entries, definitions: 'src/generated/definitions.ts' } } satisfies Options;
  return {
    library: [
      {
        ...library,
        format: ['esm'],
        esbuildPlugins: plugins(bundles, '.js'),
        onSuccess: async () => writeEntries(outDir, 'esm'),
      },
      // `shims`: the CommonJS build finds the files beside it, as `import.meta.url` does in the other. The thread of the ES
      // modules comes with the command line, which is built for `npm start` alone, too.
      {
        ...library,
        entry: { ...library.entry, ...planWorker },
        format: ['cjs'],
        shims: true,
        // Of the threads it has this one only.
        esbuildPlugins: plugins({ commands: planWorker, pages }, '.cjs'),
        plugins: [cjsFields],
        onSuccess: async () => writeEntries(outDir, 'cjs'),
      },
    ],
    commandLine: [
      {
        ...common,
        minify,
        // Node loads what is built in a quarter sooner than zod with its many files. It serves metrics to whoever asks.
        noExternal: ['prom-client', 'zod', 'eventemitter3'],
        // Packages in CommonJS ask for modules of Node by `require`.
        banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
        entry: { ...bundles.commands },
        format: ['esm'],
        esbuildPlugins: plugins(bundles, '.js'),
      },
      { ...inBrowser, entry: chartLibrary, globalName: chartsGlobal, esbuildPlugins: [withNotices] },
      { ...inBrowser, entry: pageScripts, esbuildPlugins: [chartsApart, opensOnly(bundles, '.js'), withNotices] },
    ],
  };
}

/** Builds a product, one part after the other: they share a list of licences. Declarations are `tsup.config.ts`'s alone. */
export async function buildProduct(parts: readonly Options[]): Promise<void> {
  for (const part of parts) await build({ ...part, config: false, silent: true });
}
