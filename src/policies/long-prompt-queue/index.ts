/**
 * The policy `long-prompt-queue`, with its types.
 *
 * @packageDocumentation
 */

export { longPromptQueue } from './long-prompt-queue.ts';
export { queueConfig, queueSettings } from './schema.ts';
export type * from './types.ts';
