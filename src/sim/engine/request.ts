/** Requests of an inference engine and their outcomes. */
import { refuse } from '../../errors.ts';
import type { CostModel } from '../cost-model.ts';

/** A request as an engine sees it. */
export interface EngineRequest {
  /** Id of the request, new to the engine. */
  readonly requestId: string;
  /** Tokens of the prompt, ≥ 0. */
  readonly promptTokens: number;
  /** Length of the response, tokens generated elsewhere included. A whole number >= 1. */
  readonly responseTokens: number;
  /** Tokens generated before, fewer than `responseTokens`; their KV is computed again. */
  readonly generatedTokens?: number;
  /** Lower goes first, where an engine schedules by priority (0 if not given). */
  readonly priority?: number;
}

/** The end of a request. */
export interface Outcome {
  /** Id of the request. */
  readonly requestId: string;
  /** Whether it ended by itself or was aborted. */
  readonly kind: 'completed' | 'aborted';
  /** End, in simulated seconds. */
  readonly at: number;
  /** Tokens generated, including those from elsewhere. */
  readonly tokens: number;
}

/** A request that an engine had when it was lost. */
export interface LostRequest {
  /** Id of the request. */
  readonly requestId: string;
  /** Tokens generated, including those from elsewhere. */
  readonly tokens: number;
}

/** The load of an engine. */
export interface EngineLoad {
  /** Sequences in the batch. */
  readonly running: number;
  /** Requests that wait. */
  readonly waiting: number;
  /** Tokens in the KV cache. */
  readonly contextTokens: number;
}

/**
 * Refuses a request that an engine cannot run.
 *
 * @throws PolicyError `infeasible` when it can never fit the KV cache, `invalid_input` when its numbers make no sense
 */
export function checkRequest(request: EngineRequest, cost: CostModel): void {
  const { requestId, promptTokens, responseTokens, generatedTokens = 0 } = request;
  if (!Number.isInteger(promptTokens) || promptTokens < 0) {
    refuse('invalid_input', `${requestId}.promptTokens`, 'a whole number >= 0', promptTokens);
  }
  if (!Number.isInteger(responseTokens) || responseTokens < 1) {
    refuse('invalid_input', `${requestId}.responseTokens`, 'a whole number >= 1', responseTokens);
  }
  if (!Number.isInteger(generatedTokens) || generatedTokens < 0 || generatedTokens >= responseTokens) {
    refuse(
      'invalid_input',
      `${requestId}.generatedTokens`,
      `a whole number from 0 to ${responseTokens - 1}`,
      generatedTokens,
    );
  }
  if (promptTokens + responseTokens > cost.kvCapacityTokens) {
    const expected = `at most ${cost.kvCapacityTokens} tokens of prompt and response`;
    refuse('infeasible', requestId, expected, promptTokens + responseTokens);
  }
}

/**
 * Refuses a moment that is not a finite number.
 *
 * @throws PolicyError `invalid_input`
 */
export function checkTime(at: number): void {
  if (!Number.isFinite(at)) refuse('invalid_input', 'at', 'finite seconds', at);
}
