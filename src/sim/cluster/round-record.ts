/** The record of one round: counters of its requests and responses, and the moments that decisions have named. */
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { FinalPrompt } from '../../schemas/prompts.ts';
import type { Outcome } from '../engine/decode-engine.ts';
import type { Behind } from './versions.ts';

type Measured = Extract<VocabularyDecision, { type: 'pipeline.measured' }>;

/** Counters of one round. */
export class RoundRecord {
  /** Number of the round, from 0. */
  readonly step: number;
  readonly roundId: string;
  readonly weightVersion: number;
  /** Time at which the engines begin to run requests. */
  readonly openedSeconds: number;
  kind: 'short' | 'long' = 'long';
  prompts: readonly FinalPrompt[] = [];
  deferredPrompts = 0;
  /** Trained responses of the round, their tokens, and the tokens of the longest. */
  keptResponses = 0;
  keptTokens = 0;
  longest = 0;
  capped = 0;
  /**
   * Kept tokens from older weights, the same weighted by the versions by which they are behind, and the largest such number of
   * versions.
   */
  staleTokens = 0;
  laggingTokens = 0;
  lag = 0;
  /** Ended requests, whatever their outcome; their prompt tokens, and the tokens of the longest. */
  requests = 0;
  promptTokens = 0;
  longestRequest = 0;
  generatedTokens = 0;
  abortedTokens = 0;
  /** Most requests that the engines had at once. */
  mostInService = 0;
  #inService = 0;
  /** Tensor parallelism of the engines, if the policy sets it, and seconds of the change. */
  tp: number | undefined;
  reshardSeconds = 0;
  /** Time of the latest complete response; before the first one, the time of opening. */
  completedAt: number;
  /** Times at which the last request ended, the last reward came, and the new weights arrived. */
  drainedAt: number | undefined;
  rewardedAt: number | undefined;
  trainedAt: number | undefined;
  /** Measurements of the policies, the last width of the frontier, and how often it has starved the trainer. */
  measured: Measured | undefined;
  width: number | undefined;
  starved = 0;

  /** @param weightVersion - version of the weights that the round trains; by default the number of the step */
  constructor(step: number, openedSeconds: number, roundId = `r${step}`, weightVersion = step) {
    this.step = step;
    this.roundId = roundId;
    this.weightVersion = weightVersion;
    this.openedSeconds = openedSeconds;
    this.completedAt = openedSeconds;
  }

  /** Records that the engines have got a request. */
  started(): void {
    this.#inService += 1;
    this.mostInService = Math.max(this.mostInService, this.#inService);
  }

  /**
   * Records the end of a request.
   *
   * @param keptTokens - tokens of the response that earlier requests have generated
   */
  ended({ kind, tokens }: Outcome, promptTokens: number, keptTokens = 0): void {
    this.#inService -= 1;
    this.requests += 1;
    this.promptTokens += promptTokens;
    if (tokens > this.longestRequest) this.longestRequest = tokens;
    this.generatedTokens += tokens - keptTokens;
    if (kind === 'aborted') this.abortedTokens += tokens - keptTokens;
  }

  /** Counts a response that the round trains on. */
  counted(tokens: number, isCapped: boolean): void {
    this.keptTokens += tokens;
    this.keptResponses += 1;
    if (tokens > this.longest) this.longest = tokens;
    if (isCapped) this.capped += 1;
  }

  /** Counts the tokens of a trained prompt that come from older weights. */
  behind({ staleTokens, laggingTokens, lag }: Behind): void {
    this.staleTokens += staleTokens;
    this.laggingTokens += laggingTokens;
    this.lag = Math.max(this.lag, lag);
  }

  /** Keeps the decisions about the round. */
  note(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'round.planned':
        this.kind = decision.kind;
        break;
      case 'prompt.deferred':
        this.deferredPrompts += 1;
        break;
      case 'round.completed':
        this.kind = decision.kind;
        this.prompts = decision.prompts;
        this.completedAt = decision.at;
        break;
      case 'round.drained':
        this.drainedAt = at;
        break;
      case 'round.rewarded':
        this.rewardedAt = at;
        break;
      case 'round.trained':
        this.trainedAt = at;
        break;
      case 'pipeline.measured':
        this.measured = decision;
        break;
      case 'request.admit':
        this.width = decision.reason.width;
        break;
      case 'frontier.starved':
        this.starved += 1;
        break;
      default:
    }
  }
}
