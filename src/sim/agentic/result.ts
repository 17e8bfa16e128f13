/** The results of a simulation of agentic rollouts: plain data. */

import type { EngineStretch } from '../engine/timeline.ts';

/** Results of one scheduler on one workload. */
export interface AgenticRun {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** Seconds until the last program was over. */
  readonly makespanSeconds: number;
  /** Programs that completed all their turns. */
  readonly programs: number;
  /** Programs whose environment ended before they did. */
  readonly failedPrograms: number;
  /** Completed turns. */
  readonly turns: number;
  /** Generated tokens of completed turns. */
  readonly generatedTokens: number;
  /** These tokens ÷ seconds of the makespan. */
  readonly tokensPerSecond: number;
  /** Context tokens at the beginning of turns. */
  readonly contextTokens: number;
  /** Context tokens that were in the prefix cache. */
  readonly cachedTokens: number;
  /** `cachedTokens` ÷ `contextTokens`. */
  readonly prefixHitRate: number;
  /** Context tokens that engines computed, including recomputation after preemptions. */
  readonly prefilledTokens: number;
  /** Preemptions: turns that lost their place in a batch because the KV cache was full. */
  readonly preemptions: number;
  /** Share of the engines' time without anything to run: 0 to 1. */
  readonly idleShare: number;
  /** Seconds from the request for a turn until all its tokens were generated. */
  readonly turnSeconds: { readonly mean: number; readonly p50: number; readonly p99: number };
  /** Mean seconds for which the scheduler held a turn back. */
  readonly heldSeconds: number;
  /** Pauses of programs. */
  readonly pauses: number;
  /** Seconds of all pauses together. */
  readonly pausedSeconds: number;
  /** Seconds of the longest pause. */
  readonly longestPauseSeconds: number;
  /** Environments, where the job has slots: the share of their time that they had a program, starts, and failed starts. */
  readonly slots?: { readonly use: number; readonly starts: number; readonly failures: number };
  /** Results per engine, in order. */
  readonly engines: readonly {
    readonly engineId: string;
    readonly busySeconds: number;
    readonly prefillSeconds: number;
    readonly preemptions: number;
    /** Activity in stretches of equal length, if the options ask for it. */
    readonly timeline?: readonly Readonly<EngineStretch>[];
  }[];
}
