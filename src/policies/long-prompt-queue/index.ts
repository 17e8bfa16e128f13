export { longPromptQueue } from './long-prompt-queue.ts';
export { queueConfig, queueSettings } from './schema.ts';
export type * from './types.ts';
