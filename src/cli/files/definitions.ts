/** Loads definitions of the user, in addition to the built-in ones. */
import { accessSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { given } from '../../core/collections/given.ts';
import type { AnyDefinition } from '../../core/machine/definition.ts';
import { createRegistry, definitionsIn, type Registry } from '../../core/machine/registry.ts';
import { refuse } from '../../errors.ts';
import { registryOf } from '../../logs/options.ts';
import { registry } from '../../registry.ts';

/** Returns the URL of a module, as each thread imports it. */
export const moduleUrl = (path: string): string => pathToFileURL(resolve(path)).href;

async function moduleAt(path: string): Promise<Record<string, unknown>> {
  if (statSync(path).isDirectory()) {
    refuse('invalid_input', '--policies', 'a module, not a folder', path);
  }
  const href = moduleUrl(path);
  try {
    return await import(href);
  } catch (cause) {
    const { message = String(cause), stack = '' } = cause as Partial<Error>;
    // The stack names the file and line of the error, also for a module that cannot be parsed.
    const named = [href, resolve(path)].find((name) => stack.includes(`${name}:`)) ?? '';
    const [line = ''] = /^:\d+/.exec(stack.slice(stack.indexOf(named) + named.length)) ?? [];
    refuse('invalid_input', `${path}${line}`, 'a module that loads', message, cause);
  }
}

/** Returns the definitions of a module; there must be some. */
async function ownDefinitions(path: string): Promise<AnyDefinition[]> {
  accessSync(path);
  const exported = await moduleAt(path);
  const found = definitionsIn(exported);
  if (found.length === 0) {
    const expected = 'a module that exports definitions (definePolicy, …)';
    refuse('invalid_input', path, expected, Object.keys(exported));
  }
  return found;
}

/** How the logs of the user are opened. Throws as {@link registryWith} does. */
export async function playingWith(policies: string | undefined, cache: string | undefined) {
  const definitions = policies === undefined ? undefined : `${policies} ${statSync(policies).mtimeMs}`;
  return { registry: await registryWith(policies), ...given({ definitions, cache }) };
}

/** Returns a registry of the built-in definitions and, if a module is given, of the definitions that it exports. */
export async function registryWith(path: string | undefined): Promise<Registry<readonly AnyDefinition[]>> {
  if (path === undefined) return registryOf({});
  return createRegistry([...registry.definitions, ...(await ownDefinitions(path))]) as never;
}
