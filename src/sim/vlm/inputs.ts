/** From where images and videos are decoded to the ranks that encode them: what stages wait, and what is moved. */
import type { FlexUlyssesPlan } from '../../planners/flex-ulysses/index.ts';
import { centralized, shadow } from './constants.ts';
import { type LoaderId, nodeOfSamples, payloadBytes } from './loading.ts';
import type { VlmSample } from './sample.ts';
import type { VlmScheduler } from './scheduler.ts';
import { nodesOf, type VlmJob } from './settings.ts';

/** Stages that need visual inputs. */
export type Stage = 'rollout' | 'old' | 'reference' | 'update';

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/**
 * Seconds that a stage waits for its visual inputs.
 *
 * @param degree - of a fixed Ulysses: the ranks of a group share the unpacking
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

/** With one controller: each rank that encodes a sequence gets it from there, in each of the three stages. */
function sentByController(plan: FlexUlyssesPlan, batch: readonly VlmSample[], whole: boolean): number {
  const copies = plan.assignments.map(({ sequence, degree }) => payloadBytes(batch[sequence]!) * (whole ? degree : 1));
  return 3 * sum(copies);
}

/** With ShadowLoader: each node that encodes a sequence fetches it once, if it was decoded elsewhere. */
function fetchedByNodes(plan: FlexUlyssesPlan, batch: readonly VlmSample[], job: VlmJob): number {
  const nodes = nodeOfSamples(batch, job);
  const bytes = plan.assignments.map(({ sequence, devices }) => {
    const needing = new Set(devices.map((device) => Math.floor(device / job.gpusPerNode)));
    needing.delete(nodes[sequence]!);
    return needing.size * payloadBytes(batch[sequence]!);
  });
  return sum(bytes);
}

/** Where frames can be encoded anywhere, only what a node has beyond its share leaves it. */
function surplusOfNodes(batch: readonly VlmSample[], job: VlmJob): number {
  const bytes = new Array<number>(nodesOf(job)).fill(0);
  nodeOfSamples(batch, job).forEach((node, index) => {
    bytes[node]! += payloadBytes(batch[index]!);
  });
  const mean = sum(bytes) / bytes.length;
  return sum(bytes.map((one) => Math.max(0, one - mean)));
}

/**
 * Bytes of visual inputs that a step moves between hosts: to the rollout engines (with ShadowLoader, those on another node,
 * if engines and nodes are paired at random), and to the ranks that encode them in training.
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
  return toEngines + (placement === 'flex-ulysses' ? surplusOfNodes(batch, job) : fetchedByNodes(plan, batch, job));
}
