/**
 * Before all tests: the command line, bundled anew from the source in every run, because Node starts it in a
 * third of the time that tsx needs. It stands in the repository, where it finds the packages and the bundled traces, with
 * the files that stand beside it in `dist` too.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { bundles } from '../scripts/bundles.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.cache');
const folder = join(cache, `test-cli-${process.pid}`);
const common = { absWorkingDir: root, bundle: true, outdir: folder, logLevel: 'error' } as const;

async function make(): Promise<void> {
  await Promise.all([
    build({
      ...common,
      entryPoints: {
        ...bundles.commands,
        // For tests that run commands within their own process.
        main: 'src/cli/main.ts',
        // For tests of those threads, which start in a tenth of the time that a thread from the sources takes.
        rpc: 'src/rpc/index.ts',
        'own-planners': 'test/support/servers/own-planners.ts',
      },
      platform: 'node',
      format: 'esm',
      splitting: true,
      target: 'node20',
      // All packages in it, too, but the one that is a binary: Node starts it a quarter sooner.
      external: ['classic-level', 'esbuild'],
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    }),
    build({
      ...common,
      entryPoints: { ...bundles.pages },
      format: 'iife',
      target: 'es2020',
      minify: true,
    }),
  ]);
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

export default async function setup(project: TestProject): Promise<() => void> {
  mkdirSync(cache, { recursive: true });
  // What a run that was killed has left.
  for (const name of readdirSync(cache)) {
    const pid = Number(/^test-cli-(\d+)$/.exec(name)?.[1] ?? process.pid);
    if (!isRunning(pid)) rmSync(join(cache, name), { recursive: true, force: true });
  }
  await make();
  project.onTestsRerun(make);
  process.env.ROLLFLEX_BUILT_CLI = join(folder, 'cli.js');
  return () => rmSync(folder, { recursive: true, force: true });
}
