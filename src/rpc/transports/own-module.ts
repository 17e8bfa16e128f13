/** Loads a module of the user, as JavaScript or, through Node or the loader of the project, as TypeScript. */
// The default export is used, because built files begin with an import of `createRequire`.
import modules from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AnyDefinition } from '../../core/machine/definition.ts';
import { definitionsIn } from '../../core/machine/registry.ts';
import { refuse } from '../../errors.ts';

type Exports = Readonly<Record<string, unknown>>;

/** What a loader of TypeScript exports, of those that are known here. */
interface Loader {
  readonly tsImport?: (specifier: string, parent: string) => Promise<unknown>;
  readonly createJiti?: (from: string) => { import(path: string): Promise<unknown> };
}

/** In the order in which they are looked for. */
const loaders = ['tsx/esm/api', 'jiti'];

const isTypeScript = (href: string): boolean => /\.[cm]?tsx?$/.test(href);
/** Node without types, and Node that only strips them. */
const notLoaded = ['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'];

async function throughLoader(href: string, cause: unknown): Promise<unknown> {
  const require = modules.createRequire(href);
  for (const name of loaders) {
    let found: string;
    try {
      // The module beside the script that `require` means: what the script registers, Node does not find.
      found = require.resolve(name).replace(/\.cjs$/, '.mjs');
    } catch {
      continue;
    }
    const loader = (await import(pathToFileURL(found).href)) as Loader;
    if (loader.createJiti !== undefined) return loader.createJiti(href).import(fileURLToPath(href));
    if (loader.tsImport !== undefined) return loader.tsImport(href, href);
  }
  const path = fileURLToPath(href);
  const script = basename(path).replace(/ts(x?)$/, 'js$1');
  const expected = `a loader of TypeScript in its project (npm install --save-dev tsx), Node 22.18 or newer, or ${script}`;
  return refuse('invalid_input', path, expected, `Node ${process.versions.node}, and neither tsx nor jiti`, cause);
}

/**
 * Imports a module; one in TypeScript by Node itself where it can, else by `tsx` or `jiti` of the module's project.
 *
 * @param href - the URL of the module
 * @throws PolicyError `invalid_input` for TypeScript that nothing here can load; whatever the module throws
 */
export async function importOwn(href: string): Promise<Exports> {
  try {
    return await import(href);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!isTypeScript(href) || !notLoaded.includes(code)) throw error;
    return (await throughLoader(href, error)) as Exports;
  }
}

/** Returns the definitions that a module exports, each by itself, in a list, or in what it exports by default. */
export function ownDefinitionsIn(exported: Exports): AnyDefinition[] {
  const { default: whole } = exported;
  return definitionsIn({ ...(typeof whole === 'object' && whole !== null ? whole : {}), ...exported });
}
