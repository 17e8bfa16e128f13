/** Checks the schemas in a user's own definitions. */
import { refuse } from '../errors.ts';

/**
 * Refuses values that are no schemas of zod 4. A schema of zod 3 would work at first, and fail later, when a JSON Schema or a
 * larger schema is made from it.
 *
 * @throws PolicyError `invalid_config`, with the path of the first such value
 */
export function checkSchemas(schemas: Readonly<Record<string, unknown>>, path: string): void {
  for (const [key, schema] of Object.entries(schemas)) {
    if (typeof schema === 'object' && schema !== null && '_zod' in schema) continue;
    const isZod3 = typeof schema === 'object' && schema !== null && '_def' in schema;
    refuse(
      'invalid_config',
      `${path}.${key}`,
      'a schema of zod 4, such as one made with the z that rollflex exports',
      isZod3 ? 'one of zod 3' : schema,
    );
  }
}
