/** Builds of the command line with versions of their own, to put one in the place of another. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { root } from '../command-line/process.ts';

const anyVersion = '0.0.0-of-a-build';

export interface Builds {
  /** Returns what Node is given to start this version. */
  cli(version: string): string;
  /** Returns a module for `--policies`, of this text; it may import files beside this one. */
  policies(name: string, text: string): Promise<string>;
  remove(): void;
}

/** Bundles the command line once; the versions are in it, and not read from the package. */
export async function makeBuilds(): Promise<Builds> {
  // In the repository it finds the packages that are not bundled.
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache', 'builds-'));
  const common: BuildOptions = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    external: ['classic-level', 'esbuild', 'zod', 'commander', 'json-rpc-2.0', 'prom-client'],
  };
  const outfile = join(folder, 'cli.mjs');
  const define = { ROLLFLEX_VERSION: JSON.stringify(anyVersion) };
  await build({ ...common, entryPoints: ['src/cli/bin.ts'], outfile, define });
  const bundled = readFileSync(outfile, 'utf8');
  return {
    cli(version) {
      const file = join(folder, `cli-${version}.mjs`);
      writeFileSync(file, bundled.replaceAll(anyVersion, version));
      return file;
    },
    async policies(name, contents) {
      const file = join(folder, `${name}.mjs`);
      const stdin = { contents, resolveDir: join(root, 'test/support/servers') };
      await build({ ...common, stdin, outfile: file });
      return file;
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
