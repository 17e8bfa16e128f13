/** The step that results from a round: a row of the table. */
import { given } from '../../core/collections/given.ts';
import type { RoundRecord } from '../cluster/round-record.ts';
import type { StepResult } from '../comparison/result.ts';

/** Times of a step's stages, in seconds from the start of the job. */
export interface StepTimes {
  /** The step begins: the engines are made ready. */
  readonly startSeconds: number;
  /** Engines run the first requests. */
  readonly openedSeconds: number;
  /** Time at which the last request of the round ended. */
  readonly drainedSeconds: number;
  readonly rewardedSeconds: number;
  /** End of the passes before the gradients, for prompts that were not trained beside the rollout. */
  readonly referencedSeconds: number;
  readonly trainedSeconds: number;
  readonly endSeconds: number;
}

/** Returns the step; values that the record lacks are given separately. */
export function stepResult(
  record: RoundRecord,
  times: StepTimes,
  host: Pick<StepResult, 'preemptions' | 'bubbleRatio' | 'queueDepth'> & { readonly passRate: number | undefined },
): StepResult {
  const { step, roundId, kind, tp, reshardSeconds } = record;
  return {
    step,
    roundId,
    kind,
    ...(tp === undefined ? {} : { tp }),
    startSeconds: times.startSeconds,
    reshardSeconds,
    rolloutSeconds: times.drainedSeconds - times.startSeconds,
    rewardSeconds: times.rewardedSeconds - times.drainedSeconds,
    referenceSeconds: times.referencedSeconds - times.rewardedSeconds,
    trainSeconds: times.trainedSeconds - times.referencedSeconds,
    syncSeconds: times.endSeconds - times.trainedSeconds,
    endSeconds: times.endSeconds,
    prompts: record.prompts.length,
    responses: record.keptResponses,
    keptTokens: record.keptTokens,
    generatedTokens: record.generatedTokens,
    abortedTokens: record.abortedTokens,
    meanResponseTokens: record.keptResponses === 0 ? 0 : record.keptTokens / record.keptResponses,
    maxResponseTokens: record.longest,
    cappedResponses: record.capped,
    preemptions: host.preemptions,
    deferredPrompts: record.deferredPrompts,
    queueDepth: host.queueDepth,
    // A policy counts rounds from 0, as the driver counts steps.
    queueAges: record.prompts.flatMap(({ deferral }) => (deferral === undefined ? [] : [step - deferral.sinceRound])),
    bubbleRatio: host.bubbleRatio,
    staleTokens: record.staleTokens,
    laggingTokens: record.laggingTokens,
    lag: record.lag,
    ...given({ passRate: host.passRate }),
  };
}
