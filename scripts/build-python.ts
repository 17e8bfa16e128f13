/**
 * What the Python package carries of JavaScript, into `python/src/rollflex/_js` (which git ignores): the policies as one script
 * for an engine in the Python process, and the command line for Node.js, with what it has beside it. With `--wheel`, its wheel
 * and sdist too, in `python/dist`; that needs `pip install build`.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type BuildOptions, build, transform } from 'esbuild';
import { packageVersion } from '../src/cli/package.ts';
import { builtIn, notices } from './notices.ts';
import { treeShaking } from './tree-shaking.ts';

const folder = 'python/src/rollflex/_js';
const common = {
  bundle: true,
  minify: true,
  legalComments: 'none',
  plugins: [treeShaking],
  logLevel: 'warning',
} satisfies BuildOptions;

rmSync(folder, { recursive: true, force: true });
// Before everything else: modules make what they need of the platform when they are loaded.
const platform = await transform(readFileSync('src/embedded/platform.ts', 'utf8'), {
  loader: 'ts',
  format: 'iife',
  minify: true,
});
await build({
  ...common,
  entryPoints: { embedded: 'src/embedded/index.ts' },
  banner: { js: platform.code },
  outdir: folder,
  format: 'iife',
  globalName: 'rollflexEmbedded',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  target: 'es2023',
});
const { metafile } = await build({
  ...common,
  metafile: true,
  entryPoints: { cli: 'src/cli/bin.ts', worker: 'src/cli/worker.ts' },
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  splitting: true,
  platform: 'node',
  target: 'node20',
  // It is native: those who want --state-dir install it.
  external: ['classic-level'],
  define: { ROLLFLEX_VERSION: JSON.stringify(packageVersion()) },
  // Packages in CommonJS ask for modules of Node.js by `require`.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
});

const pages = await build({
  ...common,
  metafile: true,
  entryPoints: { 'report-client': 'src/sim/report/client.ts', 'debug-client': 'src/cli/debug/client/main.ts' },
  outdir: folder,
  format: 'iife',
  platform: 'browser',
  target: 'es2020',
});
cpSync('examples/traces', `${folder}/examples/traces`, { recursive: true });

// The command line has all that the script for the engine has.
writeFileSync(`${folder}/LICENSES.txt`, notices([metafile, pages.metafile].flatMap(builtIn)));

if (process.argv.includes('--wheel')) {
  rmSync('python/dist', { recursive: true, force: true });
  const python = process.env.PYTHON ?? 'python3';
  const { status } = spawnSync(python, ['-m', 'build', 'python'], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
