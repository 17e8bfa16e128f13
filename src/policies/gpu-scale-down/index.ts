/**
 * The policy `gpu-scale-down`, with its types.
 *
 * @packageDocumentation
 */

export { gpuScaleDown } from './gpu-scale-down.ts';
export type * from './types.ts';
