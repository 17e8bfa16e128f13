/**
 * The policy `group-assembly`, with its types.
 *
 * @packageDocumentation
 */

export { groupAssembly } from './group-assembly.ts';
export type * from './types.ts';
