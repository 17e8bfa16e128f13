/**
 * The policy `shadow-loader`, with its types.
 *
 * @packageDocumentation
 */

export { shadowLoader } from './shadow-loader.ts';
export type * from './types.ts';
