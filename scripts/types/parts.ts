/** Where definitions are, and of which other ones a recipe is made. */
import { readdirSync, readFileSync } from 'node:fs';
import type { AnyDefinition } from '../../src/index.ts';
import { registry } from '../../src/registry.ts';

/** Where definitions of each kind are. */
const folders = { policy: 'policies', planner: 'planners', recipe: 'recipes' } as const;

/** The folder of a definition, from the root of the repository. */
export const folderOf = ({ kind, id }: AnyDefinition): string => `src/${folders[kind]}/${id}`;

const importOfPart = /from '(?:\.\.\/)+(?:policies|planners)\/([^/']+)\//g;

/** The policies and planners that a recipe imports, in the order of the registry; nothing for what is no recipe. */
export function partsOf(definition: AnyDefinition): AnyDefinition[] {
  if (definition.kind !== 'recipe') return [];
  const folder = new URL(`../../${folderOf(definition)}/`, import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const texts = files.map((file) => readFileSync(new URL(file.replaceAll('\\', '/'), folder), 'utf8'));
  const imported = new Set(texts.flatMap((text) => [...text.matchAll(importOfPart)].map(([, id]) => id)));
  return registry.definitions.filter(({ id }) => imported.has(id));
}
