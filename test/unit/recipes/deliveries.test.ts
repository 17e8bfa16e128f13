/** What a part decides and another part takes is delivered, or stands here with the reason why not. */
import { expect, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../../src/core/definition.ts';
import type { Route } from '../../../src/core/recipe.ts';
import { registry } from '../../../src/registry.ts';

/** What a recipe is made of, as `defineRecipe` was given it. */
type Recipe = AnyPolicyDefinition & {
  readonly parts: Readonly<Record<string, AnyPolicyDefinition>>;
  readonly routes: Readonly<Record<string, Readonly<Record<string, Route<never, never>>>>>;
};

const kept: Record<string, readonly string[]> = {
  // Nothing is carried over: `maxStaleness` is 0.
  'tail-pipelining': ['admission: prompt.carried, which queue takes'],
};

const recipes = registry.policies.filter((one) => one.kind === 'recipe') as unknown as Recipe[];

test.each(recipes.map((one) => [one.id, one] as const))('%s', (id, { parts, routes }) => {
  const names = Object.keys(parts);
  const undelivered = names.flatMap((from) =>
    parts[from]!.decisions.filter(({ type }) => routes[from]?.[type]?.into === undefined).flatMap(({ type }) =>
      names
        .filter((name) => name !== from && parts[name]!.events.some((word) => word.type === type))
        .map((name) => `${from}: ${type}, which ${name} takes`),
    ),
  );
  expect(undelivered).toEqual(kept[id] ?? []);
});

test('all recipes are looked at', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(5);
});
