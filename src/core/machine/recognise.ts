/**
 * Checks whether a value fits a schema, without making objects for every field as zod does. Most events fit; zod explains why the
 * others do not. zod checks the fields whose schemas are not supported here.
 */
import type { z } from 'zod';
import { isWellFormed } from '../../schemas/units.ts';

/** Checks whether a value fits; returns true only for values that zod accepts. */
export type Recogniser = (value: unknown) => boolean;

type Schema = z.core.$ZodType;
type Check = z.core.$ZodCheck;

const made = new WeakMap<Schema, Recogniser>();

/** Returns the recogniser of a schema, which is made once. */
export function recogniserOf(schema: Schema): Recogniser {
  const known = made.get(schema);
  if (known !== undefined) return known;
  // An inner occurrence of a recursive schema finds this entry, and zod checks it.
  made.set(schema, byZod(schema));
  const fits = understood(schema) ?? byZod(schema);
  made.set(schema, fits);
  return fits;
}

const byZod =
  (schema: Schema): Recogniser =>
  (value) =>
    (schema as z.ZodType).safeParse(value).success;

function understood(schema: Schema): Recogniser | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const fits = unbounded(def, schema);
  const bounds = (def.checks ?? []).map(boundOf);
  if (fits === undefined || bounds.includes(undefined)) return undefined;
  const [first, second, ...others] = bounds as Bound[];
  if (first === undefined) return fits;
  // Most have one or two: a loop, or a function around a function, would take longer than they do.
  if (second === undefined) return (value) => fits(value) && first(value as never);
  if (others.length === 0) return (value) => fits(value) && first(value as never) && second(value as never);
  return (value) => fits(value) && (bounds as Bound[]).every((isWithin) => isWithin(value as never));
}

function unbounded(def: z.core.$ZodTypes['_zod']['def'], schema: Schema): Recogniser | undefined {
  switch (def.type) {
    case 'string':
      return 'format' in def || ('coerce' in def && def.coerce) ? undefined : (value) => typeof value === 'string';
    case 'number':
      if ('coerce' in def && def.coerce) return undefined;
      if (!('format' in def)) return Number.isFinite;
      // `isSafeInteger` already checks the bounds of this format.
      return def.format === 'safeint' ? Number.isSafeInteger : undefined;
    case 'boolean':
      return 'coerce' in def && def.coerce ? undefined : (value) => typeof value === 'boolean';
    case 'literal':
    case 'enum': {
      const values = (schema as z.core.$ZodLiteral)._zod.values;
      return (value) => values.has(value as never);
    }
    case 'array': {
      const element = recogniserOf(def.element);
      return (value) => {
        if (!Array.isArray(value)) return false;
        // A loop, because `every` would skip the holes of a sparse array.
        for (let at = 0; at < value.length; at += 1) if (!element(value[at])) return false;
        return true;
      };
    }
    case 'optional': {
      const inner = recogniserOf(def.innerType);
      return (value) => value === undefined || inner(value);
    }
    case 'union': {
      const options = def.options.map(recogniserOf);
      return (value) => options.some((fits) => fits(value));
    }
    case 'object':
      return def.catchall?._zod.def.type === 'never' ? objectOf(def.shape) : undefined;
    default:
      return undefined;
  }
}

function objectOf(shape: Readonly<Record<string, Schema>>): Recogniser {
  const fields = Object.entries(shape).map(([key, schema]) => ({
    key,
    isOptional: schema._zod.def.type === 'optional',
    fits: recogniserOf(schema),
  }));
  const known = new Set(Object.keys(shape));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    let found = 0;
    for (const { key, isOptional, fits } of fields) {
      const field = (value as Record<string, unknown>)[key];
      if (field === undefined ? !isOptional : !fits(field)) return false;
      if (field !== undefined) found += 1;
    }
    // A plain object with no more keys than were found has only known keys.
    if (Object.getPrototypeOf(value) === Object.prototype && Object.keys(value).length === found) return true;
    for (const key in value) if (!known.has(key)) return false;
    return true;
  };
}

type Bound = (value: never) => boolean;
type Sized = { readonly length: number };

function boundOf(check: Check): Bound | undefined {
  const { def } = (check as z.core.$ZodChecks)._zod;
  if ((def as { readonly fn?: unknown }).fn === isWellFormed) return isWellFormed;
  switch (def.check) {
    case 'greater_than':
      return def.inclusive
        ? (value: number) => value >= (def.value as number)
        : (value: number) => value > (def.value as number);
    case 'less_than':
      return def.inclusive
        ? (value: number) => value <= (def.value as number)
        : (value: number) => value < (def.value as number);
    case 'min_length':
      return (value: Sized) => value.length >= def.minimum;
    case 'max_length':
      return (value: Sized) => value.length <= def.maximum;
    default:
      return undefined;
  }
}
