/** Types for the readers of trainers' dumps: a line of a dump becomes responses, of which only numbers are kept. */
import { z } from 'zod';
import { refuse } from '../../../errors.ts';

/** Counts the tokens of texts, where a dump has no counts. */
export interface TextTokens {
  /** `tokenizer`: counted by the tokenizer of the model. `characters`: estimated from the length of the text. */
  readonly method: 'tokenizer' | 'characters';
  /** Shown in summaries, and for estimates in the trace: `0.25 tokens a character`. */
  readonly label: string;
  /** Returns the tokens of a text, a whole number >= 0. */
  count(text: string): number;
}

/** The reason why a response of a dump is left out: it is not a length that the model chose, or there is none. */
export type SkipReason = 'aborted' | 'failed' | 'pending' | 'empty';

/** A response of a dump. */
export interface DumpedResponse {
  /** The key that responses of one prompt share within a step: an id, or the fingerprint of the prompt. */
  readonly group: string;
  /** The training step, if the dump has it. */
  readonly step?: number;
  /** Several rows with the same part of a group are one response: their tokens are added. */
  readonly part?: number;
  /** Number of the row in its group, where the dump has it: no row may come twice. */
  readonly row?: number;
  /** A whole number >= 1. */
  readonly tokens: number;
  /** Tokens of the prompt; asked once a group. */
  readonly promptTokens: () => number | undefined;
  /** Whether it ran into the length limit, according to the dump. */
  readonly truncated?: boolean;
  /** Whether it was correct, where the dump has it. */
  readonly correct?: boolean;
  /** The task of its prompt, where the dump has one. */
  readonly task?: string;
  /** Whether the tokens come from the text: see {@link TextTokens}. */
  readonly fromText: boolean;
}

/** Context of a line, for its reader. */
export interface DumpContext {
  /** `file:line`, for errors. */
  readonly where: string;
  /** The step in the name of the file, for lines without one. */
  readonly step?: number;
  /** Counts the tokens of a text, where a dump has no counts of its own. */
  readonly textTokens?: TextTokens;
  /** A short id of a text: the same for the same text, and another for every other. */
  readonly fingerprint: (text: string) => string;
  /** The least score of a correct response; by default 1 is correct, 0 and -1 are not, and others say nothing of it. */
  readonly correctFrom?: number;
}

/** Reads the dump of one trainer. */
export interface DumpReader {
  /** Name of the format. */
  readonly id: string;
  /** One sentence for listings. */
  readonly description: string;
  /** Fields that a row must have. */
  readonly needs: readonly string[];
  /** Fields of this trainer: a row with two of them that is no dump of this format is from another version. */
  readonly marks: readonly string[];
  /** Whether a first line with this object belongs to such a dump. */
  detect(row: Readonly<Record<string, unknown>>): boolean;
  /** Returns the responses of a line, or why one is left out. Throws `invalid_input`, with file, line and field. */
  read(row: Readonly<Record<string, unknown>>, context: DumpContext): readonly (DumpedResponse | SkipReason)[];
}

/** A count in a dump. */
export const dumpedCount = z.int().nonnegative();

/** A score as trainers write it: a number, or an object with `acc` or `score`. */
export const dumpedScore = z.union([z.number(), z.boolean(), z.looseObject({}), z.null()]).optional();

/** Whether a response is correct, according to its scores. `acc`, which verl's reward functions may add, comes first. */
export function correctness(
  score: z.output<typeof dumpedScore>,
  accuracy: unknown,
  correctFrom: number | undefined,
): boolean | undefined {
  if (typeof accuracy === 'boolean') return accuracy;
  if (accuracy === 0 || accuracy === 1) return accuracy === 1;
  if (typeof score === 'boolean') return score;
  if (typeof score === 'object' && score !== null) {
    const { acc, score: inner } = score as { acc?: unknown; score?: unknown };
    return correctness(typeof inner === 'number' ? inner : undefined, acc, correctFrom);
  }
  if (typeof score !== 'number') return undefined;
  if (correctFrom !== undefined) return score >= correctFrom;
  return score === 1 ? true : score === 0 || score === -1 ? false : undefined;
}

/**
 * Tokens of a text. An empty one has its end-of-text token, which dumps leave out.
 *
 * @throws PolicyError `invalid_config` if nothing was said about how to count
 */
export function tokensOfText(text: string, { textTokens, where }: DumpContext, field: string): number {
  if (textTokens === undefined) {
    refuse(
      'invalid_config',
      `${where}.${field}`,
      'a tokenizer, or tokens per character: this dump has text, and no count of tokens',
      text.slice(0, 40),
    );
  }
  return Math.max(1, textTokens.count(text));
}
