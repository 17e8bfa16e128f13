/** Loads definitions of the user, in addition to the built-in ones. */
import { spawnSync } from 'node:child_process';
import { accessSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { given } from '../../core/collections/given.ts';
import { type AnyDefinition, isCopy, madeBy } from '../../core/machine/definition.ts';
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

/** Whether a value is what `definePolicy` takes. */
const isSpec = (one: unknown): boolean => typeof one === 'object' && one !== null && 'id' in one && 'handlers' in one;

/** Refuses a copy of a definition, such as `{ ...mine, id: 'lab/other' }`: what it changes would change nothing. */
function refuseCopies(path: string, exported: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(exported)) {
    if (isCopy(value)) refuse('invalid_input', `${path}: ${name}`, madeBy, 'a copy of a definition');
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
  const bare = names.find((name) => isSpec(exported[name]));
  const missing = bare === undefined ? 'definePolicy, …' : `${bare} = definePolicy({…}), not the object alone`;
  refuse('invalid_input', path, `a module that exports definitions (${missing})`, names);
}

/** Definitions, and the module that they are from. */
export interface OwnModule<D extends AnyDefinition = AnyDefinition> {
  readonly path: string;
  readonly definitions: readonly D[];
}

/**
 * Returns the definitions of modules; each must have some.
 *
 * @throws PolicyError `invalid_input` for a module that does not load, or that exports no definition; `duplicate_id` for an id that is
 * taken; the system's error
 */
export async function ownDefinitions(paths: readonly string[]): Promise<readonly OwnModule[]> {
  const modules: OwnModule[] = [];
  const ids = new Map<string, string>(registry.definitions.map(({ id }) => [id, '']));
  for (const path of paths) {
    accessSync(path);
    const exported = await moduleAt(path);
    refuseCopies(path, exported);
    const definitions = ownDefinitionsIn(exported);
    if (definitions.length === 0) noDefinitions(path, exported);
    for (const { id } of definitions) {
      const taken = ids.get(id);
      if (taken === '') refuse('duplicate_id', path, `an id that rollflex does not have, such as acme/${id}`, id);
      if (taken !== undefined)
        refuse('duplicate_id', path, taken === path ? 'ids that differ' : `an id that ${taken} does not have`, id);
      ids.set(id, path);
    }
    try {
      createRegistry([...registry.definitions, ...definitions]);
    } catch (error) {
      if (isPolicyError(error)) throw relocated(error, `${path}: ${error.path}`);
      throw error;
    }
    modules.push({ path, definitions });
  }
  return modules;
}

/** How the logs of the user are opened. Throws as {@link registryWith} does. */
export async function playingWith(policies: readonly string[] | undefined, cache: string | undefined) {
  const definitions = policies?.map((one) => `${one} ${statSync(one).mtimeMs}`).join();
  return { registry: await registryWith(policies), ...given({ definitions, cache }) };
}

/** Returns a registry of the built-in definitions and of those that modules export. */
export async function registryWith(paths: readonly string[] | undefined): Promise<Registry<readonly AnyDefinition[]>> {
  if (paths === undefined) return registryOf({});
  const own = await ownDefinitions(paths);
  return createRegistry([...registry.definitions, ...own.flatMap(({ definitions }) => definitions)]) as never;
}
