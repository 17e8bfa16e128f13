/**
 * The policy `shadow-loader`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/shadow-loader.ts';
export { shadowLoader } from './shadow-loader.ts';
