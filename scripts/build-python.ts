/**
 * What the Python package carries of JavaScript, into `python/src/rollflex/_js` (which git ignores): the policies as one script
 * for an engine in the Python process, and the command line for Node.js, with what it has beside it. The example that `new trainer`
 * copies is there, too. With `--wheel`, its wheel and sdist too, in `python/dist`; that needs `pip install build`.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build, transform } from 'esbuild';
import { packageVersion } from '../src/logs/index/package.ts';
import { buildProduct, buildsOf } from './build/bundles.ts';
import { treeShaking } from './build/tree-shaking.ts';

const folder = 'python/src/rollflex/_js';
rmSync(folder, { recursive: true, force: true });
// Before everything else: modules make what they need of the platform when they are loaded.
const platform = await transform(readFileSync('src/embedded/platform.ts', 'utf8'), {
  loader: 'ts',
  format: 'iife',
  minify: true,
});
await build({
  bundle: true,
  minify: true,
  legalComments: 'none',
  plugins: [treeShaking],
  logLevel: 'warning',
  entryPoints: { embedded: 'src/embedded/index.ts' },
  banner: { js: platform.code },
  outdir: folder,
  format: 'iife',
  globalName: 'rollflexEmbedded',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  target: 'es2023',
});
// The command line has all that the script for the engine has: its list of licences is that of both.
await buildProduct(buildsOf({ outDir: folder, licences: 'LICENSES.txt', minify: true }).commandLine);
// Node.js takes these files for ES modules, and the command line finds its version.
writeFileSync(
  `${folder}/package.json`,
  `${JSON.stringify({ name: 'rollflex', version: packageVersion(), type: 'module' })}\n`,
);
cpSync('examples/traces', `${folder}/examples/traces`, { recursive: true });
// What `rollflex new trainer` copies, without what running it has left there.
for (const name of readdirSync('examples/17-own-trainer').filter((one) => /\.(py|md)$/.test(one))) {
  cpSync(`examples/17-own-trainer/${name}`, `${folder}/examples/17-own-trainer/${name}`);
}

if (process.argv.includes('--wheel')) {
  rmSync('python/dist', { recursive: true, force: true });
  const python = process.env.PYTHON ?? 'python3';
  const { status } = spawnSync(python, ['-m', 'build', 'python'], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
