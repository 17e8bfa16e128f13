/** What an engine asks at every boundary. `BatchScheduler` computes contexts in one prefill, and `ChunkScheduler` in chunks. */
import type { Batch, Sequence } from './batch.ts';
import type { Drafting } from './drafting.ts';
import type { Stretch } from './step-time.ts';
import type { Waiting } from './waiting-queue.ts';

/** A prefill, or decode steps with one batch. */
export interface Plan {
  readonly seconds: number;
  /** Decode steps; 0 for a prefill. */
  readonly steps: number;
  readonly stretch: Stretch;
  /** Drafted tokens per sequence and step, and expected tokens per sequence and step; 0 and 1 without drafts. */
  readonly draftTokens: number;
  readonly tokensPerStep: number;
  /** Sequences preempted at the boundary, and their tokens, whose KV is dropped. */
  readonly preemptions: number;
  readonly recomputedTokens: number;
}

/** The stretch of a prefill. */
export const noStretch: Stretch = { firstSeconds: 0, growthSeconds: 0 };

/** The batch and the waiting queue, with the rules that move sequences between them. */
export interface StepScheduler {
  readonly batch: Batch;
  readonly waiting: Waiting;
  /** Speculative decoding; `undefined` without it. */
  readonly drafting: Drafting | undefined;
  /** Factor by which other work on the same GPUs slows the engine down; 1 is no slowdown. */
  pace: number;
  /** Tokens of KV cache that the engine may use now. */
  kvCapacityTokens: number;
  /** Plans the next action; returns `undefined` if there is nothing to run. */
  plan(): Plan | undefined;
  /** Whether a new request would wait behind another one and so could not change the plan. */
  hasQueue(): boolean;
  /** Undoes a plan in which no time has passed; absent: plans are final, and what arrives meanwhile waits for their end. */
  undo?(): void;
  /** Adds new arrivals to a plan that is a prefill; the result equals undoing the plan and planning again. */
  extend?(): Plan;
  /** Completed steps of a plan give every running sequence its tokens. */
  advance(plan: Plan, steps: number): void;
  /** A prefill has ended: sequences with complete contexts decode from now on. Absent: they were in the batch already. */
  endPrefill?(): void;
  /** Removes a sequence for good, wherever it is. */
  remove(sequence: Sequence): void;
}
