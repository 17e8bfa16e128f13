/** Requests that an engine has accepted, from their arrival until they are removed. */

import type { EngineContext } from '../engine-context.ts';
import { PausableDecode } from '../pausable-decode.ts';
import { Arrivals } from './arrivals.ts';
import type { Ending, Generation } from './generation.ts';

/** Selects the requests to abort. */
export type Matches = (generation: Generation) => boolean;

/** Sums of prompt tokens, cached prompt tokens, and response tokens. */
export interface TokenSums {
  promptTokens: number;
  cachedTokens: number;
  generatedTokens: number;
}

/** The requests of an engine, and the decode engine that runs them. */
export class Scheduler {
  /** The decode engine that generates. */
  readonly decode: PausableDecode;
  readonly #context: EngineContext;
  /** Requests that wait or run. */
  readonly #generations = new Map<string, Generation>();
  readonly #arrivals = new Arrivals();
  /** Requests that a pause has taken out of the batch, with their generated tokens. */
  #retracted: Generation[] = [];

  constructor(name: string, context: EngineContext) {
    this.#context = context;
    this.decode = new PausableDecode(name, context);
  }

  /** Number of requests that wait, run, or are on their way. */
  get size(): number {
    return this.#generations.size + this.#arrivals.size + this.#retracted.length;
  }

  /** All requests of the engine, in the order of their arrival. */
  *[Symbol.iterator](): Iterator<Generation> {
    yield* this.#generations.values();
    yield* this.#retracted;
    yield* this.#arrivals;
  }

  /** Returns the requests that run and wait, and the tokens in the KV cache. */
  load(): { running: number; waiting: number; waitingTokens: number; contextTokens: number } {
    const { running, waiting, contextTokens } = this.decode.load();
    let waitingTokens = 0;
    for (const { id, planned, count } of this) {
      if (!this.decode.isRunning(id)) waitingTokens += planned.promptTokens + count;
    }
    return {
      running,
      waiting: waiting + this.#arrivals.dueBy(this.#context.now()) + this.#retracted.length,
      waitingTokens,
      contextTokens,
    };
  }

  /** Returns the time of the next event; `Infinity` when idle. */
  nextAt(): number {
    return Math.min(this.#arrivals.nextAt(), this.decode.nextAt());
  }

  /** Adds a request, which reaches the waiting queue after `tokenizeSeconds`. */
  arrive(generation: Generation): void {
    this.#arrivals.push(generation, this.#context.now() + this.#context.options.tokenizeSeconds);
  }

  /** Takes in arrived requests, and yields the requests that have ended by now. */
  *advance(): Generator<{ generation: Generation; ending: Ending }> {
    this.#takeArrivals();
    for (const { requestId: id, kind, tokens } of this.decode.advance()) {
      const generation = this.#take(id, tokens);
      if (this.decode.cache !== undefined) {
        generation.planned.prefix.extend(generation);
        this.decode.cache.end(id);
      }
      yield { generation, ending: kind === 'aborted' ? 'abort' : generation.ending };
    }
  }

  /**
   * Removes and returns the matching requests that neither wait nor run: retracted ones and, with `all`, those that have not
   * arrived yet.
   */
  takeOutside(matches: Matches, reach: 'scheduler' | 'all'): Generation[] {
    this.#takeArrivals();
    const onTheirWay = reach === 'all' ? this.#arrivals.take(matches) : [];
    const retracted = this.#retracted.filter(matches);
    this.#retracted = this.#retracted.filter((one) => !matches(one));
    return [...retracted, ...onTheirWay];
  }

  /** Aborts the matching requests that wait or run. */
  abort(matches: Matches): void {
    for (const generation of [...this.#generations.values()].filter(matches)) {
      generation.abortedInQueue = !this.decode.isRunning(generation.id);
      this.decode.abort(generation.id);
    }
  }

  /** Takes all requests out of the batch until {@link resume}, which empties the KV cache. */
  retract(): void {
    this.#retracted.push(...this.#lose());
  }

  /** Adds the retracted requests again, which are then prefilled again. */
  resume(): void {
    const retracted = this.#retracted;
    this.#retracted = [];
    for (const generation of retracted) this.#add(generation, this.#context.now());
  }

  /** Removes and returns all requests. */
  takeAll(): Generation[] {
    const lost = [...this.#lose(), ...this.#retracted, ...this.#arrivals.takeAll()];
    this.#retracted = [];
    return lost;
  }

  /** Sends new tokens to the readers of streams. */
  tell(): void {
    const { streamInterval } = this.#context.options;
    let tokensAt: ((id: string) => number | undefined) | undefined;
    for (const generation of this.#generations.values()) {
      const { progress } = generation.listener;
      if (progress === undefined) continue;
      tokensAt ??= this.decode.tokens();
      const whole = Math.floor(tokensAt(generation.id)! / streamInterval) * streamInterval;
      if (whole <= generation.told) continue;
      generation.count = whole;
      generation.cachedTokens = this.decode.cache?.cachedTokens(generation.id) ?? 0;
      progress(generation);
      generation.told = whole;
    }
  }

  /** Returns token sums for unfinished responses: prompts of responses that have begun, and generated tokens. */
  tokensUnderWay(): TokenSums {
    const tokensAt = this.decode.tokens();
    const sum = { promptTokens: 0, cachedTokens: 0, generatedTokens: 0 };
    for (const { id, planned } of this.#generations.values()) {
      const tokens = tokensAt(id) ?? 0;
      if (tokens === 0) continue;
      sum.promptTokens += planned.promptTokens;
      sum.cachedTokens += this.decode.cache?.cachedTokens(id) ?? 0;
      sum.generatedTokens += tokens;
    }
    return sum;
  }

  /** Tells the responses that have tokens that the weights change. */
  weightsChange(oldVersion: string): void {
    const tokensAt = this.decode.tokens();
    for (const one of this.#generations.values()) one.weightsChange(oldVersion, tokensAt(one.id) ?? 0);
    for (const one of this.#retracted) one.weightsChange(oldVersion, one.count);
  }

  #takeArrivals(): void {
    for (const { at, generation } of this.#arrivals.takeDue(this.#context.now())) this.#add(generation, at);
  }

  #add(generation: Generation, at: number): void {
    const { id, planned, tokens, priority, count } = generation;
    this.#generations.set(id, generation);
    this.decode.cache?.expect(id, planned.prefix, planned.promptTokens);
    const request = { requestId: id, promptTokens: planned.promptTokens, responseTokens: tokens, priority };
    this.decode.add(count === 0 ? request : { ...request, generatedTokens: count }, at);
  }

  #take(id: string, tokens: number): Generation {
    const generation = this.#generations.get(id)!;
    this.#generations.delete(id);
    generation.count = tokens;
    generation.cachedTokens = this.decode.cache?.cachedTokens(id) ?? 0;
    return generation;
  }

  /** Removes and returns all requests of the decode engine, with their generated tokens. */
  #lose(): Generation[] {
    return this.decode.lose().map(({ requestId, tokens }) => {
      const generation = this.#take(requestId, tokens);
      this.decode.cache?.drop(requestId);
      return generation;
    });
  }
}
