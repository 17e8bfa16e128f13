/** Finds the keys that a schema allows at a path of a value. */
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
