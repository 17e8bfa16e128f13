/** Types for readers of trainers' dumps. A reader turns a line of a dump into responses, and keeps only numbers. */
import { refuse } from '../../../errors.ts';
import type { TraceTurn } from '../format.ts';
import type { FieldChoices, Role } from './rows/fields.ts';

/** Counts the tokens of texts, for dumps without token counts. */
export interface TextTokens {
  /** `tokenizer`: counts with the tokenizer of the model. `characters`: estimates from the length of the text. */
  readonly method: 'tokenizer' | 'characters';
  /** Text for summaries and, for estimates, for the trace: `0.25 tokens a character`. */
  readonly label: string;
  /** Returns the tokens of a text, a whole number >= 0. */
  count(text: string): number;
}

/** The reason why a response of a dump is left out: its length was not chosen by the model, or is missing. */
export type SkipReason = 'aborted' | 'failed' | 'pending' | 'empty';

/** A response of a dump. */
export interface DumpedResponse {
  /** A key that the responses of one prompt share in a step: an id, or the fingerprint of the prompt. */
  readonly group: string;
  /** Id of the prompt across steps, if `group` is new in each step. */
  readonly prompt?: string;
  /** The training step, if the dump has it. */
  readonly step?: number;
  /** Number of the response in its group. Rows with the same number belong to one response, and their tokens are added. */
  readonly part?: number | string;
  /** Number of the turn, in a row of one turn that does not say of which response it is. */
  readonly turn?: number;
  /** Number of the row in its group, if the dump has it, to refuse repeated rows. */
  readonly row?: number;
  /** Tokens of the response, a whole number >= 1. */
  readonly tokens: number;
  /** Turns of the response, if the dump has them, whose tokens add up to `tokens`. */
  readonly turns?: readonly TraceTurn[];
  /** Beginning of the prompt that other prompts share, if there is one. */
  readonly shared?: { readonly environment: string; readonly tokens: number };
  /** Returns the tokens of the prompt; called once per group. */
  readonly promptTokens: () => number | undefined;
  /** Whether the response reached the length limit, according to the dump. */
  readonly truncated?: boolean;
  /** Whether the response was aborted: it would have been longer. */
  readonly censored?: boolean;
  /** How its tokens were estimated, where neither the dump nor {@link TextTokens} counted them. */
  readonly estimated?: string;
  /** Whether the response was correct, if the dump has this. */
  readonly correct?: boolean;
  /** The task of the prompt, if the dump has it. */
  readonly task?: string;
  /** Whether the tokens were counted in the text: see {@link TextTokens}. */
  readonly fromText: boolean;
}

/** Context of a line. */
export interface DumpContext {
  /** `file:line`, for errors. */
  readonly where: string;
  /** The step in the file's name, for lines without a step. */
  readonly step?: number;
  /** Counts the tokens of a text, if the dump has no counts. */
  readonly textTokens?: TextTokens;
  /** Returns a short id for a text, which no other text shares. */
  readonly fingerprint: (text: string) => string;
  /** The least score of a correct response. By default, 1 is correct, 0 and -1 are not, and other scores mean nothing. */
  readonly correctFrom?: number;
  /** Fields that the user chose, by what they mean. */
  readonly fields?: FieldChoices;
  /** Receives the field from which something was taken. */
  readonly used?: (role: Role, path: string) => void;
  /** Receives a value that tells the end of a response, and is not known. */
  readonly unknownMark?: (path: string, value: string) => void;
}

/** A reader for the dumps of one trainer. */
export interface DumpReader {
  /** Name of the format. */
  readonly id: string;
  /** One sentence for listings. */
  readonly description: string;
  /** Fields that a row must have. */
  readonly needs: readonly string[];
  /** Fields that only this trainer writes: a row with two of them that does not fit the format is from another version. */
  readonly marks: readonly string[];
  /** Whether a dump with this object as its first line has this format. */
  detect(row: Readonly<Record<string, unknown>>): boolean;
  /** Returns the responses of a line, or the reasons why they are left out. Throws `invalid_input`, with file, line and field. */
  read(row: Readonly<Record<string, unknown>>, context: DumpContext): readonly (DumpedResponse | SkipReason)[];
}

/**
 * Returns the tokens of a text. An empty text counts as one token: the end-of-text token, which dumps leave out.
 *
 * @throws PolicyError `invalid_config` if no way of counting was given
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
