/**
 * The policy `sandbox-timeout`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/sandbox-timeout.ts';
export { sandboxTimeout } from './sandbox-timeout.ts';
