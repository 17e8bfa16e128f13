/**
 * The policy `sandbox-timeout`, with its types.
 *
 * @packageDocumentation
 */

export { sandboxTimeout } from './sandbox-timeout.ts';
export type * from './types.ts';
