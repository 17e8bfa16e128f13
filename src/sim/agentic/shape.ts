/**
 * Workloads of agentic rollouts, drawn from distributions. Each number depends only on the seed, the prompt, the sample and the
 * turn.
 */
import { refuse } from '../../errors.ts';
import { normal, uniform } from '../workload/random.ts';
import type { AgenticProgram, AgenticTurn, AgenticWorkload } from './workload.ts';

/** A lognormal distribution, cut at its ends. */
export interface Spread {
  /** Median, above 0. */
  readonly median: number;
  /** Standard deviation of the logarithm, from 0: 0.5 means that a tenth are above 1.9 times the median, 1 above 3.6 times. */
  readonly sigma: number;
  /** Smallest value (default 0; of counts, 1). */
  readonly least?: number;
  /** Largest value. */
  readonly most?: number;
}

/** A tool that programs call. */
export interface ToolShape {
  /** Name of the tool. */
  readonly tool: string;
  /** Frequency of calls relative to other tools. */
  readonly share: number;
  /** Seconds until the answer. */
  readonly seconds: Spread;
  /** Tokens that the answer adds to the context. */
  readonly tokens: Spread;
}

/** Programs of one kind. */
export interface AgenticShape {
  /** Kind of environment. */
  readonly environment: string;
  /** Number of prompts. */
  readonly prompts: number;
  /** Programs per prompt. */
  readonly samples: number;
  /** Tokens at the beginning that all programs of the environment share. */
  readonly sharedTokens: number;
  /** Tokens of a prompt after the shared ones. */
  readonly promptTokens: Spread;
  /** Turns per program. */
  readonly turns: Spread;
  /** Correlation between the logarithms of the numbers of turns in two programs of a prompt: 0 to 1. */
  readonly correlation: number;
  /** Tokens that a turn generates. */
  readonly generatedTokens: Spread;
  /** Tools of the program; each turn except the last one calls a tool. */
  readonly tools: readonly ToolShape[];
  /** A program ends once its context has reached so many tokens. */
  readonly longestContext: number;
}

const [promptKey, turnsKey, ownTurnsKey, generatedKey, toolKey, secondsKey, tokensKey] = [41, 42, 43, 44, 45, 46, 47];

/** Returns the value of a distribution at a standard normal number. */
export const lognormalAt = ({ median, sigma, least = 0, most = Number.POSITIVE_INFINITY }: Spread, z: number): number =>
  Math.min(most, Math.max(least, median * Math.exp(sigma * z)));
const count = (spread: Spread, z: number): number => Math.max(1, Math.round(lognormalAt(spread, z)));

/**
 * Returns a workload of programs that begin together. Prompts of several shapes take turns.
 *
 * @throws PolicyError `invalid_input` for a seed that is no whole number
 */
export function agenticWorkload(
  shapes: readonly AgenticShape[],
  { name, source, seed }: { readonly name: string; readonly source: string; readonly seed: number },
): AgenticWorkload {
  if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seed', 'a whole number', seed);
  const programs: AgenticProgram[] = [];
  const most = Math.max(0, ...shapes.map(({ prompts }) => prompts));
  for (let prompt = 0; prompt < most; prompt += 1) {
    for (const [kind, shape] of shapes.entries()) {
      if (prompt >= shape.prompts) continue;
      for (let sample = 0; sample < shape.samples; sample += 1)
        programs.push(programOf(shape, [seed, kind, prompt], sample));
    }
  }
  return { name, source, programs };
}

function programOf(shape: AgenticShape, keys: readonly [number, number, number], sample: number): AgenticProgram {
  const { environment, sharedTokens, correlation, longestContext } = shape;
  const ofPrompt = Math.sqrt(correlation) * normal(turnsKey, ...keys);
  const wanted = count(shape.turns, ofPrompt + Math.sqrt(1 - correlation) * normal(ownTurnsKey, ...keys, sample));
  const contextTokens = sharedTokens + count(shape.promptTokens, normal(promptKey, ...keys));
  const turns: AgenticTurn[] = [];
  let context = contextTokens;
  while (turns.length < wanted && (turns.length === 0 || context < longestContext)) {
    const at = [...keys, sample, turns.length];
    const generatedTokens = count(shape.generatedTokens, normal(generatedKey, ...at));
    const tool = toolOf(shape.tools, uniform(toolKey, ...at));
    const toolTokens = count(tool.tokens, normal(tokensKey, ...at));
    const toolSeconds = lognormalAt(tool.seconds, normal(secondsKey, ...at));
    turns.push({ generatedTokens, tool: tool.tool, toolSeconds, toolTokens });
    context += generatedTokens + toolTokens;
  }
  turns[turns.length - 1] = { generatedTokens: turns.at(-1)!.generatedTokens };
  return { promptId: `${environment}-${keys[2]}`, contextTokens, sharedTokens, environment, turns };
}

function toolOf(tools: readonly ToolShape[], share: number): ToolShape {
  let left = share * tools.reduce((sum, one) => sum + one.share, 0);
  return tools.find((one) => (left -= one.share) < 0) ?? tools.at(-1)!;
}
