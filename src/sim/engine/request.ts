/** Requests of an inference engine and their outcomes. */
import { refuse } from '../../errors.ts';
import type { CostModel } from '../models/cost-model.ts';

/** A request from the engine's point of view. */
export interface EngineRequest {
  /** Id of the request, new to the engine. */
  readonly requestId: string;
  /** Tokens of the prompt, ≥ 0. */
  readonly promptTokens: number;
  /** Requests with the same key have the same prompt, which is computed once while one of them runs; absent: a prompt of its own. */
  readonly promptKey?: string;
  /** Length of the response, including tokens generated on other engines. A whole number >= 1. */
  readonly responseTokens: number;
  /** Tokens generated earlier, fewer than `responseTokens`, whose KV is computed again. */
  readonly generatedTokens?: number;
  /** Priority; lower goes first if the engine schedules by priority (default 0). */
  readonly priority?: number;
}

/** The end of a request. */
export interface Outcome {
  /** Id of the request. */
  readonly requestId: string;
  /** Whether the request completed or was aborted. */
  readonly kind: 'completed' | 'aborted';
  /** Time of the end, in simulated seconds. */
  readonly at: number;
  /** Generated tokens, including those from other engines. */
  readonly tokens: number;
}

/** A request that was on the engine at its loss. */
export interface LostRequest {
  /** Id of the request. */
  readonly requestId: string;
  /** Generated tokens, including those from other engines. */
  readonly tokens: number;
}

/** The load of an engine. */
export interface EngineLoad {
  /** Sequences in the batch. */
  readonly running: number;
  /** Waiting requests. */
  readonly waiting: number;
  /** Tokens in the KV cache. */
  readonly contextTokens: number;
}

/**
 * Refuses a request that an engine cannot run.
 *
 * @throws PolicyError `infeasible` if the request can never fit the KV cache, `invalid_input` for impossible numbers
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
 * Refuses a time that is not a finite number.
 *
 * @throws PolicyError `invalid_input`
 */
export function checkTime(at: number): void {
  if (!Number.isFinite(at)) refuse('invalid_input', 'at', 'finite seconds', at);
}
