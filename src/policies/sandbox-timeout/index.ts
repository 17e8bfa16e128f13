/**
 * The policy `sandbox-timeout`, with its types.
 *
 * @packageDocumentation
 */

export { sandboxTimeout } from './sandbox-timeout.ts';
export { timeoutConfig, timeoutSettings } from './schema.ts';
export type * from './types.ts';
