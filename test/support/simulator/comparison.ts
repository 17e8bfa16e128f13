/** A comparison made by hand: small, round numbers, every field known. */
import type {
  ComparisonResult,
  EngineResult,
  Interval,
  RunResult,
  SchedulerResult,
  Segment,
  StepResult,
} from '../../../src/sim/comparison/result.ts';
import { allKept } from './kept.ts';

const exactly = (value: number): Interval => ({ value, low: value, high: value, confidence: 0.95 });

/** A step of `rollout` + 1 (reward) + 4 (train) + 1 (sync) seconds. */
export function step(number: number, kind: 'short' | 'long', startSeconds: number, rollout: number): StepResult {
  return {
    step: number,
    roundId: `r${number}`,
    kind,
    startSeconds,
    reshardSeconds: 0,
    rolloutSeconds: rollout,
    rewardSeconds: 1,
    referenceSeconds: 0,
    trainSeconds: 4,
    syncSeconds: 1,
    endSeconds: startSeconds + rollout + 6,
    prompts: 4,
    responses: 8,
    keptTokens: 4000,
    generatedTokens: 5000,
    abortedTokens: 1000,
    meanResponseTokens: 500,
    maxResponseTokens: 1234,
    cappedResponses: 1,
    preemptions: 3,
    deferredPrompts: 1,
    queueDepth: number,
    queueAges: [],
    bubbleRatio: 0.25,
    staleTokens: 0,
    laggingTokens: 0,
    lag: 0,
  };
}

/** One step's segments on an engine that is busy for `busy` of `rollout` seconds. */
export function segments({ startSeconds: from, rolloutSeconds: rollout }: StepResult, busy: number): Segment[] {
  const cuts: [number, Segment['activity'], number][] = [
    [busy, 'rollout', 8],
    [rollout, 'rollout', 0],
    [rollout + 1, 'reward', 0],
    [rollout + 5, 'train', 0],
    [rollout + 6, 'sync', 0],
  ];
  let at = from;
  return cuts.flatMap(([end, activity, running]) => {
    const one = { startSeconds: at, endSeconds: from + end, activity, running };
    at = from + end;
    return one.endSeconds > one.startSeconds ? [one] : [];
  });
}

function engine(engineId: string, steps: readonly StepResult[], busy: number): EngineResult {
  const timeline = steps.flatMap((one) => segments(one, Math.min(busy, one.rolloutSeconds)));
  return { engineId, gpus: 2, busySeconds: busy * steps.length, bubbleRatio: 0.25, preemptions: 3, timeline };
}

function run(scheduler: string, steps: readonly StepResult[]): RunResult {
  return {
    scheduler,
    seed: 1,
    steps,
    engines: [engine('e0', steps, 4), engine('e1', steps, 100)],
    totalSeconds: steps[steps.length - 1]!.endSeconds,
    rolloutSeconds: steps.reduce((sum, one) => sum + one.rolloutSeconds, 0),
    trainedPrompts: 8,
    trainedResponses: 16,
    keptTokens: 8000,
    generatedTokens: 10_000,
    meanResponseTokens: 500,
    cappedShare: 0.1,
    bubbleRatio: 0.25,
    preemptions: 6,
    meanQueueAge: 1,
    maxQueueAge: 2,
    lengthQuantiles: Array.from({ length: 101 }, (_, percent) => 20 + 80 * percent),
    kept: allKept,
    staleTokens: 0,
    meanLag: 0,
    maxLag: 0,
  };
}

function scheduler(label: string, steps: readonly StepResult[], speedup: number, kept: number): SchedulerResult {
  const runs = [run(label, steps)];
  return {
    scheduler: label,
    label,
    runs,
    stepSeconds: exactly(runs[0]!.totalSeconds / steps.length),
    rolloutSeconds: exactly(runs[0]!.rolloutSeconds / steps.length),
    speedup: { value: speedup, low: speedup - 0.05, high: speedup + 0.05, confidence: 0.95 },
    equalTokenSpeedup: exactly(speedup * kept),
    rolloutSpeedup: exactly(speedup),
    keptTokenRatio: kept,
    ofOracle: (speedup * kept) / 1.8,
    longestKeptShare: kept < 1 ? 0.1 : 1,
    longestTrainedRatio: kept < 1 ? 0.4 : 1,
    evenGroupShare: 0.25,
    redrawnShare: kept < 1 ? 0.2 : 0,
    redrawnLoss: kept < 1 ? 0.08 : 0,
    staleShare: 0,
    meanLag: 0,
    maxLag: 0,
    cappedShare: 0.0042,
    bubbleRatio: speedup > 1 ? 0.1 : 0.4,
    meanQueueAge: 1,
    maxQueueAge: 2,
  };
}

/** Two steps each: synchronous (10 and 14 s of rollout), and tail batching (4 s short, 8 s long). */
export const comparison: ComparisonResult = {
  basis: { name: 'job', assumed: ['a thing'], outside: ['another'] },
  workload: {
    name: 'by-hand',
    source: 'fixture',
    prompts: 8,
    resampling: 'copula',
    correlation: 0.3,
    capTokens: 8192,
    meanTokens: 500,
    quantiles: { p50: 400, p75: 700, p90: 1500, p99: 4000, max: 8020 },
  },
  settings: { job: 'small', engines: 2 },
  schedulers: [
    scheduler('synchronous', [step(0, 'long', 0, 10), step(1, 'long', 16, 14)], 1, 1),
    scheduler('tail-batching', [step(0, 'short', 0, 4), step(1, 'long', 10, 8)], 1.5, 0.75),
  ],
  oracle: scheduler('oracle', [step(0, 'long', 0, 4), step(1, 'long', 10, 4)], 1.8, 1),
  notes: ['A note <of> the comparison.'],
};
