/**
 * The policy `group-assembly`, with its types.
 *
 * @packageDocumentation
 */

export { groupAssembly } from './group-assembly.ts';
export { assemblyConfig } from './schema.ts';
export type * from './types.ts';
