/** Definitions of the user, beside those shipped. */
import { accessSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type AnyDefinition, isDefinition } from '../core/definition.ts';
import { createRegistry, type Registry } from '../core/registry.ts';
import { PolicyError } from '../errors.ts';
import { registry } from '../registry.ts';

/** Definitions that a module exports, by themselves or in lists; each once. */
async function ownDefinitions(path: string): Promise<AnyDefinition[]> {
  // A path that is not there is the user's; what fails inside the module is not.
  accessSync(path);
  const exported = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
  const found = Object.values(exported).flat().filter(isDefinition);
  if (found.length === 0) {
    const expected = 'a module that exports definitions (definePolicy, …)';
    throw new PolicyError('invalid_input', { expected, got: Object.keys(exported), path });
  }
  return [...new Set(found)];
}

/** What is shipped, and what a module exports if one is given. */
export async function registryWith(path: string | undefined): Promise<Registry<readonly AnyDefinition[]>> {
  if (path === undefined) return registry as unknown as Registry<readonly AnyDefinition[]>;
  return createRegistry([...registry.definitions, ...(await ownDefinitions(path))]) as never;
}
