/** What the vocabulary allows, every policy can live with: its greatest numbers, and engines that die after they have left. */
import { describe, expect, test } from 'vitest';
import type { AnyEvent, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { registry } from '../../src/registry.ts';
import { z } from '../../src/schemas/index.ts';
import { choicesFrom, likelyEvents } from '../../src/testing/index.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

interface Shape {
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Shape>>;
}

const tape = (seed: number): number[] =>
  Array.from({ length: 257 }, (_, at) => (at * 48_271 + seed * 7919) % 1_000_003);

/** Returns a value with every number of tokens in it at its bound, as far as `choose` says so. */
function greatest(value: unknown, given: Shape, choose: () => boolean, name = '', defs = given.$defs): unknown {
  const shape = given.$ref === undefined ? given : defs![given.$ref.slice('#/$defs/'.length)]!;
  if (typeof value === 'number') {
    const { maximum } = shape;
    return /tokens$/i.test(name) && maximum !== undefined && choose() ? maximum : value;
  }
  if (Array.isArray(value)) return value.map((one) => greatest(one, shape.items ?? {}, choose, name, defs));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value);
  return Object.fromEntries(
    fields.map(([key, one]) => [key, greatest(one, shape.properties?.[key] ?? {}, choose, key, defs)]),
  );
}

function* subjects(): Iterable<readonly [string, AnyPolicyDefinition, object]> {
  for (const definition of registry.policies) {
    for (const [index, config] of (exampleConfigs[definition.id] ?? []).entries())
      yield [`${definition.id} ${index}`, definition, config as object];
  }
}

const shapesOf = ({ events }: AnyPolicyDefinition): ReadonlyMap<string, Shape> =>
  new Map(
    events.map(({ type, schema }) => [type, z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape]),
  );

describe('the greatest legal numbers of tokens: whatever is taken can be restored', () => {
  const enlarged = new Set<string>();

  test.each([...subjects()])('%s', (_name, definition, config) => {
    const shapes = shapesOf(definition);
    const choices = choicesFrom(tape(1));
    const policy = create(definition, config as never);
    for (const [index, event] of likelyEvents(definition, config, tape(1), 40).entries()) {
      const large = greatest(event, shapes.get(event.type)!, () => choices.below(3) > 0) as AnyEvent;
      try {
        policy.send(large as never);
        if (JSON.stringify(large) !== JSON.stringify(event)) enlarged.add(definition.id);
      } catch (error) {
        if (!isPolicyError(error) || error.code === 'internal') throw error;
      }
      if (index % 6 === 5) create(definition, { snapshot: JSON.parse(JSON.stringify(policy.snapshot())) as never });
    }
  });

  test('most policies have taken some', () => {
    expect(enlarged.size).toBeGreaterThan(15);
  });
});

describe('an engine that dies after it was drained', () => {
  const tell = (policy: { send(event: never): unknown }, type: string) =>
    policy.send({ type, at: 0, engineId: 'new' } as never);
  const takes = ({ events }: AnyPolicyDefinition, type: string): boolean => events.some((one) => one.type === type);
  const takers = registry.policies.filter((one) =>
    ['engine.added', 'engine.drained', 'engine.lost'].every((type) => takes(one, type)),
  );
  /** Whether the host adds engines: those of gpu-scale-down and rollpacker come with their GPUs, and these are never unknown. */
  const addsEngines = ({ id }: AnyPolicyDefinition): boolean => id !== 'gpu-scale-down' && id !== 'rollpacker';

  test('is known to most policies', () => {
    expect(takers.filter(addsEngines).length).toBeGreaterThan(6);
  });

  test.each(takers.filter(addsEngines).map((definition) => [definition.id, definition] as const))(
    'is late, not wrong: %s',
    (id, definition) => {
      for (const config of exampleConfigs[id] ?? []) {
        const policy = create(definition, config as never);
        const stateOf = () => (policy.snapshot() as { state: unknown }).state;
        for (const type of ['engine.added', 'engine.drained', 'engine.lost']) tell(policy, type);
        const before = stateOf();
        // Told again, in another order, nothing changes any more.
        expect([tell(policy, 'engine.lost'), tell(policy, 'engine.drained')]).toEqual([[], []]);
        expect(stateOf()).toEqual(before);
      }
    },
  );
});
