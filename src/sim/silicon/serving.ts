/**
 * What a benchmark of an inference engine measures: a fixed number of clients, each of which sends its next request as soon as the
 * last is answered. All prompts have P tokens, all responses R.
 *
 *   TPOT = step(b, b · (P + R/2)) + interference · (b − 1) / R · prefill(P)
 *   TTFT = seconds + steps · step + one pass over the weights + prefill(P) · (1 + queue · (b − 1)) + what waits for room in the cache
 */
import { secondsOfDecodeStep, secondsOfPrefill, weightSeconds } from '../models/cost-model.ts';
import { type EngineName, type SiliconConstants, siliconConstants } from './constants.ts';
import type { EngineCosts } from './served-model.ts';

/** The load of a benchmark. */
export interface ServingLoad {
  /** Clients of the engine. */
  readonly concurrency: number;
  /** Data-parallel ranks of the attention, over which the clients are spread. */
  readonly attentionRanks: number;
  readonly promptTokens: number;
  readonly responseTokens: number;
}

/** What is measured. */
export interface ServingTimes {
  /** Mean seconds between the tokens of a response after its first. */
  readonly tpotSeconds: number;
  /** Mean seconds from a request to its first token. */
  readonly ttftSeconds: number;
  /** Sequences that run on a rank: clients, as far as the KV cache has room for them. */
  readonly running: number;
}

/** Returns the times of an engine under a load. */
export function servingTimes(
  costs: EngineCosts,
  engine: EngineName,
  { concurrency, attentionRanks, promptTokens, responseTokens }: ServingLoad,
  constants: SiliconConstants = siliconConstants,
): ServingTimes {
  const meanContext = promptTokens + responseTokens / 2;
  const running = Math.max(1, Math.min(concurrency / attentionRanks, costs.kvCapacityTokens / meanContext));
  const all = running * attentionRanks;
  const step = secondsOfDecodeStep(costs, running, running * meanContext);
  const prefill = secondsOfPrefill(costs, promptTokens);
  const tpotSeconds = step + (costs.prefillInterference * (all - 1) * prefill) / responseTokens;
  const { seconds, steps, queue } = constants.firstToken[engine];
  const waiting = Math.max(0, concurrency - all);
  const forRoom = (waiting * responseTokens * tpotSeconds) / all;
  // A prefill reads all weights and launches all kernels once, however short it is.
  const pass = costs.overheadSeconds + weightSeconds(costs, Number.POSITIVE_INFINITY);
  const ttftSeconds = seconds + steps * step + pass + prefill * (1 + queue * (all - 1)) + forRoom;
  return { tpotSeconds, ttftSeconds, running };
}
