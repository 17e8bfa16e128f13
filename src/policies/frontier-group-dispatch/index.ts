/**
 * The policy `frontier-group-dispatch`, with its types.
 *
 * @packageDocumentation
 */

export { frontierGroupDispatch } from './frontier-group-dispatch.ts';
export type * from './types.ts';
