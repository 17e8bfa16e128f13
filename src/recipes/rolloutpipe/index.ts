export { rolloutPipe } from './rolloutpipe.ts';
export { type RolloutPipeConfig, type RolloutPipeInput, rolloutPipeConfig } from './schema.ts';
