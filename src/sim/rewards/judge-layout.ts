/** The time of a judgement, and the slowdown of the actor, for each layout of the judge on the GPU. */
import { valueAt } from '../../core/lengths/length-function.ts';
import { pipelinedSeconds } from '../../planners/judge-offload/index.ts';
import type { JudgeSettings } from './judge-settings.ts';

/** Streamed layers and the share of the SMs, as in `judge.place`. */
export interface JudgeLayout {
  readonly streamedLayers: readonly number[];
  readonly prefetchDepth: number;
  readonly mpsShare: number;
  readonly memoryBytes: number;
}

/** Two processes that share a GPU in turns get half of its time each. */
const turns = 2;

/** Returns the seconds of one layer for a response, with all SMs for the judge. */
function aloneSeconds({ model }: JudgeSettings, responseTokens: number): number {
  return valueAt(
    model.layerSeconds,
    Math.min(responseTokens, model.sequenceTokens),
    'rewards.judge.model.layerSeconds',
  );
}

/** Returns the seconds of a judgement if the whole judge is on the GPU; a judge that shares the GPU takes turns with the actor. */
export function wholeSeconds(judge: JudgeSettings, responseTokens: number, isShared: boolean): number {
  return judge.model.layers * aloneSeconds(judge, responseTokens) * (isShared ? turns : 1);
}

/** Returns the seconds of a judgement if the judge is laid out beside the actor. */
export function laidOutSeconds(judge: JudgeSettings, layout: JudgeLayout, responseTokens: number): number {
  const { layers, layerBytes, pcieBytesPerSecond, transferOverheadSeconds, judgeSmShare } = judge.model;
  const { streamedLayers, prefetchDepth, mpsShare } = layout;
  const layerSeconds = aloneSeconds(judge, responseTokens) * Math.max(1, judgeSmShare / mpsShare);
  const transferSeconds = layerBytes / pcieBytesPerSecond + transferOverheadSeconds;
  if (!judge.pipelined) return layers * layerSeconds + streamedLayers.length * transferSeconds;
  return pipelinedSeconds(layers, streamedLayers, prefetchDepth, { layerSeconds, transferSeconds });
}

/** Returns the factor by which the computing judge slows decode steps down. */
export function slowdown(layout: JudgeLayout | undefined): number {
  return layout === undefined ? turns : 1 / (1 - layout.mpsShare);
}

/** Returns the bytes of a judge that is wholly on the GPU, including memory for the longest response. */
export function wholeBytes({ model }: JudgeSettings): number {
  const { fixedBytes, layers, layerBytes, activationBytes, sequenceTokens } = model;
  return (
    fixedBytes + layers * layerBytes + valueAt(activationBytes, sequenceTokens, 'rewards.judge.model.activationBytes')
  );
}

/** Returns the seconds to load a judge from host memory to the GPU. */
export function loadSeconds({ model }: JudgeSettings): number {
  return (model.fixedBytes + model.layers * model.layerBytes) / model.pcieBytesPerSecond;
}
