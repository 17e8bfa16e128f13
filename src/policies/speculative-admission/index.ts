/**
 * The policy `speculative-admission`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/speculative-admission.ts';
export { speculativeAdmission } from './speculative-admission.ts';
