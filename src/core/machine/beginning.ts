/** The beginning of a state, from its schema: most of what a policy holds is nothing at first. */
import { z } from 'zod';

type Schema = z.core.$ZodType;

/**
 * Returns what a part of a state is at first, in its saved form: an empty list, `null`, 0, `false`, or an object of these.
 *
 * @returns `undefined` for a part without an evident beginning, such as a text; for a part that may be absent, too
 */
function beginningOf(schema: Schema): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'array':
      return z.safeParse(schema, []).success ? [] : undefined;
    case 'record':
      return {};
    case 'nullable':
      return null;
    case 'boolean':
      return false;
    case 'number':
      return z.safeParse(schema, 0).success ? 0 : undefined;
    case 'readonly':
      return beginningOf(def.innerType);
    case 'pipe':
      return beginningOf(def.in);
    case 'object': {
      const { fields, missing } = beginningsOf(schema);
      return missing.length === 0 ? fields : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns what the fields of a state are at first; those without an evident beginning, and not optional, are `missing`. */
export function beginningsOf(state: Schema): {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly missing: string[];
} {
  const { def } = (state as z.core.$ZodTypes)._zod;
  if (def.type !== 'object') return { fields: {}, missing: [] };
  const fields: Record<string, unknown> = {};
  const missing: string[] = [];
  for (const [key, field] of Object.entries(def.shape)) {
    const first = beginningOf(field);
    if (first !== undefined) fields[key] = first;
    else if (field._zod.optin !== 'optional') missing.push(key);
  }
  return { fields, missing };
}
