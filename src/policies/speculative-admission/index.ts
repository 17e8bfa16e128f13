/**
 * The policy `speculative-admission`, with its types.
 *
 * @packageDocumentation
 */

export { speculativeAdmission } from './speculative-admission.ts';
export type * from './types.ts';
