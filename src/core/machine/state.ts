/**
 * The state of a policy, declared once: a zod schema whose output is the live state and whose input is the saved one. The schema
 * reads a snapshot, and {@link saverOf} writes it. zod's own `encode` gives the same result but checks every field, and fields
 * with a refinement twice; a state that a policy has built needs no check.
 */
import { z } from 'zod';

/**
 * Declares a field that is not saved. `make` makes its value anew when a state is read. Without `make`, the policy's `link` sets
 * it, for example to a pointer into another part of the state.
 */
export function derived<T>(make?: () => T) {
  const schema = z.codec(absent, anything<T>(), {
    decode: () => (make === undefined ? null : make()) as T,
    encode: () => undefined,
  });
  unsaved.add(schema);
  return schema;
}

const absent = z.undefined().optional();
const unchecked = z.any();
/** Accepts any value: the output of a codec needs no check, not even the empty check of `z.custom`. */
const anything = <T>() => unchecked as z.ZodType<T, T>;

const unsaved = new WeakSet<z.core.$ZodType>();

/** Whether a field is one that {@link derived} declares. */
export const isDerived = (schema: z.core.$ZodType): boolean => unsaved.has(schema);

/**
 * Declares a part of the state with hand-written reading and writing.
 *
 * @param saved - schema of the saved part
 * @param by - functions that read and write the part; what `encode` returns must share nothing with the live part
 */
export function byHand<S extends z.ZodType, L>(
  saved: S,
  by: { readonly decode: (saved: z.output<S>) => L; readonly encode: (live: L) => z.output<S> },
) {
  const schema = z.codec(saved, anything<L>(), by as never);
  writers.set(schema, by.encode as Saver);
  return schema;
}

const writers = new WeakMap<z.core.$ZodType, Saver>();

/** A collection that is saved as a list of its items, in the same order. */
export function listOf<S extends z.ZodType, C extends Iterable<z.output<S>>>(
  item: S,
  make: (items: z.output<S>[]) => C,
) {
  return z.codec(z.array(item), anything<C>(), {
    decode: (items) => make(items as z.output<S>[]),
    encode: (collection) => [...collection] as never,
  });
}

/** A set that is saved as a list, in the same order. */
export const setOf = <S extends z.ZodType>(item: S) => listOf(item, (items) => new Set<z.output<S>>(items));

/** A map whose key is a field or a function of the value; saved as a list of the values, in the order of the map. */
export function mapBy<K extends string, S extends z.ZodType<Readonly<Record<K, string>>>>(key: K, item: S): MapBy<S>;
export function mapBy<S extends z.ZodType>(key: (one: z.output<S>) => string, item: S): MapBy<S>;
export function mapBy<S extends z.ZodType>(key: string | ((one: z.output<S>) => string), item: S): MapBy<S> {
  const keyOf = typeof key === 'function' ? key : (one: z.output<S>) => (one as Record<string, string>)[key]!;
  return z.codec(z.array(item), anything<Map<string, z.output<S>>>(), {
    decode: (items) => new Map((items as z.output<S>[]).map((one) => [keyOf(one), one])),
    encode: (map) => [...map.values()] as never,
  });
}

type MapBy<S extends z.ZodType> = z.ZodCodec<
  z.ZodArray<S>,
  z.ZodType<Map<string, z.output<S>>, Map<string, z.output<S>>>
>;

/** A map that is saved as a list of pairs, in the same order. */
export function mapOf<K extends z.ZodType, V extends z.ZodType>(key: K, value: V) {
  return z.codec(z.array(z.tuple([key, value])), anything<Map<z.output<K>, z.output<V>>>(), {
    decode: (pairs) => new Map(pairs as [z.output<K>, z.output<V>][]),
    encode: (map) => [...map] as never,
  });
}

/** Converts a value from the output type of a schema to its input type; the result shares nothing with the value. */
export type Saver = (live: never) => unknown;

type Schema = z.core.$ZodType;

const same: Saver = (live) => live;

/** Returns the saver of a schema, compiled once, without checks. */
export function saverOf(schema: Schema): Saver {
  const writer = writers.get(schema);
  if (writer !== undefined) return writer;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'literal':
    case 'enum':
    case 'null':
    case 'undefined':
      return same;
    case 'nullable':
    case 'optional':
    case 'readonly':
    case 'default': {
      const save = saverOf(def.innerType);
      return save === same ? same : (live) => (live === null || live === undefined ? live : save(live));
    }
    case 'array':
      return listSaver(saverOf(def.element));
    case 'object':
      return objectSaver(def.shape);
    case 'tuple': {
      const items = def.items.map(saverOf);
      if (items.every((one) => one === same)) return (live: readonly never[]) => live.slice();
      return (live: readonly never[]) => items.map((save, index) => save(live[index]!));
    }
    case 'union': {
      const options = def.options.map(saverOf);
      return options.every((one) => one === same) ? same : structuredClone;
    }
    case 'pipe': {
      const { reverseTransform } = def as z.core.$ZodCodecDef;
      if (reverseTransform === undefined) break;
      const save = saverOf(def.in);
      return (live) => save(reverseTransform(live, undefined as never) as never);
    }
  }
  return structuredClone;
}

function listSaver(save: Saver): Saver {
  if (save === same) return (live: readonly never[]) => live.slice();
  return (live: readonly never[]) => {
    const saved: unknown[] = [];
    for (const one of live) saved.push(save(one));
    return saved;
  };
}

function objectSaver(shape: Readonly<Record<string, Schema>>): Saver {
  const fields = Object.entries(shape)
    .filter(([, schema]) => !unsaved.has(schema))
    .map(([key, schema]) => ({ key, save: saverOf(schema) }));
  return (live: Readonly<Record<string, never>>) => {
    const saved: Record<string, unknown> = {};
    for (const { key, save } of fields) {
      const field = live[key];
      if (field !== undefined) saved[key] = save === same ? field : save(field);
    }
    return saved;
  };
}
