/** One response of one request, from its arrival to its end. */
import { numberAt } from './hash.ts';
import type { Prompt } from './prompt.ts';
import type { Output, PlannedResponse } from './response-book.ts';

/** The way a response ended: by itself, at its token limit, by an abort, or with its engine. */
export type Ending = 'stop' | 'length' | 'abort' | 'lost';

/** A listener for a response. */
export interface Listener {
  /** There is more of it. Only called where the listener reads a stream. */
  readonly progress?: (generation: Generation) => void;
  /** Called at the end. */
  readonly ended: (generation: Generation) => void;
}

/** Limits of a response. */
export interface Limits {
  /** Most tokens of the response. */
  readonly maxTokens: number;
  /** Fewest tokens: it does not stop by itself before. */
  readonly minTokens: number;
  /** Whether it continues to its limit. */
  readonly ignoreEos: boolean;
}

const vocabulary = 32_000;

/** A response, and its state. */
export class Generation implements Output {
  /** The name by which the client knows the request. */
  readonly requestId: string;
  /** Unique id, which orders requests that arrive at the same moment. */
  readonly id: string;
  /** The prompt that it answers. */
  readonly prompt: Prompt;
  /** The response that it becomes unless it is stopped. */
  readonly planned: PlannedResponse;
  /** Receives progress and the end. */
  readonly listener: Listener;
  /** Lower goes first, where the engine schedules by priority. */
  readonly priority: number;
  /** Tokens that it gets unless it is stopped. */
  readonly tokens: number;
  /** `stop`: by itself; `length`: at its limit. */
  readonly ending: 'stop' | 'length';
  /** Simulated seconds at which it was taken. */
  readonly acceptedAt: number;
  /** Tokens generated so far. */
  count = 0;
  /** The way it ended; `null` until then. */
  ended: Ending | null = null;
  /** Simulated seconds at which it ended; 0 until then. */
  endedAt = 0;
  /** Whether it was waiting when it was aborted. */
  abortedInQueue = false;
  /** Tokens of it that its listener knows. */
  told = 0;
  readonly #tokenIds: number[] = [];
  #text = '';

  /** A generation that has no token yet. */
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

  #write(): void {
    const { seed, offset } = this.planned;
    for (let at = this.#tokenIds.length; at < this.count; at += 1) {
      const tokenId = numberAt(seed, offset + at, vocabulary);
      this.#tokenIds.push(tokenId);
      this.#text += textOf(tokenId);
    }
  }
}

/** Returns the text of a token. */
export function textOf(tokenId: number): string {
  return ` t${tokenId}`;
}

/** Returns a log-probability for a token: made up, and the same each time. */
export function logProbOf(tokenId: number): number {
  return -((tokenId % 997) + 1) / 500;
}
