/** Which settings a recipe has of its parts: Python declares each of them once, in a class that both extend. */
import type { AnyDefinition } from '../../src/index.ts';
import { registry } from '../../src/registry.ts';
import { type Shape, shapeOf } from '../tables/schema-table.ts';
import { className } from '../text.ts';
import { partsOf } from '../types/parts.ts';
import type { Base } from './classes.ts';
import { fieldText } from './classes.ts';
import { docstring, moduleName } from './text.ts';

/** Settings that some recipes have of a part, in a class of its module. */
export interface Group extends Base {
  /** What it says of itself. */
  readonly about: string;
}

/** The module of a definition's classes, below `rollflex.models`. */
export const modulePath = ({ kind, id }: AnyDefinition): string =>
  `${kind === 'planner' ? 'planners' : 'policies'}/${moduleName(id)}`;

/** The class of its settings. */
export const settingsName = ({ kind, id }: AnyDefinition): string =>
  `${className(id)}${kind === 'planner' ? 'Input' : 'Config'}`;

/** The settings of a definition, as they are written. */
export const settingsShape = (one: AnyDefinition): Shape =>
  shapeOf(one.kind === 'planner' ? one.input : one.config, 'input');

/** Each setting with all that is said of it. */
function fieldsOf(one: AnyDefinition): Map<string, string> {
  const { properties, required } = settingsShape(one);
  return new Map(
    Object.entries(properties ?? {}).map(([key, field]) => [
      key,
      JSON.stringify([field, required?.includes(key) ?? false]),
    ]),
  );
}

/** Which settings a recipe has of each of its parts; that with the most of them first, and each setting of one part. */
function takenBy(recipe: AnyDefinition): Map<string, string[]> {
  const own = fieldsOf(recipe);
  const parts = partsOf(recipe).map((part) => ({ id: part.id, fields: fieldsOf(part) }));
  const taken = new Map<string, string[]>();
  for (;;) {
    let best: [string, string[]] = ['', []];
    for (const { id, fields } of parts) {
      const keys = [...own.keys()].filter((key) => fields.get(key) === own.get(key));
      if (keys.length > best[1].length) best = [id, keys];
    }
    if (best[1].length === 0) return taken;
    taken.set(...best);
    for (const key of best[1]) own.delete(key);
  }
}

/** A class takes this many lines, with the names of those that extend it. */
const linesOfClass = 7;

const linesOf = (field: Shape): number => 1 + docstring(fieldText(field), '    ').length;

/** What classes of settings extend, and the classes that are there for that alone. */
export class SharedSettings {
  /** Of each definition, by its id: what the class of its settings extends. */
  readonly #bases = new Map<string, Base[]>();
  readonly #groups = new Map<string, Group[]>();

  constructor() {
    const recipes = registry.definitions.filter(({ kind }) => kind === 'recipe');
    const taken = recipes.map((recipe) => [recipe.id, takenBy(recipe)] as const);
    for (const part of registry.definitions) {
      const takers = taken.flatMap(([id, of]) => (of.has(part.id) ? [{ id, keys: of.get(part.id)! }] : []));
      this.#share(part, takers);
    }
  }

  /** What the class of a definition's settings extends. */
  basesOf = ({ id }: AnyDefinition): readonly Base[] => this.#bases.get(id) ?? [];

  /** Classes that its module has before that of its settings. */
  groupsOf = ({ id }: AnyDefinition): readonly Group[] => this.#groups.get(id) ?? [];

  #share(part: AnyDefinition, takers: readonly { readonly id: string; readonly keys: readonly string[] }[]): void {
    const { properties } = settingsShape(part) as Required<Shape>;
    const all = Object.keys(properties);
    const module = modulePath(part);
    const isAll = ({ keys }: { readonly keys: readonly string[] }): boolean => keys.length === all.length;
    for (const { id } of takers.filter(isAll)) this.#extend(id, { name: settingsName(part), module, keys: all });
    const some = takers.filter((one) => !isAll(one));
    const byTakers = new Map<string, string[]>();
    for (const key of all) {
      const ids = some.flatMap(({ id, keys }) => (keys.includes(key) ? [id] : [])).join(' ');
      byTakers.set(ids, [...(byTakers.get(ids) ?? []), key]);
    }
    const groups: Group[] = [];
    for (const [ids, keys] of byTakers) {
      const takersOf = ids.split(' ').filter((one) => one !== '');
      const lines = keys.reduce((sum, key) => sum + linesOf(properties[key]!), 0);
      if (lines * takersOf.length <= linesOfClass) continue;
      const name = `_${settingsName(part)}${groups.length + 1}`;
      const about = `Settings that \`${part.id}\` shares with ${takersOf.map((id) => `\`${id}\``).join(', ')}.`;
      groups.push({ name, module, keys, about });
      for (const id of [part.id, ...takersOf]) this.#extend(id, { name, module, keys });
    }
    this.#groups.set(part.id, groups);
  }

  #extend(id: string, base: Base): void {
    this.#bases.set(id, [...(this.#bases.get(id) ?? []), base]);
  }
}
