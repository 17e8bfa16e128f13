/** Planners through the registry: by id, typed, and refused clearly. */
import { describe, expect, test } from 'vitest';
import { parse } from '../../../src/core/machine/validate.ts';
import { createRegistry, definePlanner, gradientRenormalization, registry, runPlanner, z } from '../../../src/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { rightPlanner } from '../../support/wrong/planners.ts';

describe('plan', () => {
  test('by id is the plain function', () => {
    const input = { replicas: [{ samples: 1 }, { samples: 3 }] };
    // Typed by the id: no cast is needed.
    const { factors }: { factors: number[] } = registry.plan('gradient-renormalization', input);
    expect(factors).toEqual(runPlanner(gradientRenormalization, input).factors);
    expect(registry.plan('gradient-renormalization', input).total).toBe(4);
  });

  test('refuses ids of nothing, and of policies', () => {
    // @ts-expect-error no planner has this id
    const unknown = refusal(() => registry.plan('gradients', {}));
    expect(unknown).toMatchObject({ code: 'unknown_id', path: 'planner', got: '"gradients"' });
    expect(unknown.expected).toContain('gradient-renormalization');
    // @ts-expect-error a recipe has no plan
    expect(refusal(() => registry.plan('tail-batching', {})).got).toBe('"tail-batching, a recipe"');
    expect(refusal(() => createRegistry([]).plan('any' as never, {} as never)).expected).toMatch(/has none/);
    expect(refusal(() => registry.create('judge-offload' as never, {} as never)).got).toContain('a planner');
  });

  test('a host adds its own to a registry', () => {
    const mine = createRegistry([...registry.definitions, rightPlanner]);
    expect(mine.planners.length).toBe(registry.planners.length + 1);
    expect(mine.plan('acme/shares' as never, { shares: [{ of: 'a', size: 2 }] } as never)).toEqual({ sizes: [2] });
  });

  test('a planner that fails on an input that fits its schema is at fault itself', () => {
    const broken = definePlanner({
      id: 'acme/broken',
      version: 1,
      summary: 'Fails.',
      source: 'acme',
      input: z.strictObject({ prompts: z.int().describe('Prompts.') }),
      plan: z.strictObject({}),
      compute: (): object => {
        throw new TypeError('no such thing');
      },
    });
    const refused = refusal(() => createRegistry([broken]).plan('acme/broken', { prompts: 1 }));
    expect(refused).toMatchObject({ code: 'internal', got: 'TypeError: no such thing' });
  });
});

describe('a value that fits none of several shapes', () => {
  const schema = z.strictObject({
    cost: z.union([
      z.strictObject({ base: z.number() }),
      z.array(z.strictObject({ at: z.int(), value: z.number() })).min(1),
    ]),
  });

  test.each<[unknown, string, string]>([
    [{ base: 'x' }, 'cost.base', 'a number'],
    [{ base: 1, more: 2 }, 'cost.more', 'no other keys than base'],
    [[{ at: 1, value: null }], 'cost[0].value', 'a number'],
    [[{ at: 1.5, value: 1 }], 'cost[0].at', 'a whole number'],
    [[], 'cost', 'array >= 1'],
    [7, 'cost', 'an object or an array'],
  ])('%j is refused by the shape that it resembles', (cost, path, expected) => {
    const refused = refusal(() => parse(schema, { cost }, 'invalid_input'));
    expect(refused).toMatchObject({ code: 'invalid_input', path, expected });
  });
});
