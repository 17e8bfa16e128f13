/**
 * The engine of all simulations without tools. At a boundary (`engine.ts`), in this order:
 *
 * 1. If the next step, a token for every sequence, does not fit the KV cache, the newest sequence is preempted until it fits: its
 *    KV is freed, its tokens are kept, and it goes to the front of the waiting queue. The last sequence is never preempted; `add`
 *    refuses a request that would not fit alone.
 * 2. If none was preempted, waiting sequences are admitted, first come, first served, while the batch has room, and while their
 *    context and one more token fit under the watermark (an empty engine ignores it). One prefill for all of them blocks decoding;
 *    it computes prompts and earlier generated tokens alike. Its end is the next boundary.
 * 3. If none was admitted, a decode step gives every sequence one token; with drafts (`drafting.ts`), as many as are accepted in
 *    expectation, and room is needed for all that are drafted.
 *
 * `test/support/simulator/engine-oracle.ts` does the same step by step.
 */
import type { CostModel } from '../models/cost-model.ts';
import { BatchScheduler, type PrefixCache, type Scheduling } from './batch-scheduler.ts';
import { Engine } from './engine.ts';

export type { EngineLoad, EngineRequest, LostRequest, Outcome } from './request.ts';

/** An inference engine with continuous batching, in simulated time. */
export class DecodeEngine extends Engine {
  /**
   * Makes an engine without requests, at time 0 s.
   *
   * @param options - `timeline`: whether to record a timeline (default false, which is faster); `scheduling`: the order of the
   *   waiting queue and of preemption (default `fcfs`); `cache`: prefixes that need no prefill (default none)
   */
  constructor(
    engineId: string,
    cost: CostModel,
    {
      timeline = false,
      scheduling = 'fcfs',
      cache,
    }: { timeline?: boolean; scheduling?: Scheduling; cache?: PrefixCache } = {},
  ) {
    super(engineId, cost, new BatchScheduler(cost, scheduling, cache), timeline);
  }
}
