export { gpuScaleDown } from './gpu-scale-down.ts';
export { scaleDownConfig, scaleDownSettings } from './schema.ts';
export type * from './types.ts';
