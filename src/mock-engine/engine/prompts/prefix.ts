/** Names for the blocks of a prompt: prompts that begin alike have the same first names. */
import { SequenceName } from './hash.ts';
import { charactersPerToken, type Prompt } from './prompt.ts';

/** Tokens per block of the prefix cache; only whole blocks are found. */
export const blockTokens = 16;

/** The part of a context that an engine may have cached. */
export class Prefix {
  readonly #name: SequenceName;
  readonly #isText: boolean;
  readonly #joint: string;

  private constructor(name: SequenceName, isText: boolean, joint: string) {
    this.#name = name;
    this.#isText = isText;
    this.#joint = joint;
  }

  static of(prompt: Prompt): Prefix {
    if ('text' in prompt) {
      const name = new SequenceName(1, blockTokens * charactersPerToken).pushText(prompt.text);
      return new Prefix(name, true, prompt.joint ?? '');
    }
    const name = new SequenceName(2, blockTokens);
    for (const tokenId of prompt.tokenIds) name.push(tokenId);
    return new Prefix(name, false, '');
  }

  /** Makes the prefix for a prompt of the workload, which has more tokens than the text that stands for it. */
  static ofPrompt(promptIndex: number, tokens: number): Prefix {
    const name = new SequenceName(3, blockTokens).push(promptIndex);
    for (let at = 1; at < tokens; at += 1) name.push(at);
    return new Prefix(name, false, '');
  }

  /** Name of the whole prefix. */
  get name(): SequenceName {
    return this.#name;
  }

  /** Names of the whole blocks, in order. */
  get blocks(): readonly number[] {
    return this.#name.blocks;
  }

  copy(): Prefix {
    return new Prefix(this.#name.copy(), this.#isText, this.#joint);
  }

  /** Adds a response in the form in which the next turn contains it. */
  extend({ text, tokenIds }: { readonly text: string; readonly tokenIds: readonly number[] }): this {
    if (this.#isText) this.#name.pushText(this.#joint).pushText(text);
    else for (const tokenId of tokenIds) this.#name.push(tokenId);
    return this;
  }
}
