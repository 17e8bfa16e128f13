export { type ShadowLoaderConfig, type ShadowLoaderInput, shadowLoaderConfig } from './schema.ts';
export { type LoaderEvent, shadowLoader } from './shadow-loader.ts';
export { evenSlices } from './slices.ts';
export { type LoaderDecision, loaderDecisions } from './words.ts';
