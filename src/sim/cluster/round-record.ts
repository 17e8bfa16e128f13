/** Counters of a round while it runs, and the step that results. */
import type { FinalPrompt } from '../../schemas/prompts.ts';
import type { Outcome } from '../engine/decode-engine.ts';
import type { StepResult } from '../result.ts';

/** Times of the stages of a step, in seconds from the start of the job. */
export interface StepTimes {
  /** The step begins: the engines are made ready. */
  readonly startSeconds: number;
  /** Engines run the first requests. */
  readonly openedSeconds: number;
  /** End of the last request of the round. */
  readonly drainedSeconds: number;
  readonly rewardedSeconds: number;
  /** End of the passes before the gradients, for prompts that were not trained beside the rollout. */
  readonly referencedSeconds: number;
  readonly trainedSeconds: number;
  readonly endSeconds: number;
}

/** Counters of one round. */
export class RoundRecord {
  readonly step: number;
  readonly roundId: string;
  readonly lag: number;
  kind: 'short' | 'long' = 'long';
  prompts: readonly FinalPrompt[] = [];
  generatedTokens = 0;
  abortedTokens = 0;
  deferredPrompts = 0;
  keptTokens = 0;
  keptResponses = 0;
  longest = 0;
  capped = 0;
  /** Requests that have ended, whatever became of them; their prompts' tokens, and most tokens of one. */
  requests = 0;
  promptTokens = 0;
  longestRequest = 0;
  /** Tensor parallelism of its engines, where the policy sets it, and seconds of the change to it. */
  tp: number | undefined;
  reshardSeconds = 0;
  /** Times of the end of its last request, of its last reward, and of its new weights. */
  drainedAt: number | undefined;
  rewardedAt: number | undefined;
  trainedAt: number | undefined;

  /** @param lag - versions that its weights are behind the ones that it trains */
  constructor(step: number, roundId: string, lag: number) {
    this.step = step;
    this.roundId = roundId;
    this.lag = lag;
  }

  /** Records the end of a request. */
  ended(outcome: Outcome, promptTokens: number): void {
    this.requests += 1;
    this.promptTokens += promptTokens;
    if (outcome.tokens > this.longestRequest) this.longestRequest = outcome.tokens;
    this.generatedTokens += outcome.tokens;
    if (outcome.kind === 'aborted') this.abortedTokens += outcome.tokens;
  }

  /**
   * Completes the round with the prompts that the policy has named as final.
   *
   * @param capped - requests whose responses were cut at the cap
   */
  complete(kind: 'short' | 'long', prompts: readonly FinalPrompt[], capped: ReadonlySet<string>): void {
    this.kind = kind;
    this.prompts = prompts;
    for (const { responses } of prompts) {
      for (const { requestId, tokens } of responses) {
        this.keptTokens += tokens;
        this.keptResponses += 1;
        if (tokens > this.longest) this.longest = tokens;
        if (capped.has(requestId)) this.capped += 1;
      }
    }
  }

  /** Returns the step's row of the table. */
  result(times: StepTimes, engines: { preemptions: number; bubbleRatio: number }, queueDepth: number): StepResult {
    const { step, roundId, kind, tp, reshardSeconds } = this;
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
      prompts: this.prompts.length,
      responses: this.keptResponses,
      keptTokens: this.keptTokens,
      generatedTokens: this.generatedTokens,
      abortedTokens: this.abortedTokens,
      meanResponseTokens: this.keptResponses === 0 ? 0 : this.keptTokens / this.keptResponses,
      maxResponseTokens: this.longest,
      cappedResponses: this.capped,
      preemptions: engines.preemptions,
      deferredPrompts: this.deferredPrompts,
      queueDepth,
      // A policy counts rounds from 0, as the driver counts steps.
      queueAges: this.prompts.flatMap(({ deferral }) => (deferral === undefined ? [] : [step - deferral.sinceRound])),
      bubbleRatio: engines.bubbleRatio,
      lag: this.lag,
    };
  }
}
