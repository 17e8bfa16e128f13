/**
 * The policy `long-prompt-queue`, with its types.
 *
 * @packageDocumentation
 */

export { longPromptQueue } from './long-prompt-queue.ts';
export type * from './types.ts';
