export { longPromptQueue, type QueueDecision, type QueueEvent } from './long-prompt-queue.ts';
export { type QueueConfig, type QueueInput, queueConfig, queueSettings } from './schema.ts';
