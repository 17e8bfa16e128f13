export { tailBatching, tailBatchingConfig } from './tail-batching.ts';
export type * from './types.ts';
