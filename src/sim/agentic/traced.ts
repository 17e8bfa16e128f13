/** Workloads of agentic rollouts from a trace with turns; what the trace does not have is assumed, and the assumptions are named. */
import { refuse } from '../../errors.ts';
import type { TracePrompt } from '../trace/format.ts';
import { normal } from '../workload/random.ts';
import { lognormalAt, type Spread } from './shape.ts';
import type { AgenticProgram, AgenticTurn, AgenticWorkload } from './workload.ts';

/** Options of a workload from a trace. */
export interface TracedAgenticOptions {
  /** Name for readers, in tables. */
  readonly name: string;
  /** Prompts whose responses have turns. */
  readonly prompts: readonly TracePrompt[];
  /** Seconds of tools, by name, for turns whose trace does not have them; a tool that is not named answers at once. */
  readonly toolSeconds: Readonly<Record<string, Spread>>;
  /** Seed for the drawn tool times, a safe whole number. */
  readonly seed: number;
}

const secondsKey = 48;

/**
 * Returns the responses of a trace as programs; programs of one prompt follow each other. Where the responses of a prompt begin
 * with contexts of different lengths, such as the words of a simulated user, they share only `sharedTokens`.
 *
 * @throws PolicyError `invalid_input` for a trace without prompts, a response without turns, and a seed that is no whole number
 */
export function tracedAgenticWorkload({ name, prompts, toolSeconds, seed }: TracedAgenticOptions): AgenticWorkload {
  if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seed', 'a whole number', seed);
  if (prompts.length === 0) refuse('invalid_input', name, 'at least one prompt', 'none');
  const secondsOf = (tool: string | undefined, ...at: readonly number[]): number => {
    const spread = tool === undefined ? undefined : toolSeconds[tool];
    return spread === undefined ? 0 : lognormalAt(spread, normal(seed, secondsKey, ...at));
  };
  const programs = prompts.flatMap((prompt, row) => {
    const begun = prompt.responses.map(({ turns }) => {
      if (turns === undefined) refuse('invalid_input', `${name}.${prompt.prompt}`, 'responses with turns', 'none');
      return (prompt.promptTokens ?? 0) + (turns[0]!.addedTokens ?? 0);
    });
    const isSame = begun.every((one) => one === begun[0]);
    return prompt.responses.map(({ turns = [] }, index): AgenticProgram => {
      const contextTokens = begun[index]!;
      return {
        promptId: isSame ? prompt.prompt : `${prompt.prompt}/${index}`,
        contextTokens,
        sharedTokens: Math.min(contextTokens, prompt.sharedTokens ?? 0),
        environment: prompt.environment ?? 'default',
        turns: turns.map(({ tokens, tool, toolSeconds: measured }, at): AgenticTurn => {
          const next = turns[at + 1];
          if (next === undefined) return { generatedTokens: tokens };
          return {
            generatedTokens: tokens,
            ...(tool === undefined ? undefined : { tool }),
            toolSeconds: measured ?? secondsOf(tool, row, index, at),
            toolTokens: next.addedTokens ?? 0,
          };
        }),
      };
    });
  });
  const assumed = Object.entries(toolSeconds).map(([tool, { median }]) => `${tool} ${median} s`);
  const source = `trace; ${assumed.length === 0 ? 'tools answer at once' : `assumed: ${assumed.join(', ')}`}`;
  return { name, source, programs };
}
