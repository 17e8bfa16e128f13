/** What a schema says at a path of a value: the keys that it allows, and the bounds of a number. */
import type { z } from 'zod';

/**
 * Returns the keys that an object at a path may have, in any alternative of its schema; the list is empty if the value there is not
 * a plain object.
 */
export function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const [step, ...rest] = path;
  switch (def.type) {
    case 'object': {
      if (step === undefined) return Object.keys(def.shape);
      const field = Object.hasOwn(def.shape, step) ? def.shape[String(step)] : undefined;
      return field === undefined ? [] : keysAt(field, rest);
    }
    case 'array':
      return step === undefined ? [] : keysAt(def.element, rest);
    case 'record':
      return step === undefined ? [] : keysAt(def.valueType, rest);
    case 'union':
      return def.options.flatMap((one) => keysAt(one, path));
    case 'pipe':
      return keysAt(def.in, path);
    default:
      return 'innerType' in def ? keysAt(def.innerType, path) : [];
  }
}

/** Returns the schema of a field, without what wraps it; `undefined` where alternatives differ, or nothing is there. */
function schemaAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodTypes | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if ('innerType' in def) return schemaAt(def.innerType, path);
  if (def.type === 'pipe') return schemaAt(def.in, path);
  const [step, ...rest] = path;
  if (step === undefined) return schema as z.core.$ZodTypes;
  switch (def.type) {
    case 'object':
      return Object.hasOwn(def.shape, step) ? schemaAt(def.shape[String(step)]!, rest) : undefined;
    case 'array':
      return schemaAt(def.element, rest);
    case 'record':
      return schemaAt(def.valueType, rest);
    default:
      return undefined;
  }
}

/** Writes what a number at a path must be, as `a whole number >= 1`; `undefined` if the schema has no number there. */
export function numberAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string | undefined {
  const def = schemaAt(schema, path)?._zod.def;
  if (def?.type !== 'number') return undefined;
  const isWhole = 'format' in def && def.format === 'safeint';
  const bounds: string[] = [];
  for (const check of def.checks ?? []) {
    const { def: of } = (check as z.core.$ZodChecks)._zod;
    if (of.check !== 'greater_than' && of.check !== 'less_than') continue;
    const value = Number(of.value);
    // A bound that only keeps numbers exact says nothing of what is meant.
    if (Math.abs(value) >= 1e9) continue;
    const isMore = of.check === 'greater_than';
    if (isMore && isWhole && !of.inclusive) bounds.push(`>= ${value + 1}`);
    else bounds.push(`${isMore ? '>' : '<'}${of.inclusive ? '=' : ''} ${value}`);
  }
  const kind = isWhole ? 'a whole number' : 'a number';
  return bounds.length === 0 ? kind : `${kind} ${bounds.join(' and ')}`;
}
