/**
 * The policy `group-assembly`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/group-assembly.ts';
export { groupAssembly } from './group-assembly.ts';
