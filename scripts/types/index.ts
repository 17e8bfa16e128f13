/** The generated TypeScript types: file by file. */
import { definitionTypes } from './definitions.ts';
import { messageTypes } from './messages.ts';

/** Texts of the generated modules, by their paths from the root of the repository. */
export async function typescriptTypes(): Promise<Map<string, string>> {
  return new Map([...(await messageTypes()), ...(await definitionTypes())]);
}
