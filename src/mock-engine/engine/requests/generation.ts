/** One response of one request, from its arrival to its end. */
import { numberAt } from '../prompts/hash.ts';
import { type Prompt, vocabularySize } from '../prompts/prompt.ts';
import type { Output, PlannedResponse } from '../prompts/response-book.ts';

/** The end of a response: an end token, its token limit, an abort, or the loss of its engine. */
export type Ending = 'stop' | 'length' | 'abort' | 'lost';

/** A listener for a response. */
export interface Listener {
  /** Called when there are new tokens, if the listener reads a stream. */
  readonly progress?: (generation: Generation) => void;
  /** Called at the end of the response. */
  readonly ended: (generation: Generation) => void;
}

/** Limits of a response. */
export interface Limits {
  /** Most tokens of the response. */
  readonly maxTokens: number;
  /** Fewest tokens: no end token comes before. */
  readonly minTokens: number;
  /** Whether end tokens are ignored, so that the response reaches its limit. */
  readonly ignoreEos: boolean;
}

/** Tokens `start` to `end` (excluded) of a response, which one version of the weights has generated. */
export interface WeightSpan {
  /** Version of the weights. */
  readonly version: string;
  /** Index of the first token. */
  readonly start: number;
  /** Index after the last token. */
  readonly end: number;
}

/** A response, and its state. */
export class Generation implements Output {
  /** The id that the client gave to the request. */
  readonly requestId: string;
  /** Unique id, which orders requests that arrive at the same time. */
  readonly id: string;
  /** The prompt of the response. */
  readonly prompt: Prompt;
  /** The whole response that it becomes unless it is stopped. */
  readonly planned: PlannedResponse;
  /** Receives progress and the end. */
  readonly listener: Listener;
  /** Requests with a lower number go first, if the engine schedules by priority. */
  readonly priority: number;
  /** Tokens of the whole response unless it is stopped. */
  readonly tokens: number;
  /** `stop` for an end token; `length` for the token limit. */
  readonly ending: 'stop' | 'length';
  /** Simulated seconds at which the request was accepted. */
  readonly acceptedAt: number;
  /** Tokens of the prompt that were in the prefix cache, once it runs. */
  cachedTokens = 0;
  /** Tokens generated so far. */
  count = 0;
  /** How the response ended; `null` before. */
  ended: Ending | null = null;
  /** Simulated seconds at which the response ended; 0 before. */
  endedAt = 0;
  /** Whether it was waiting when it was aborted. */
  abortedInQueue = false;
  /** Tokens that the listener has received. */
  told = 0;
  readonly #tokenIds: number[] = [];
  #text = '';
  /** Tokens that earlier versions of the weights have generated, in order. */
  readonly #earlier: WeightSpan[] = [];

  /** Makes a generation without tokens. */
  constructor(given: {
    readonly requestId: string;
    readonly id: string;
    readonly prompt: Prompt;
    readonly planned: PlannedResponse;
    readonly listener: Listener;
    readonly limits: Limits;
    readonly priority: number;
    readonly at: number;
  }) {
    this.requestId = given.requestId;
    this.id = given.id;
    this.prompt = given.prompt;
    this.planned = given.planned;
    this.listener = given.listener;
    this.priority = given.priority;
    this.acceptedAt = given.at;
    const { maxTokens, minTokens, ignoreEos } = given.limits;
    const natural = ignoreEos ? Number.POSITIVE_INFINITY : Math.max(minTokens, given.planned.tokens);
    this.tokens = Math.min(maxTokens, natural);
    this.ending = natural < maxTokens ? 'stop' : 'length';
  }

  /** Ids of the tokens generated so far. */
  get tokenIds(): readonly number[] {
    this.#write();
    return this.#tokenIds;
  }

  /** Text of the tokens generated so far. */
  get text(): string {
    this.#write();
    return this.#text;
  }

  /** Records that the weights change after this many tokens of the response. */
  weightsChange(version: string, count: number): void {
    this.#extend(this.#earlier, version, count);
  }

  /** Returns which version of the weights has generated which tokens so far; the last tokens are of the `current` version. */
  weightSpans(current: string): WeightSpan[] {
    const spans = [...this.#earlier];
    this.#extend(spans, current, this.count);
    return spans;
  }

  #extend(spans: WeightSpan[], version: string, end: number): void {
    const last = spans.at(-1);
    if (end <= (last?.end ?? 0)) return;
    if (last?.version === version) spans[spans.length - 1] = { ...last, end };
    else spans.push({ version, start: last?.end ?? 0, end });
  }

  #write(): void {
    const { seed, offset } = this.planned;
    for (let at = this.#tokenIds.length; at < this.count; at += 1) {
      const tokenId = numberAt(seed, offset + at, vocabularySize);
      this.#tokenIds.push(tokenId);
      this.#text += textOf(tokenId);
    }
  }
}

/** Returns the text of a token. */
export function textOf(tokenId: number): string {
  return ` t${tokenId}`;
}

/** Returns a made-up log-probability for a token, always the same one. */
export function logProbOf(tokenId: number): number {
  return -((tokenId % 997) + 1) / 500;
}
