/** The licences of what is built into a package, as its users get them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Metafile, Plugin } from 'esbuild';

/** A package that names its licence and brings no text of it. That of Apache-2.0 is our own licence, whole. */
function withoutFile(name: string, path: string): string {
  const { license, author } = JSON.parse(readFileSync(`${path}/package.json`, 'utf8')) as Record<string, unknown>;
  if (license !== 'Apache-2.0') throw new Error(`${name} has no licence file`);
  const by = typeof author === 'string' ? author : String((author as { name?: unknown } | undefined)?.name ?? name);
  return `Copyright ${by}. ${license}:\n\n${readFileSync('LICENSE', 'utf8')}`;
}

/** Paths of the files that are in what a build wrote. */
export const builtIn = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs).filter((path) => inputs[path]!.bytesInOutput > 0));

/**
 * What stands in the licence files of the packages that were built in: they ask for it.
 *
 * @param files - paths of the files that were built in
 */
export function notices(files: readonly string[]): string {
  const packages = files.map((path) => /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path));
  const found = [...new Map(packages.flatMap((one) => (one === null ? [] : [[one[1]!, one[0]]])))].sort();
  return found
    .map(([name, path]) => {
      const licence = readdirSync(path).find((one) => /^licen[cs]e/i.test(one));
      const text = licence === undefined ? withoutFile(name, path) : readFileSync(`${path}/${licence}`, 'utf8');
      return `${name}\n\n${text.trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** For a build of several parts: writes the notices of all of them, anew after each. */
export function noticesInto(file: string): Plugin {
  const files = new Set<string>();
  return {
    name: 'notices',
    setup: ({ initialOptions, onEnd }) => {
      initialOptions.metafile = true;
      onEnd(({ metafile }) => {
        for (const path of builtIn(metafile!)) files.add(path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, notices([...files]));
      });
    },
  };
}
