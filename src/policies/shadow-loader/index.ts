/**
 * The policy `shadow-loader`, with its types.
 *
 * @packageDocumentation
 */

export { loaderDecisions, shadowLoaderConfig } from './schema.ts';
export { shadowLoader } from './shadow-loader.ts';
export { evenSlices } from './slices.ts';
export type * from './types.ts';
