/** The results of a simulation of agentic rollouts: plain data. */

import type { EngineStretch } from './timeline.ts';

/** One scheduler on one workload. */
export interface AgenticRun {
  /** Id of the scheduler. */
  readonly scheduler: string;
  /** Seconds until the last program was over. */
  readonly makespanSeconds: number;
  /** Programs that had all their turns. */
  readonly programs: number;
  /** Programs whose environment ended under them. */
  readonly failedPrograms: number;
  /** Turns that had all their tokens. */
  readonly turns: number;
  /** Tokens that those turns have generated. */
  readonly generatedTokens: number;
  /** Tokens that they have generated a second of the makespan. */
  readonly tokensPerSecond: number;
  /** Tokens of the contexts with which turns began. */
  readonly contextTokens: number;
  /** Those of them that were in the prefix cache. */
  readonly cachedTokens: number;
  /** `cachedTokens` ÷ `contextTokens`. */
  readonly prefixHitRate: number;
  /** Tokens that the engines computed of contexts, those after preemptions included. */
  readonly prefilledTokens: number;
  /** Turns that lost their place in a batch for want of room. */
  readonly preemptions: number;
  /** Share of the engines' time in which one had nothing to run: 0 to 1. */
  readonly idleShare: number;
  /** Seconds from the request for a turn until it had all its tokens. */
  readonly turnSeconds: { readonly mean: number; readonly p50: number; readonly p99: number };
  /** Mean seconds of those in which the scheduler held the turn back. */
  readonly heldSeconds: number;
  /** Pauses of programs. */
  readonly pauses: number;
  /** Seconds of all pauses together. */
  readonly pausedSeconds: number;
  /** Seconds of the longest one. */
  readonly longestPauseSeconds: number;
  /** Environments, where the job has slots: the share of their time that they had a program, starts, and failed starts. */
  readonly slots?: { readonly use: number; readonly starts: number; readonly failures: number };
  /** Each engine, in order. */
  readonly engines: readonly {
    readonly engineId: string;
    readonly busySeconds: number;
    readonly prefillSeconds: number;
    readonly preemptions: number;
    /** What it did, in stretches of equal length, if the options ask for them. */
    readonly timeline?: readonly Readonly<EngineStretch>[];
  }[];
}
