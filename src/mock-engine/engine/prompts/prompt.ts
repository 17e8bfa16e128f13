/** A prompt of a request: text or tokens. */
import { numberAt, SequenceName } from './hash.ts';

/** A prompt, as text or as token ids. */
export type Prompt =
  | {
      readonly text: string;
      /** Text between the prompt and its response in the prompt of a next turn; empty by default. */
      readonly joint?: string;
    }
  | { readonly tokenIds: readonly number[] };

/** Characters per token of made-up text. */
export const charactersPerToken = 4;
/** Number of different tokens. */
export const vocabularySize = 32_000;

/** Returns a name that only equal prompts share, and that can be extended by tokens. */
export function nameOf(prompt: Prompt): SequenceName {
  if ('text' in prompt) return new SequenceName(1).pushText(prompt.text);
  const name = new SequenceName(2);
  for (const tokenId of prompt.tokenIds) name.push(tokenId);
  return name;
}

/** Returns the number of tokens of a prompt; for a text, a quarter of its characters. */
export function tokensOf(prompt: Prompt): number {
  const tokens = 'text' in prompt ? Math.ceil(prompt.text.length / charactersPerToken) : prompt.tokenIds.length;
  return Math.max(1, tokens);
}

/** Returns the token ids of a prompt; for a text, made-up ids that are always the same. */
export function tokenIdsOf(prompt: Prompt, count: number): readonly number[] {
  if ('tokenIds' in prompt) return prompt.tokenIds;
  const seed = nameOf(prompt).number;
  return Array.from({ length: count }, (_, at) => numberAt(seed, at, vocabularySize));
}
