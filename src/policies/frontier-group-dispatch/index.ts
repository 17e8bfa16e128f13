/**
 * The policy `frontier-group-dispatch`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/frontier-group-dispatch.ts';
export { frontierGroupDispatch } from './frontier-group-dispatch.ts';
