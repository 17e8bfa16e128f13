/**
 * The policy `gpu-scale-down`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/gpu-scale-down.ts';
export { gpuScaleDown } from './gpu-scale-down.ts';
