export { type ShadowLoaderConfig, type ShadowLoaderInput, shadowLoaderConfig } from './schema.ts';
export { shadowLoader } from './shadow-loader.ts';
export { evenSlices } from './slices.ts';
export { type LoaderDecision, type LoaderEvent, loaderDecisions } from './words.ts';
