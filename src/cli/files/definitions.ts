/** Loads definitions of the user, in addition to the built-in ones. */
import { spawnSync } from 'node:child_process';
import { accessSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { given } from '../../core/collections/given.ts';
import type { AnyDefinition } from '../../core/machine/definition.ts';
import { createRegistry, type Registry } from '../../core/machine/registry.ts';
import { isPolicyError, refuse, relocated } from '../../errors.ts';
import { registryOf } from '../../logs/options.ts';
import { registry } from '../../registry.ts';
import { importOwn, ownDefinitionsIn } from '../../rpc/transports/own-module.ts';

/** Returns the URL of a module, as each thread imports it. */
export const moduleUrl = (path: string): string => pathToFileURL(resolve(path)).href;

/** Returns `:LINE` of a file that cannot be parsed: for modules the error does not name it, and a check by Node does. */
function lineOf(path: string, cause: unknown): string {
  const { stack = '' } = cause as Partial<Error>;
  const names = [moduleUrl(path), resolve(path)];
  const lineIn = (text: string): string => {
    const named = names.find((name) => text.includes(`${name}:`)) ?? '';
    return named === '' ? '' : (/^:\d+/.exec(text.slice(text.indexOf(named) + named.length))?.[0] ?? '');
  };
  const line = lineIn(stack);
  if (line !== '' || !(cause instanceof SyntaxError)) return line;
  return lineIn(spawnSync(process.execPath, ['--check', resolve(path)], { encoding: 'utf8' }).stderr ?? '');
}

async function moduleAt(path: string): Promise<Readonly<Record<string, unknown>>> {
  if (statSync(path).isDirectory()) {
    refuse('invalid_input', '--policies', 'a module, not a folder', path);
  }
  try {
    return await importOwn(moduleUrl(path));
  } catch (cause) {
    if (isPolicyError(cause) && cause.code === 'invalid_input' && cause.path === resolve(path))
      throw relocated(cause, path);
    const { message = String(cause) } = cause as Partial<Error>;
    refuse('invalid_input', `${path}${lineOf(path, cause)}`, 'a module that loads', message, cause);
  }
}

/** Says what a module exports in place of definitions, and what is missing. */
function noDefinitions(path: string, exported: Readonly<Record<string, unknown>>): never {
  const names = Object.keys(exported);
  if (names.length === 0)
    refuse(
      'invalid_input',
      path,
      'a module that exports definitions (export const mine = definePolicy({…}))',
      'no export',
    );
  const isSpec = (one: unknown): boolean => typeof one === 'object' && one !== null && 'id' in one && 'handlers' in one;
  const bare = names.find((name) => isSpec(exported[name]));
  const missing = bare === undefined ? 'definePolicy, …' : `${bare} = definePolicy({…}), not the object alone`;
  refuse('invalid_input', path, `a module that exports definitions (${missing})`, names);
}

/**
 * Returns the definitions of a module; there must be some.
 *
 * @throws PolicyError `invalid_input` for a module that does not load, or that exports no definition; `duplicate_id` for an id that is
 * taken; the system's error
 */
export async function ownDefinitions(path: string): Promise<readonly AnyDefinition[]> {
  accessSync(path);
  const exported = await moduleAt(path);
  const found = ownDefinitionsIn(exported);
  if (found.length === 0) noDefinitions(path, exported);
  const shipped = new Set<string>(registry.definitions.map(({ id }) => id));
  const taken = found.find(({ id }) => shipped.has(id));
  if (taken !== undefined)
    refuse('duplicate_id', path, `an id that rollflex does not have, such as acme/${taken.id}`, taken.id);
  const again = found.find(({ id }, index) => found.findIndex((one) => one.id === id) < index);
  if (again !== undefined) refuse('duplicate_id', path, 'ids that differ', again.id);
  try {
    createRegistry([...registry.definitions, ...found]);
  } catch (error) {
    if (isPolicyError(error)) throw relocated(error, `${path}: ${error.path}`);
    throw error;
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
