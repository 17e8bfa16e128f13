/** The installed package with versions of its own, to put one in the place of another. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../command-line/process.ts';

export interface Builds {
  /** Returns what Node is given to start this version. */
  cli(version: string): string;
  /** Returns a module for `--policies`, of this text; it may import files beside this one. */
  policies(name: string, text: string): Promise<string>;
  remove(): void;
}

export function makeBuilds(): Builds {
  // In the repository they find the packages that are not bundled.
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache', 'builds-'));
  return {
    cli(version) {
      const copy = join(folder, version);
      const program = join(copy, 'dist', 'cli.js');
      if (existsSync(program)) return program;
      cpSync(process.env.ROLLFLEX_INSTALLED!, copy, { recursive: true });
      const manifest = join(copy, 'package.json');
      writeFileSync(manifest, JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), version }));
      return program;
    },
    async policies(name, contents) {
      const file = join(folder, `${name}.mjs`);
      const stdin = { contents, resolveDir: join(root, 'test/support/servers') };
      await build({
        bundle: true,
        platform: 'node',
        format: 'esm',
        target: 'node20',
        stdin,
        outfile: file,
        external: ['zod'],
      });
      return file;
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
