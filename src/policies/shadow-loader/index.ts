export { shadowLoaderConfig } from './schema.ts';
export { shadowLoader } from './shadow-loader.ts';
export { evenSlices } from './slices.ts';
export type * from './types.ts';
export { loaderDecisions } from './words.ts';
