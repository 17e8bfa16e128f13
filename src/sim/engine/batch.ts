/** The sequences that an engine decodes together, and the use of its KV cache. */
import { IndexedHeap } from '../../core/collections/heap.ts';
import type { EngineRequest } from './request.ts';

/** The sequences of one prompt. */
interface Siblings {
  running: number;
}

/** A request inside an engine. */
export interface Sequence {
  readonly request: EngineRequest;
  /** Number of the sequence, in the order of arrival at the engine. */
  readonly arrival: number;
  /** Tokens generated before the latest admission. */
  generated: number;
  /** An engine that prefills in chunks has sequences that neither wait nor run. */
  status: 'waiting' | 'prefilling' | 'running' | 'gone';
  /**
   * For a running sequence: tokens per sequence that the batch had generated when this sequence was admitted, and will have
   * generated when it is done.
   */
  admittedAt: number;
  finish: number;
  /** The sequences of its prompt, once it was looked at for admission; undefined for a prompt of its own. */
  siblings: Siblings | undefined;
  /** For a running sequence: its index in the heap by finish, and its neighbours by admission. */
  heapIndex: number;
  older: Sequence | undefined;
  newer: Sequence | undefined;
}

/** Makes a sequence that waits. */
export function newSequence(request: EngineRequest, arrival: number): Sequence {
  return {
    request,
    arrival,
    generated: request.generatedTokens ?? 0,
    status: 'waiting',
    admittedAt: 0,
    finish: 0,
    siblings: undefined,
    heapIndex: -1,
    older: undefined,
    newer: undefined,
  };
}

/** Returns the KV tokens that a waiting sequence needs before it can continue. */
export function contextOf(sequence: Sequence): number {
  return sequence.request.promptTokens + sequence.generated;
}

/** Possible error of a sum of expected tokens; without drafts, tokens are whole numbers. */
const rounding = 1e-6;

/** Converts a sum of expected tokens to whole tokens of a response. */
export function wholeTokens(request: EngineRequest, generated: number): number {
  return Math.min(request.responseTokens, Math.floor(generated + rounding));
}

/** The running batch. Joining and leaving take O(log n), and any number of steps O(1). */
export class Batch {
  /** Number of running sequences. */
  size = 0;
  /** Tokens in the KV cache; with drafts, in expectation. */
  contextTokens = 0;
  /** Tokens that a sequence has got which was always in the batch. */
  #progress = 0;
  #newest: Sequence | undefined;
  /** By the key of a prompt; those without a running sequence stay until the engine is empty. */
  readonly #siblings = new Map<string, Siblings>();
  readonly #byFinish = new IndexedHeap<Sequence>((a, b) => a.finish - b.finish || a.arrival - b.arrival);

  /** The sequence that was admitted last; `undefined` if the batch is empty. */
  get newest(): Sequence | undefined {
    return this.#newest;
  }

  /**
   * Returns the steps until the next sequence is done; `Infinity` if the batch is empty.
   *
   * @param tokensPerStep - tokens that a step gives every sequence, >= 1
   */
  stepsToFinish(tokensPerStep = 1): number {
    const first = this.#byFinish.peek();
    if (first === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(1, Math.ceil((first.finish - this.#progress - rounding) / tokensPerStep));
  }

  /** Returns the tokens that a sequence has generated, whether it is running or not; with drafts, in expectation. */
  generated(sequence: Sequence): number {
    return sequence.status === 'running'
      ? sequence.generated + this.#progress - sequence.admittedAt
      : sequence.generated;
  }

  /** Adds this many tokens to every sequence. */
  advance(tokens: number): void {
    this.#progress += tokens;
    this.contextTokens += tokens * this.size;
  }

  /** Returns the first sequence that is done, ordered by finish and then by arrival. */
  finished(): Sequence | undefined {
    const first = this.#byFinish.peek();
    return first !== undefined && first.finish <= this.#progress + rounding ? first : undefined;
  }

  /** Returns the tokens of a waiting sequence that a running one has computed: all of the same prompt, but not all of its context. */
  sharedTokens(sequence: Sequence): number {
    const { promptKey, promptTokens } = sequence.request;
    if (promptKey === undefined) return 0;
    sequence.siblings ??= this.#siblingsOf(promptKey);
    if (sequence.siblings.running === 0) return 0;
    return sequence.generated > 0 ? promptTokens : Math.max(0, promptTokens - 1);
  }

  /** Forgets prompts; only an engine without requests may do so. */
  forgetPrompts(): void {
    this.#siblings.clear();
  }

  /** Adds a sequence, which is then the newest. */
  join(sequence: Sequence): void {
    sequence.status = 'running';
    sequence.admittedAt = this.#progress;
    sequence.finish = this.#progress + sequence.request.responseTokens - sequence.generated;
    sequence.older = this.#newest;
    if (this.#newest !== undefined) this.#newest.newer = sequence;
    this.#newest = sequence;
    this.#byFinish.update(sequence);
    this.size += 1;
    this.contextTokens += contextOf(sequence);
    if (sequence.siblings !== undefined) sequence.siblings.running += 1;
  }

  /** Removes a sequence, frees its KV, and sets its next status. */
  leave(sequence: Sequence, status: 'waiting' | 'gone'): void {
    const generated = this.generated(sequence);
    this.contextTokens -= sequence.request.promptTokens + generated;
    sequence.generated = wholeTokens(sequence.request, generated);
    sequence.status = status;
    const { older, newer } = sequence;
    if (older !== undefined) older.newer = newer;
    if (newer !== undefined) newer.older = older;
    else this.#newest = older;
    sequence.older = undefined;
    sequence.newer = undefined;
    this.#byFinish.remove(sequence);
    this.size -= 1;
    if (sequence.siblings !== undefined) sequence.siblings.running -= 1;
    if (this.size > 0) return;
    // An empty batch has no rounding errors.
    this.#progress = 0;
    this.contextTokens = 0;
  }

  #siblingsOf(promptKey: string): Siblings {
    let siblings = this.#siblings.get(promptKey);
    if (siblings === undefined) {
      siblings = { running: 0 };
      this.#siblings.set(promptKey, siblings);
    }
    return siblings;
  }
}
