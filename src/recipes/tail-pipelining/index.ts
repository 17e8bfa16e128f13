/**
 * The recipe `tail-pipelining`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/tail-pipelining.ts';
export { tailPipelining } from './tail-pipelining.ts';
