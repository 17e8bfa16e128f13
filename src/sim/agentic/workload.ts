/** Workloads of agentic rollouts: programs of turns, with tools between them. */
import { refuse } from '../../errors.ts';
import type { AgenticJob } from './settings.ts';

/** A turn: an engine generates tokens, and then a tool answers, unless the program is over. */
export interface AgenticTurn {
  /** Tokens that the turn generates, a whole number >= 1. */
  readonly generatedTokens: number;
  /** Name of the tool that the program waits for after the turn; not read after the last turn. */
  readonly tool?: string;
  /** Seconds of the tool, >= 0 (default 0: the next turn follows at once). */
  readonly toolSeconds?: number;
  /** Tokens that the tool's answer adds to the context, a whole number >= 0 (default 0). */
  readonly toolTokens?: number;
  /** Outcome of the tool call (default `success`). */
  readonly outcome?: 'success' | 'error' | 'timeout';
}

/** A program: the trajectory of one request. The context of a program only grows. */
export interface AgenticProgram {
  /** Id of the prompt. Programs with the same prompt begin with the same context. */
  readonly promptId: string;
  /** Context tokens at the beginning of the first turn, a whole number >= 0. */
  readonly contextTokens: number;
  /** Context tokens with which every program of this environment begins, such as a system prompt (default 0). */
  readonly sharedTokens?: number;
  /** Kind of environment (default `default`). Programs of one kind share `sharedTokens` and slots. */
  readonly environment?: string;
  /** Turns of the program, at least one. */
  readonly turns: readonly AgenticTurn[];
}

/** Programs that begin together. */
export interface AgenticWorkload {
  /** Name for readers, in tables. */
  readonly name: string;
  /** Origin of the numbers, in words. */
  readonly source: string;
  /** Programs in the order in which they begin. */
  readonly programs: readonly AgenticProgram[];
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/**
 * Refuses programs that cannot run.
 *
 * @throws PolicyError `invalid_input` for impossible numbers, `infeasible` for a context that no engine has room for
 */
export function checkPrograms(programs: readonly AgenticProgram[], { cost, slots }: AgenticJob): void {
  if (programs.length === 0) refuse('invalid_input', 'programs', 'at least one program', programs);
  const ofPrompt = new Map<string, AgenticProgram>();
  for (const [index, program] of programs.entries()) {
    const { promptId, contextTokens, sharedTokens = 0, environment = 'default', turns } = program;
    const path = `programs[${index}]`;
    if (!isCount(contextTokens)) refuse('invalid_input', `${path}.contextTokens`, 'a whole number >= 0', contextTokens);
    if (!isCount(sharedTokens) || sharedTokens > contextTokens)
      refuse('invalid_input', `${path}.sharedTokens`, `a whole number from 0 to ${contextTokens}`, sharedTokens);
    const first = ofPrompt.get(promptId) ?? program;
    ofPrompt.set(promptId, first);
    if (first.contextTokens !== contextTokens)
      refuse('invalid_input', `${path}.contextTokens`, `that of its prompt, ${first.contextTokens}`, contextTokens);
    if (slots !== undefined && slots[environment] === undefined)
      refuse('invalid_input', `${path}.environment`, `one of ${Object.keys(slots).join(', ')}`, environment);
    if (turns.length === 0) refuse('invalid_input', `${path}.turns`, 'at least one turn', turns);
    checkTurns(program, path, cost.kvCapacityTokens);
  }
}

function checkTurns({ contextTokens, turns }: AgenticProgram, path: string, kvCapacityTokens: number): void {
  let context = contextTokens;
  for (const [index, { generatedTokens, toolSeconds = 0, toolTokens = 0 }] of turns.entries()) {
    const at = `${path}.turns[${index}]`;
    if (!isCount(generatedTokens) || generatedTokens < 1)
      refuse('invalid_input', `${at}.generatedTokens`, 'a whole number >= 1', generatedTokens);
    if (!(toolSeconds >= 0 && toolSeconds < Infinity))
      refuse('invalid_input', `${at}.toolSeconds`, 'seconds >= 0', toolSeconds);
    if (!isCount(toolTokens)) refuse('invalid_input', `${at}.toolTokens`, 'a whole number >= 0', toolTokens);
    context += generatedTokens;
    if (context > kvCapacityTokens)
      refuse('infeasible', at, `at most ${kvCapacityTokens} tokens, all that an engine has room for`, context);
    context += toolTokens;
  }
}
