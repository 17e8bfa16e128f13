export { gpuScaleDown } from './gpu-scale-down.ts';
export { type ScaleDownConfig, type ScaleDownInput, scaleDownConfig, scaleDownSettings } from './schema.ts';
export type { ScaleDownDecision, ScaleDownEvent } from './words.ts';
