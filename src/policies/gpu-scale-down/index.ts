export { gpuScaleDown, type ScaleDownEvent } from './gpu-scale-down.ts';
export {
  type ScaleDownConfig,
  type ScaleDownDecision,
  type ScaleDownInput,
  scaleDownConfig,
  scaleDownSettings,
} from './schema.ts';
