/** Transport of visual inputs from their decoders to the ranks that encode them: waiting times of the stages, and moved bytes. */
import type { FlexUlyssesPlan } from '../../planners/flex-ulysses/index.ts';
import { centralized, shadow } from './constants.ts';
import { type LoaderId, nodeOfSamples, payloadBytes } from './loading.ts';
import type { VlmScheduler } from './scheduler.ts';
import { nodesOf, type VlmJob } from './settings.ts';
import type { VlmSample } from './workload/sample.ts';

/** Stages that need visual inputs. */
export type Stage = 'rollout' | 'old' | 'reference' | 'update';

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/**
 * Returns the seconds that a stage waits for its visual inputs.
 *
 * @param degree - degree of a fixed Ulysses, whose ranks in a group share the unpacking
 */
export function inputSeconds(
  loader: LoaderId,
  stage: Stage,
  batch: readonly VlmSample[],
  { gpus }: VlmJob,
  degree: number,
): number {
  const tokens = sum(batch.map((one) => one.visualTokens));
  if (tokens === 0) return 0;
  if (loader === 'shadow-loader') {
    if (stage === 'rollout') return 0;
    return shadow.stageSeconds + (stage === 'old' ? shadow.firstStageSeconds : 0);
  }
  if (stage === 'rollout') return centralized.rolloutSecondsPerToken * tokens;
  const unpacking = centralized.stageSecondsPerRoot * Math.sqrt(tokens / gpus / 1000);
  return unpacking / degree + centralized.stageSecondsPerToken * tokens;
}

/**
 * Returns the bytes that one controller sends: each rank that encodes a sequence receives the sequence's inputs in all three
 * stages.
 */
function sentByController(plan: FlexUlyssesPlan, batch: readonly VlmSample[], whole: boolean): number {
  const copies = plan.assignments.map(({ sequence, degree }) => payloadBytes(batch[sequence]!) * (whole ? degree : 1));
  return 3 * sum(copies);
}

/**
 * Returns the bytes that nodes fetch with ShadowLoader: each node fetches the inputs that its ranks encode and that other nodes
 * have decoded, once for all three stages.
 */
function fetchedByNodes({ assignments, vision }: FlexUlyssesPlan, batch: readonly VlmSample[], job: VlmJob): number {
  const nodes = nodeOfSamples(batch, job);
  const nodeOf = (device: number): number => Math.floor(device / job.gpusPerNode);
  const bytes =
    vision === undefined
      ? assignments.map(({ sequence, devices }) => {
          const needing = new Set(devices.map(nodeOf));
          needing.delete(nodes[sequence]!);
          return needing.size * payloadBytes(batch[sequence]!);
        })
      : vision.flatMap(({ device, slices }) =>
          slices.map(({ sequence, from, to }) => {
            if (nodeOf(device) === nodes[sequence]) return 0;
            const one = batch[sequence]!;
            return (payloadBytes(one) * (to - from)) / one.frames;
          }),
        );
  return sum(bytes);
}

/**
 * Returns the bytes of visual inputs that a step moves between hosts: to the rollout engines (with ShadowLoader only inputs on
 * another node, if engines and nodes are paired at random), and to the ranks that encode them in training.
 */
export function movedBytes(
  { loader, placement }: VlmScheduler,
  plan: FlexUlyssesPlan,
  batch: readonly VlmSample[],
  job: VlmJob,
): number {
  const payload = sum(batch.map(payloadBytes));
  if (loader === 'centralized') return payload + sentByController(plan, batch, placement === 'ulysses');
  const toEngines = payload * (1 - 1 / nodesOf(job));
  return toEngines + fetchedByNodes(plan, batch, job);
}
