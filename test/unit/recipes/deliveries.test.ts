/** What a recipe takes reaches a part, and what its parts decide reaches somebody, or stands here with the reason why not. */
import { expect, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import type { Route } from '../../../src/core/recipe/spec.ts';
import { registry } from '../../../src/registry.ts';

/** What a recipe is made of, as `defineRecipe` was given it. */
type Recipe = AnyPolicyDefinition & {
  readonly parts: Readonly<Record<string, AnyPolicyDefinition>>;
  readonly routes: Readonly<Record<string, Readonly<Record<string, Route<never, never>>>>>;
};

const kept: Record<string, readonly string[]> = {
  rollpacker: [
    // The admission asks for what is missing: it knows what is carried over.
    'queue: prompts.request',
    // Rounds end in the admission, and the others hear of it from there.
    'assembly: round.resumed',
    'training: round.resumed',
  ],
  rolloutpipe: [
    // The prompt was handed back, or its group was dropped by name.
    'assembly: group.withdrawn',
    // Rounds end in the collection.
    'assembly: round.resumed',
    'pipelining: round.resumed',
  ],
  'agentic-rollout': ['queue: prompts.request'],
  // The queue says when no prompt is left.
  'tail-batching': ['selection: source.drained'],
  // Nothing is passed over, since each prompt is trained in every epoch; the composition says when no prompt is left.
  'lossless-tail': ['selection: prompts.passed', 'selection: source.drained'],
  'tail-pipelining': [
    'queue: prompts.request',
    'assembly: round.resumed',
    // The admission launches again what it needs, and says what is late.
    'frontier: request.awaited',
    'frontier: response.late',
    'pipelining: round.resumed',
  ],
};

const recipes = registry.policies.filter((one) => one.kind === 'recipe') as unknown as Recipe[];
const takes = (part: AnyPolicyDefinition, type: string): boolean =>
  part.events.some((message) => message.type === type);

test.each(recipes.map((one) => [one.id, one] as const))('%s', (id, { parts, routes, decisions }) => {
  const lost = Object.entries(parts).flatMap(([from, part]) =>
    part.decisions
      .filter(({ type }) => {
        const { out, to } = routes[from]?.[type] ?? {};
        const goesOut = out ?? decisions.some((message) => message.type === type);
        const others = Object.entries(parts).filter(([name]) => name !== from);
        return goesOut === false && to === undefined && !others.some(([, other]) => takes(other, type));
      })
      .map(({ type }) => `${from}: ${type}`),
  );
  expect(lost).toEqual(kept[id] ?? []);
});

test.each(recipes.map((one) => [one.id, one] as const))(
  '%s: each event has a part that takes it',
  (_, { parts, events }) => {
    const untaken = events.filter(({ type }) => !Object.values(parts).some((part) => takes(part, type)));
    expect(untaken.map(({ type }) => type)).toEqual([]);
  },
);

test('all recipes are looked at', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(5);
});
