/**
 * Chooses which layers of a judge stay on a GPU that the judge shares with the actor, and which layers are streamed from host
 * memory while the judge computes (RollPacker §4.3). See README.md.
 */

import { valueAt } from '../../core/lengths/length-function.ts';
import { definePlanner, type PlannerDefinition } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type {
  JudgeOffloadInput,
  JudgeOffloadPlan,
  JudgeOffloadSettings,
} from '../../generated/settings/judge-offload.ts';
import type { Pace } from './pipeline.ts';
import { judgeOffloadInput, judgeOffloadPlan } from './schema.ts';
import { choose } from './search.ts';

/** Returns the whole percents of the SMs that the actor leaves to the judge; 1 − 0.7 is 30 %, not 29 %. */
function percentsLeft(actorSmShare: number): number {
  const left = Math.floor((1 - actorSmShare) * 100 + 1e-9);
  if (left >= 1) return left;
  refuse('infeasible', 'actorSmShare', 'at most 0.99: MPS gives whole percents, and the judge needs one', actorSmShare);
}

/** Returns the number of layers that fit, counting resident layers and buffers. */
function slotsFor({ memoryBytes, layerBytes, layers }: JudgeOffloadSettings, otherBytes: number): number {
  // The quotient is tried by counting down, because a rounded quotient could be one layer too many or too few.
  for (let slots = layers; slots >= 1; slots -= 1) if (otherBytes + slots * layerBytes <= memoryBytes) return slots;
  const least = otherBytes + layerBytes;
  refuse('infeasible', 'memoryBytes', `at least ${least} bytes: fixed bytes, activations and one layer`, memoryBytes);
}

function compute(input: JudgeOffloadSettings): JudgeOffloadPlan {
  const { layers, layerBytes, sequenceTokens, judgeSmShare } = input;
  const mostPercent = percentsLeft(input.actorSmShare);
  const otherBytes = input.fixedBytes + valueAt(input.activationBytes, sequenceTokens, 'activationBytes');
  const aloneSeconds = valueAt(input.layerSeconds, sequenceTokens, 'layerSeconds');
  const transferSeconds = layerBytes / input.pcieBytesPerSecond + input.transferOverheadSeconds;
  const paceOf = (percent: number): Pace => ({
    layerSeconds: aloneSeconds * Math.max(1, (100 * judgeSmShare) / percent),
    transferSeconds,
  });

  const slots = slotsFor(input, otherBytes);
  const bounds = { layers, slots, maxDepth: input.maxPrefetchDepth ?? layers };
  const { streamed, depth, percent, seconds } = choose(bounds, mostPercent, paceOf, input.latencyTolerance);
  const residentLayers = layers - streamed.length;
  const { layerSeconds } = paceOf(percent);
  return {
    residentLayers,
    streamedLayers: [...streamed],
    prefetchDepth: depth,
    mpsShare: percent / 100,
    memoryBytes: otherBytes + (residentLayers + depth) * layerBytes,
    layerSeconds,
    transferSeconds,
    pipelinedSeconds: seconds,
    sequentialSeconds: layers * layerSeconds + streamed.length * transferSeconds,
  };
}

/** Chooses the layers of a judge that stay on the GPU together with the actor; the others are streamed over PCIe. */
export const judgeOffload: PlannerDefinition<
  JudgeOffloadInput,
  JudgeOffloadSettings,
  JudgeOffloadPlan,
  'judge-offload'
> = definePlanner({
  id: 'judge-offload',
  version: 1,
  summary: 'Which layers of a judge stay on the GPU beside the actor, and which are streamed over PCIe as it computes.',
  source: 'RollPacker §4.3',
  input: judgeOffloadInput,
  plan: judgeOffloadPlan,
  compute,
});
