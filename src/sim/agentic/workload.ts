/** Workloads of agentic rollouts: programs of turns, with tools between them. */

/** A turn: an engine generates tokens, and then a tool answers, unless the program is over. */
export interface AgenticTurn {
  /** Tokens that the turn generates, a whole number >= 1. */
  readonly generatedTokens: number;
  /** Name of the tool that the program waits for after the turn; not read after the last turn. */
  readonly tool?: string;
  /** Seconds of the tool, >= 0 (default 0: the next turn follows at once). */
  readonly toolSeconds?: number;
  /** Tokens that its answer adds to the context, a whole number >= 0 (default 0). */
  readonly toolTokens?: number;
  /** What the tool answers (default `success`). */
  readonly outcome?: 'success' | 'error' | 'timeout';
}

/** A program: the trajectory of one request. Its context only grows. */
export interface AgenticProgram {
  /** Id of its prompt: programs with the same prompt begin with the same context. */
  readonly promptId: string;
  /** Tokens that its first turn begins with, a whole number >= 0. */
  readonly contextTokens: number;
  /** Those of them with which every program of its environment begins, such as a system prompt (default 0). */
  readonly sharedTokens?: number;
  /** Kind of its environment: whose `sharedTokens` are the same, and whose slots are the same (default `default`). */
  readonly environment?: string;
  /** Its turns, at least one. */
  readonly turns: readonly AgenticTurn[];
}

/** Programs that begin together. */
export interface AgenticWorkload {
  /** Name for readers, in tables. */
  readonly name: string;
  /** Where the numbers come from, in words. */
  readonly source: string;
  /** The programs, in the order in which they begin. */
  readonly programs: readonly AgenticProgram[];
}
