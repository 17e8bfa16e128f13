/** Completes events of which only some fields are given. */
import { z } from 'zod';

type Json = Readonly<Record<string, unknown>>;

/** Required and optional fields of an event. */
interface Fields {
  readonly names: readonly string[];
  /** JSON Schemas of the required fields. */
  readonly required: readonly (readonly [name: string, schema: Json])[];
}

const known = new WeakMap<z.ZodType, Fields>();

function fieldsOf(schema: z.ZodType): Fields {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const shape = Object.entries((schema as z.ZodObject).shape ?? {}) as [string, z.ZodType][];
  const required = shape
    .filter(([, field]) => !field.safeParse(undefined).success)
    .map(([name, field]) => [name, z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' }) as Json] as const);
  const fields = { names: shape.map(([name]) => name), required };
  known.set(schema, fields);
  return fields;
}

/** Returns the fields of a decision that the schema of an event also has. */
export function sharedFields(schema: z.ZodType, decision: object): Json {
  const given = decision as Json;
  const names = fieldsOf(schema).names.filter((name) => given[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, given[name]]));
}

/**
 * Makes an event with the given fields, and valid values for the other required fields.
 *
 * @param turn - chooses 0 or 1 for numbers without bounds, so that rewards differ
 */
export function eventWith(schema: z.ZodType, given: Json, turn: number, filling: Filling = {}): Json {
  const event: Record<string, unknown> = { ...given };
  for (const [name, field] of fieldsOf(schema).required) event[name] ??= fill(field, turn, filling);
  return event;
}

/** Says which valid value is chosen where several are possible. */
export interface Filling {
  /** Number of items in lists that may be shorter; 0 by default. */
  readonly leastItems?: number;
  /** Number of the chosen value or form where several are possible; the number wraps around. Default 0. */
  readonly variant?: number;
}

function fill(schema: Json, turn: number, filling: Filling): unknown {
  const { leastItems = 0, variant = 0 } = filling;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[variant % schema.enum.length];
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return fill(choices[variant % choices.length], turn, filling);
  switch (schema.type) {
    case 'string':
      return 'x'.repeat(Number(schema.minLength ?? 1));
    case 'boolean':
      return true;
    case 'number':
    case 'integer':
      return numberOf(schema, turn, leastItems);
    case 'array':
      return Array.from({ length: Number(schema.minItems ?? leastItems) }, () =>
        fill(schema.items as Json, turn, filling),
      );
    case 'object': {
      const properties = (schema.properties ?? {}) as Readonly<Record<string, Json>>;
      const names = (schema.required ?? []) as readonly string[];
      return Object.fromEntries(names.map((name) => [name, fill(properties[name]!, turn, filling)]));
    }
    default:
      return null;
  }
}

/**
 * Returns the least valid number plus one; without a lower bound, 0 and 1 in turn. Where lists get items, the number stays at
 * most the number of items if the schema allows, because the field may count those items.
 */
function numberOf({ minimum, exclusiveMinimum, maximum }: Json, turn: number, items: number): number {
  const least = Number(minimum ?? exclusiveMinimum ?? Number.NEGATIVE_INFINITY);
  if (least <= Number.MIN_SAFE_INTEGER) return turn % 2;
  const fitting = Math.max(items, minimum === undefined ? least + 1 : least);
  return Math.min(items > 0 ? fitting : least + 1, Number(maximum ?? Number.POSITIVE_INFINITY));
}
