/** What is recognised is what zod lets pass: likely events of every policy, with any value put anywhere into them. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { recogniserOf } from '../../src/core/machine/recognise.ts';
import { registry } from '../../src/index.ts';
import { likelyEvents, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

type Holder = Record<PropertyKey, unknown>;

/** Every list and object in a value, itself included. */
function holdersIn(value: unknown): Holder[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Holder, ...Object.values(value).flatMap(holdersIn)];
}

/** At and beyond the bounds of the schemas, and what JSON cannot say. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.5, 1, 2 ** 53, 2 ** 53 - 1, 1e300, Number.NaN, Number.POSITIVE_INFINITY),
  fc.constantFrom('', 'x'.repeat(256), 'x'.repeat(257), 'x'.repeat(5000), 'é'.repeat(200), 'constructor'),
  fc.constantFrom<unknown>(
    null,
    undefined,
    true,
    1n,
    [],
    [undefined],
    new Array(2),
    {},
    new Date(0),
    new Map(),
    Symbol.iterator,
    () => 0,
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const key = fc.oneof(fc.constantFrom('reason', '__proto__', 'toString', 'tokens', 'extra', '0'), fc.string());
const change = fc.record({
  holder: fc.nat(),
  field: fc.nat(),
  key,
  value: odd,
  how: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 4),
});

/** An event with one thing in it changed. */
function withChange(event: object, { holder: which, field, key, value, how }: ChangeOf<typeof change>): unknown {
  const copy = structuredClone(event);
  const holders = holdersIn(copy);
  const holder = holders[which % holders.length]!;
  const keys = Object.keys(holder);
  const chosen = keys[field % Math.max(1, keys.length)] ?? key;
  const define = (name: string, descriptor: PropertyDescriptor) =>
    Object.defineProperty(holder, name, { configurable: true, ...descriptor });
  if (how === 0) holder[chosen] = value;
  else if (how === 1) delete holder[chosen];
  else if (how === 2) define(key, { value, enumerable: true });
  else if (how === 3) define(chosen, { value: holder[chosen], enumerable: false });
  else if (how === 4) Object.setPrototypeOf(holder, { [key]: value });
  return copy;
}
type ChangeOf<A> = A extends fc.Arbitrary<infer T> ? T : never;

const subjects = registry.policies.map((one) => [one.id, one as AnyPolicyDefinition] as const);

describe.each(subjects)('%s', (id, definition) => {
  const schemas = new Map(definition.events.map(({ type, schema }) => [type, schema]));

  test('an event is recognised if and only if zod lets it pass', () => {
    const seen = { passed: 0, refused: 0 };
    const property = fc.property(tapes(), fc.array(change, { minLength: 20, maxLength: 20 }), (tape, changes) => {
      const events = likelyEvents(definition, exampleConfigs[id]![0], tape, changes.length);
      events.forEach((event, index) => {
        const schema = schemas.get(event.type)!;
        const { success, data } = schema.safeParse(event);
        // What zod completes, it has to see.
        expect(recogniserOf(schema)(event)).toBe(success && isDeepStrictEqual(data, event));
        const other = withChange(event, changes[index]!);
        const passes = schema.safeParse(other).success;
        seen[passes ? 'passed' : 'refused'] += 1;
        // What only a class or a hidden field makes pass may be left to zod; what is recognised is never refused.
        if (recogniserOf(schema)(other)) expect(passes).toBe(true);
        else if (passes) expect(JSON.parse(JSON.stringify(other))).not.toEqual(other);
      });
    });
    fc.assert(property, runs(25));
    expect(Math.min(seen.passed, seen.refused)).toBeGreaterThan(met(20));
  });
});

test('what is not understood is left to zod', () => {
  const schema = z.strictObject({
    even: z.number().refine((value) => value % 2 === 0),
    email: z.email(),
    number: z.coerce.number(),
    loose: z.looseObject({ a: z.string() }),
  });
  const fits = { even: 2, email: 'a@b.org', number: '3', loose: { a: 'x', b: 1 } };
  const wrong = [{ even: 3 }, { email: 'a' }, { number: 'x' }, { loose: {} }, { more: 1 }];
  expect(recogniserOf(schema)(fits)).toBe(true);
  for (const one of wrong) expect(recogniserOf(schema)({ ...fits, ...one })).toBe(false);
});

test('a schema may be part of itself', () => {
  const tree = z.strictObject({
    name: z.string(),
    get children() {
      return z.array(tree);
    },
  });
  const fits = recogniserOf(tree);
  expect(fits({ name: 'a', children: [{ name: 'b', children: [] }] })).toBe(true);
  expect(fits({ name: 'a', children: [{ name: 'b', children: [{ name: 1, children: [] }] }] })).toBe(false);
});
