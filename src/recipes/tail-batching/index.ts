export { type TailBatchingConfig, type TailBatchingInput, tailBatching, tailBatchingConfig } from './tail-batching.ts';
