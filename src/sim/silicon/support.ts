/** Where the time model of engines was measured, and what lies outside. */
import type { Gpu } from './gpus.ts';
import type { Precision } from './models/model-shape.ts';

/** What was measured: ids of GPUs, precisions, GPUs of an engine inside a node, tokens of context. */
export const measuredSupport = Object.freeze({
  gpus: Object.freeze(['h100-sxm', 'h200-sxm', 'b200-sxm', 'b300-sxm', 'gb200']),
  precisions: Object.freeze<Precision[]>(['bf16', 'fp8', 'fp4', 'int4']),
  tensorParallel: 8,
  contextTokens: 9216,
});

/** What of an engine is asked about. */
export interface Asked {
  readonly gpu: Pick<Gpu, 'id' | 'label'>;
  readonly precision: Precision;
  readonly tensorParallel: number;
  /** Longest response, in tokens. */
  readonly capTokens: number;
}

/** Returns what lies outside of the measured support, as phrases. */
export function supportOf({ gpu, precision, tensorParallel, capTokens }: Asked): string[] {
  const outside: string[] = [];
  if (!measuredSupport.gpus.includes(gpu.id)) outside.push(`${gpu.label} (not measured: scaled from its data sheet)`);
  if (!measuredSupport.precisions.includes(precision)) outside.push(`${precision} weights`);
  if (tensorParallel > measuredSupport.tensorParallel) outside.push(`TP ${tensorParallel}`);
  if (capTokens > measuredSupport.contextTokens) {
    outside.push(
      `contexts beyond ${measuredSupport.contextTokens.toLocaleString('en')} tokens, where a rollout drains`,
    );
  }
  return outside;
}
