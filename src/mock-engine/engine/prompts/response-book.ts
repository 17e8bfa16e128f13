/**
 * The length and the text of each response: fixed by the workload, the prompt and the number of the sample.
 *
 * A prompt that consists of an earlier prompt and the aborted part of its response gets the rest of this response. Partial rollouts
 * send such prompts.
 */
import { LruMap } from '../../../core/collections/lru.ts';
import type { Workload, WorkloadPrompt } from '../../../sim/workload/workload.ts';
import { Prefix } from './prefix.ts';
import { nameOf, type Prompt, tokenIdsOf, tokensOf } from './prompt.ts';

/** The response that a prompt gets. */
export interface PlannedResponse {
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** Determines the tokens of the response. */
  readonly seed: number;
  /** Tokens in earlier parts of the response. */
  readonly offset: number;
  /** Tokens left in the response, which ends with the last of them. */
  readonly tokens: number;
  /** The prompt, for the prefix cache; the response is added at its end. @internal */
  readonly prefix: Prefix;
}

const vocabularyEntries = 65_536;
/** In an endless workload, unknown prompts are spread over so many of its prompts. */
const promptsOfEndless = 1_048_576;
/** An id that rollflex has made: `<prompt>/<index>#<attempt>`. */
const mintedId = /\/(\d+)#\d+\W?$/;

/** Plans the response to each prompt, and stores the rest of responses that were aborted. */
export class ResponseBook {
  readonly #workload: Workload;
  readonly #promptCount: number;
  readonly #promptIndexOf = new Map<string, number>();
  readonly #prompts = new LruMap<number, WorkloadPrompt>(vocabularyEntries);
  readonly #asked = new LruMap<string, number>(vocabularyEntries);
  readonly #cutShort = new LruMap<string, PlannedResponse>(vocabularyEntries);

  constructor(workload: Workload) {
    this.#workload = workload;
    const { distinctPrompts } = workload;
    this.#promptCount = Number.isFinite(distinctPrompts) ? distinctPrompts : promptsOfEndless;
    if (!Number.isFinite(distinctPrompts)) return;
    for (let index = 0; index < distinctPrompts; index += 1)
      this.#promptIndexOf.set(workload.prompt(index).promptId, index);
  }

  /**
   * Returns the response to a prompt. A text that equals the id of a prompt in the trace stands for that prompt; any other text is
   * assigned to one.
   *
   * @param sample - number of the sample: equal numbers give equal responses. By default, the index in a request id that rollflex
   *   has made, or else the number of earlier requests with the prompt
   */
  plan(prompt: Prompt, sample: number | undefined, requestId: string): PlannedResponse {
    const prefix = Prefix.of(prompt);
    const { name } = prefix;
    const key = name.toString();
    const rest = this.#cutShort.get(key);
    if (rest !== undefined) return { ...rest, prefix: rest.prefix.copy() };
    const known = 'text' in prompt ? this.#promptIndexOf.get(prompt.text.trim()) : undefined;
    const found = this.#promptAt(known ?? name.number % this.#promptCount);
    const k = sample ?? mintedIndex(requestId) ?? this.#count(key);
    const response = found.sample(Math.abs(Math.trunc(k)));
    return {
      promptTokens: known === undefined ? tokensOf(prompt) : found.promptTokens,
      seed: name.numberWith(k),
      offset: 0,
      tokens: response.tokens,
      prefix: known === undefined ? prefix : Prefix.ofPrompt(known, found.promptTokens),
    };
  }

  /** Records that a response was cut short: a prompt that ends with this part gets the rest of the response. */
  cutShort(prompt: Prompt, planned: PlannedResponse, output: Output): void {
    const tokens = planned.tokens - output.count;
    if (output.count === 0 || tokens < 1) return;
    const promptTokens = planned.promptTokens + output.count;
    const offset = planned.offset + output.count;
    const rest = { ...planned, promptTokens, offset, tokens, prefix: planned.prefix.copy() };
    // A client that has sent a text may continue with the token ids in the answer.
    const ids = nameOf({ tokenIds: tokenIdsOf(prompt, planned.promptTokens) });
    for (const tokenId of output.tokenIds) ids.push(tokenId);
    this.#cutShort.set(ids.toString(), rest);
    if ('text' in prompt) this.#cutShort.set(nameOf(prompt).pushText(output.text).toString(), rest);
  }

  #promptAt(index: number): WorkloadPrompt {
    const known = this.#prompts.get(index) ?? this.#workload.prompt(index);
    this.#prompts.set(index, known);
    return known;
  }

  #count(key: string): number {
    const before = this.#asked.get(key) ?? 0;
    this.#asked.set(key, before + 1);
    return before;
  }
}

/** The generated part of a response. */
export interface Output {
  /** Tokens generated so far. */
  readonly count: number;
  /** Text of these tokens. */
  readonly text: string;
  /** Ids of these tokens, in order. */
  readonly tokenIds: readonly number[];
}

function mintedIndex(requestId: string): number | undefined {
  const found = mintedId.exec(requestId);
  return found === null ? undefined : Number(found[1]);
}
