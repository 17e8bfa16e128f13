/** The generated TypeScript types: file by file. */
import { definitionTypes } from './definitions.ts';
import { messageTypes } from './messages.ts';

/**
 * Texts of the generated modules, by their paths from the root of the repository.
 *
 * @param isWhole - every type declares all that it has itself, as in no module that is written: what the others are compared with
 */
export async function typescriptTypes(isWhole = false): Promise<Map<string, string>> {
  return new Map([...(await messageTypes(isWhole)), ...(await definitionTypes(isWhole))]);
}
