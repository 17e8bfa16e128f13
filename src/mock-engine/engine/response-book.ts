/**
 * The length and the text of each response: fixed by the workload, the prompt and the number of the sample.
 *
 * A prompt that ends in the part of an earlier response that was cut short is its continuation: it gets the rest, and not a
 * response of its own. Partial rollouts send such prompts.
 */
import { LruMap } from '../../core/lru.ts';
import type { Workload, WorkloadPrompt } from '../../sim/workload/workload.ts';
import { nameOf, type Prompt, tokensOf } from './prompt.ts';

/** A response that a prompt would give. */
export interface PlannedResponse {
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** Fixes the tokens of the response. */
  readonly seed: number;
  /** Tokens that earlier parts of it have had. */
  readonly offset: number;
  /** Tokens that are left of it; it stops by itself behind them. */
  readonly tokens: number;
}

const vocabularyEntries = 65_536;
/** Prompts of an endless workload that prompts without a place in it are spread over. */
const placesOfEndless = 1_048_576;
/** An id that rollflex mints: `<prompt>/<index>#<attempt>`. */
const mintedId = /\/(\d+)#\d+\W?$/;

/** Plans the response to each prompt, and remembers those that were cut short. */
export class ResponseBook {
  readonly #workload: Workload;
  readonly #places: number;
  readonly #placeOf = new Map<string, number>();
  readonly #prompts = new LruMap<number, WorkloadPrompt>(vocabularyEntries);
  readonly #asked = new LruMap<string, number>(vocabularyEntries);
  readonly #cutShort = new LruMap<string, PlannedResponse>(vocabularyEntries);

  constructor(workload: Workload) {
    this.#workload = workload;
    const { distinctPrompts } = workload;
    this.#places = Number.isFinite(distinctPrompts) ? distinctPrompts : placesOfEndless;
    if (!Number.isFinite(distinctPrompts)) return;
    for (let place = 0; place < distinctPrompts; place += 1) this.#placeOf.set(workload.prompt(place).promptId, place);
  }

  /**
   * The response to a prompt. A text that is the id of a prompt of the trace is that prompt; any other is given one.
   *
   * @param sample - which sample of the prompt: equal numbers give equal responses; if there is none, the index in an
   *   id that rollflex has minted, and else how often the prompt has been asked
   */
  plan(prompt: Prompt, sample: number | undefined, requestId: string): PlannedResponse {
    const name = nameOf(prompt);
    const key = name.toString();
    const rest = this.#cutShort.get(key);
    if (rest !== undefined) return rest;
    const known = 'text' in prompt ? this.#placeOf.get(prompt.text.trim()) : undefined;
    const found = this.#promptAt(known ?? name.number % this.#places);
    const k = sample ?? mintedIndex(requestId) ?? this.#count(key);
    const response = found.sample(Math.abs(Math.trunc(k)));
    return {
      promptTokens: known === undefined ? tokensOf(prompt) : found.promptTokens,
      seed: name.push(k).number,
      offset: 0,
      tokens: response.tokens,
    };
  }

  /** Records that a response was cut short: a prompt that ends with this part gets the rest. */
  cutShort(prompt: Prompt, planned: PlannedResponse, output: Output): void {
    const tokens = planned.tokens - output.count;
    if (output.count === 0 || tokens < 1) return;
    const name = nameOf(prompt);
    if ('text' in prompt) name.pushText(output.text);
    else for (const tokenId of output.tokenIds) name.push(tokenId);
    const promptTokens = planned.promptTokens + output.count;
    this.#cutShort.set(name.toString(), { ...planned, promptTokens, offset: planned.offset + output.count, tokens });
  }

  #promptAt(place: number): WorkloadPrompt {
    const known = this.#prompts.get(place) ?? this.#workload.prompt(place);
    this.#prompts.set(place, known);
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
  /** Their ids, in order. */
  readonly tokenIds: readonly number[];
}

function mintedIndex(requestId: string): number | undefined {
  const found = mintedId.exec(requestId);
  return found === null ? undefined : Number(found[1]);
}
