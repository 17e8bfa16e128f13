/**
 * The policy `long-prompt-queue`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/long-prompt-queue.ts';
export { longPromptQueue } from './long-prompt-queue.ts';
