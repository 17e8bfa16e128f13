/**
 * A job whose rollouts are run on the simulator's decode engines with any TP: preemptions arise when the KV cache is
 * full. Its profile is what the same cost model says of single decode steps.
 */
import { adaptiveTp, create } from '../../../src/index.ts';
import type { AdaptiveTpInput } from '../../../src/policies/adaptive-tp/index.ts';
import type { ProfileRow, RolloutWorkload, VocabularyDecision } from '../../../src/schemas/index.ts';
import { DecodeEngine } from '../../../src/sim/engine/decode-engine.ts';
import {
  type CostModel,
  deriveCostModel,
  type EngineShape,
  secondsOfDecodeStep,
  secondsOfPrefill,
} from '../../../src/sim/models/cost-model.ts';

/** A model on some servers. */
export interface TpJob {
  readonly servers: number;
  readonly gpusPerServer: number;
  readonly shape: Omit<EngineShape, 'tensorParallel'>;
  /** Seconds of a decode step for communication, for each doubling of the TP: what speaks against a large one. */
  readonly communicationSeconds: number;
}

export const memoryUtilization = 0.85;
const batchSizes = [1, 8, 32, 128, 512, 1024];
const sequenceLengths = [256, 4096, 16_384, 36_864];

/** What an engine costs, by TP; TPs that do not fit are missing. */
export function costsOf(job: TpJob): Map<number, CostModel> {
  const costs = new Map<number, CostModel>();
  for (let tp = 1; tp <= job.gpusPerServer; tp *= 2) {
    const { billionParameters, gpu } = job.shape;
    if (billionParameters * 2 > gpu.memoryGb * memoryUtilization * tp - 1) continue;
    const cost = deriveCostModel({ ...job.shape, tensorParallel: tp });
    const overheadSeconds = cost.overheadSeconds + job.communicationSeconds * Math.log2(tp);
    costs.set(tp, { ...cost, overheadSeconds, maxRunningSequences: 4096 });
  }
  return costs;
}

/** Its offline profile. */
export function profileOf(job: TpJob): ProfileRow[] {
  const { layers, kvHeads, headDimension, billionParameters } = job.shape;
  const kvBytes = 4 * layers * kvHeads * headDimension;
  return [...costsOf(job)].flatMap(([tp, cost]) =>
    batchSizes.flatMap((batchSize) =>
      sequenceLengths.map((sequenceLength): ProfileRow => {
        const tokens = batchSize * sequenceLength;
        return {
          tp,
          batchSize,
          sequenceLength,
          decodeStepSeconds: secondsOfDecodeStep(cost, batchSize, tokens),
          prefillSeconds: batchSize * secondsOfPrefill(cost, sequenceLength),
          bytes: (billionParameters * 2e9 + kvBytes * tokens) / tp,
        };
      }),
    ),
  );
}

/** A policy's configuration for it. */
export function configOf(job: TpJob, more: Partial<AdaptiveTpInput> = {}): AdaptiveTpInput {
  const gpuIds = (server: number) => Array.from({ length: job.gpusPerServer }, (_, gpu) => `s${server}/${gpu}`);
  return {
    servers: Array.from({ length: job.servers }, (_, at) => ({ serverId: `s${at}`, gpuIds: gpuIds(at) })),
    kvHeads: job.shape.kvHeads,
    modelBytes: job.shape.billionParameters * 2e9 + 1e9,
    gpuMemoryBytes: job.shape.gpu.memoryGb * 1e9,
    memoryUtilization,
    profile: profileOf(job),
    ...more,
  };
}

/** A step: the lengths of its responses. */
export interface TpStep {
  readonly promptTokens: number;
  readonly lengths: readonly number[];
}

export function workloadOf({ promptTokens, lengths }: TpStep): RolloutWorkload {
  const sum = lengths.reduce((all, one) => all + one, 0);
  return {
    responses: lengths.length,
    promptTokens,
    responseTokens: sum / lengths.length,
    longestTokens: Math.max(...lengths),
  };
}

/** Runs a step: its seconds and the preemptions of all engines. */
export function rollout(job: TpJob, tp: number, step: TpStep): { seconds: number; preemptions: number } {
  const cost = costsOf(job).get(tp)!;
  const replicas = (job.servers * job.gpusPerServer) / tp;
  const engines = Array.from({ length: replicas }, (_, at) => new DecodeEngine(`e${at}`, cost));
  for (const [at, responseTokens] of step.lengths.entries()) {
    const request = { requestId: `r${at}`, promptTokens: step.promptTokens, responseTokens };
    engines[at % replicas]!.add(request, 0);
  }
  let seconds = 0;
  for (const engine of engines) seconds = Math.max(seconds, engine.advanceTo(Number.POSITIVE_INFINITY).at(-1)?.at ?? 0);
  return { seconds, preemptions: engines.reduce((sum, one) => sum + one.preemptions, 0) };
}

/** What became of a run under the policy. */
export interface TpRun {
  readonly seconds: number;
  /** The TP that each step ran with. */
  readonly tps: readonly number[];
  /** Numbers of the steps, from 1, whose end changed the TP. */
  readonly changes: readonly number[];
  readonly decisions: readonly VocabularyDecision[];
}

/** Runs steps one after the other, each with the TP that the policy has told; `noise` multiplies the seconds told. */
export function runAdaptive(
  config: AdaptiveTpInput,
  steps: readonly TpStep[],
  run: (tp: number, step: TpStep) => { seconds: number; preemptions: number },
  noise: (index: number) => number = () => 1,
): TpRun {
  const policy = create(adaptiveTp, config);
  const decisions: VocabularyDecision[] = [];
  const reason = { code: 'queue_full', queued: 0, promptsPerRound: 1 } as const;
  let tp = 0;
  let seconds = 0;
  const tps: number[] = [];
  const changes: number[] = [];
  const take = (told: readonly VocabularyDecision[], step?: number) => {
    decisions.push(...told);
    for (const one of told) {
      if (one.type !== 'kind-tp.set') continue;
      if (step !== undefined) changes.push(step);
      tp = one.tp;
    }
  };
  const round = { roundId: 'r', kind: 'short', weightVersion: 0 } as const;
  take(policy.send({ type: 'round.planned', at: 0, ...round, queued: [], reason }) as VocabularyDecision[]);
  for (const [index, step] of steps.entries()) {
    const took = run(tp, step);
    tps.push(tp);
    seconds += took.seconds;
    const told = policy.send({
      type: 'step.finished',
      at: seconds,
      roundId: `r${index}`,
      kind: 'short',
      tp,
      preemptions: took.preemptions,
      seconds: took.seconds * noise(index),
      workload: workloadOf(step),
    });
    take(told as VocabularyDecision[], index + 1);
  }
  return { seconds, tps, changes, decisions };
}
