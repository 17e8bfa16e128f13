export { longPromptQueue } from './long-prompt-queue.ts';
export { type QueueConfig, type QueueInput, queueConfig, queueSettings } from './schema.ts';
export type { QueueDecision, QueueEvent } from './words.ts';
