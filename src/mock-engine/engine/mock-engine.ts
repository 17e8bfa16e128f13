/**
 * One engine without a GPU: a scheduler with the decode engine of the simulator, and the behaviour of a real server around it.
 * Aborts take effect some time after they arrive; generation can be paused, weights change, and the engine may crash.
 *
 * An engine knows simulated time only. Requests of the same time are ordered by priority and id, so that the order in which
 * connections are read does not matter.
 */

import type { DecodeMoments } from '../../sim/engine/counters.ts';
import type { EngineContext } from './engine-context.ts';
import type { PausableDecode } from './pausable-decode.ts';
import { Counts } from './requests/counts.ts';
import { Gate } from './requests/gate.ts';
import type { Ending, Generation } from './requests/generation.ts';
import { type Matches, Scheduler, type TokenSums } from './requests/scheduler.ts';

/** The load of an engine. */
export interface MockLoad {
  /** Requests in the batch. */
  readonly running: number;
  /** Requests that wait at the scheduler or are on their way to it. */
  readonly waiting: number;
  /** Tokens of the requests that wait at the scheduler. */
  readonly waitingTokens: number;
  /** Requests held before the scheduler because generation is paused or weights are updated. */
  readonly held: number;
  /** Tokens in the KV cache, and how many fit. */
  readonly usedTokens: number;
  /** Tokens that fit the KV cache. */
  readonly kvCapacityTokens: number;
  /** Prefix cache tokens kept for possible later requests; they make room when others need it. */
  readonly idleTokens: number;
}

/** Weight version before a client sets one. */
const firstWeights = 'default';

/** A simulated inference engine. */
export class MockEngine {
  /** Index of the engine, from 0. */
  readonly number: number;
  /** Requests and tokens since the engine was made; a crash does not reset them. */
  readonly counts = new Counts();
  /** Whether the engine runs: false between a crash and a restart. */
  isUp = true;
  /** Whether a client has begun to send new weights, and has not finished (vLLM). */
  isUpdating = false;
  /** Number of requests whose next abort is ignored. */
  abortsToIgnore = 0;
  readonly #context: EngineContext;
  readonly #scheduler: Scheduler;
  readonly #decode: PausableDecode;
  readonly #gate = new Gate();
  #idle: (() => void)[] = [];
  /** Reasons to stop as soon as the running step is over. */
  readonly #freezing = new Set<string>();
  #hangs = false;
  #weightVersion = firstWeights;
  /** Number of crashes so far. */
  #life = 0;

  constructor(number: number, context: EngineContext) {
    this.number = number;
    this.#context = context;
    this.#scheduler = new Scheduler(`engine-${number}`, context);
    this.#decode = this.#scheduler.decode;
  }

  /** Counters of the decode engine: busy seconds, steps, preemptions. A restart resets them. */
  get work(): PausableDecode['work'] {
    return this.#decode.work;
  }

  /** Offered and accepted drafts, by position and in expectation. A restart resets them. */
  get seenDrafts(): PausableDecode['seenDrafts'] {
    return this.#decode.seenDrafts;
  }

  /** Weight version, as last updated. */
  get weightVersion(): string {
    return this.#weightVersion;
  }

  /** Changes the version: later tokens have the new version. */
  set weightVersion(version: string) {
    this.#scheduler.weightsChange(this.#weightVersion);
    this.#weightVersion = version;
  }

  /** Whether a fault lets the engine accept requests without processing them. */
  get isHanging(): boolean {
    return this.#hangs;
  }

  /** Whether a listener reads a stream for one of the engine's requests. */
  get streams(): boolean {
    return this.counts.streams > 0;
  }

  /** Number of requests at the scheduler or on their way to it. */
  get size(): number {
    return this.#scheduler.size;
  }

  /** Returns the sums over decode steps, in simulated seconds; a restart resets them. */
  decodeMoments(): DecodeMoments {
    return this.#decode.moments();
  }

  /** Returns the load: running and waiting requests, and the tokens in the KV cache. */
  load(): MockLoad {
    const { running, waiting, waitingTokens, contextTokens } = this.#scheduler.load();
    return {
      running,
      waiting,
      waitingTokens,
      held: this.#gate.held.length,
      usedTokens: contextTokens,
      kvCapacityTokens: this.#decode.kvCapacityTokens,
      idleTokens: this.#decode.cache?.idleTokens ?? 0,
    };
  }

  /** Returns the tokens of prompts and responses since the engine was made, with those of requests under way. @internal */
  tokensSoFar(): TokenSums {
    const { promptTokens, cachedTokens, generatedTokens } = this.#scheduler.tokensUnderWay();
    const { completedTokens, abortedTokens, lostTokens } = this.counts;
    return {
      promptTokens: this.counts.promptTokens + promptTokens,
      cachedTokens: this.counts.cachedTokens + cachedTokens,
      generatedTokens: completedTokens + abortedTokens + lostTokens + generatedTokens,
    };
  }

  /** Whether the engine has or holds back a request with this id. */
  has(requestId: string): boolean {
    return this.counts.has(requestId);
  }

  /** Ids of all requests of the engine, in the order of their arrival. */
  get requestIds(): string[] {
    return [...this.#scheduler, ...this.#gate.held].map((one) => one.requestId);
  }

  /** Accepts a request. */
  submit(generation: Generation): void {
    this.counts.accept(generation);
    if (this.#gate.isClosed) this.#gate.hold(generation);
    else this.#scheduler.arrive(generation);
  }

  /**
   * Aborts requests, once the scheduler receives the abort. Requests that have ended by then are not affected.
   *
   * @param reach - `scheduler`: requests that have not reached the scheduler by then are not aborted; `all`: all matching requests
   *   are
   */
  abort(matches: Matches, reach: 'scheduler' | 'all'): void {
    if (this.abortsToIgnore > 0) {
      this.abortsToIgnore -= 1;
      return;
    }
    this.abortAfter(this.#context.options.abortLagSeconds, matches, reach);
  }

  /** Aborts requests this many seconds later, even while the engine ignores aborts, because their client has disconnected. */
  abortAfter(seconds: number, matches: Matches, reach: 'scheduler' | 'all'): void {
    const apply = () => this.#abort(matches, reach);
    if (seconds > 0) this.after(seconds, apply);
    else apply();
  }

  /** Runs an action so many seconds later, unless the engine crashes first. */
  after(seconds: number, run: () => void): void {
    const life = this.#life;
    this.#context.agenda.at(this.#now + seconds, () => {
      if (this.isUp && life === this.#life) run();
    });
  }

  /** Closes the gate for a reason; new requests wait. */
  close(gate: string): void {
    this.#gate.close(gate);
  }

  /** Removes a reason to close the gate. */
  open(gate: string): void {
    for (const generation of this.#gate.open(gate)) this.#scheduler.arrive(generation);
  }

  /** Returns a unique name for a reason to close the gate. */
  newGate(reason: string): string {
    return this.#gate.newReason(reason);
  }

  /** Whether the gate is closed for this reason. */
  isClosedBy(gate: string): boolean {
    return this.#gate.isClosedBy(gate);
  }

  /** Calls back as soon as the engine has no request, perhaps at once. */
  whenIdle(callback: () => void): void {
    if (this.size === 0) callback();
    else this.#idle.push(callback);
  }

  /** Stops at the end of the running step, then calls back. Requests stay in place. */
  freeze(reason: string, callback: () => void): void {
    this.#freezing.add(reason);
    const stop = () => {
      // The engine may have been resumed before the step ended.
      if (this.#freezing.delete(reason)) this.#decode.freeze(reason);
      callback();
    };
    const at = this.#decode.boundaryAt();
    if (at > this.#now) this.after(at - this.#now, stop);
    else stop();
  }

  /** Removes a reason to stop. Retracted requests are prefilled again. */
  thaw(reason: string): void {
    this.#freezing.delete(reason);
    this.#decode.thaw(reason);
    if (!this.#decode.isFrozen) this.#scheduler.resume();
  }

  /** Takes all requests out of the batch until {@link thaw}, which empties the KV cache. */
  retract(): void {
    this.advance();
    this.#scheduler.retract();
  }

  /** Empties the prefix cache, except blocks of running requests. */
  forgetPrefixes(): void {
    this.#decode.cache?.clear();
  }

  /** Makes the engine hang: it accepts connections but processes nothing. */
  hang(): void {
    this.#hangs = true;
    this.#decode.freeze('hang');
  }

  /** Continues after {@link hang}. */
  unhang(): void {
    this.#hangs = false;
    this.#decode.thaw('hang');
  }

  /** Slows the engine down by this factor from now on, > 0. */
  slow(factor: number): void {
    this.#decode.slow(factor);
  }

  /** Limits the KV cache to this many tokens from now on; requests that no longer fit are retracted. */
  shrink(tokens: number): void {
    this.#decode.shrink(tokens);
  }

  /** Crashes the engine, which loses all its requests. */
  crash(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#life += 1;
    this.#freezing.clear();
    this.advance();
    const lost = this.#scheduler.takeAll();
    for (const reason of this.#gate.reasons) this.#decode.thaw(reason);
    lost.push(...this.#gate.clear());
    this.#idle = [];
    for (const generation of lost) this.#end(generation, 'lost');
  }

  /** Restarts the engine, without requests and with its first weights. */
  restart(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.unhang();
    this.weightVersion = firstWeights;
    this.isUpdating = false;
    this.abortsToIgnore = 0;
    this.#decode.restart();
  }

  /** Returns the time of the next event; `Infinity` when idle. */
  nextAt(): number {
    return this.#scheduler.nextAt();
  }

  /** Processes everything that has happened by now. */
  advance(): void {
    for (const { generation, ending } of this.#scheduler.advance()) this.#end(generation, ending);
    if (this.size > 0 || this.#idle.length === 0) return;
    for (const callback of this.#idle.splice(0)) callback();
  }

  /** Sends new tokens to the readers of streams. */
  tell(): void {
    if (this.streams) this.#scheduler.tell();
  }

  get #now(): number {
    return this.#context.now();
  }

  #abort(matches: Matches, reach: 'scheduler' | 'all'): void {
    const outside = this.#scheduler.takeOutside(matches, reach);
    if (reach === 'all') outside.push(...this.#gate.take(matches));
    for (const generation of outside) {
      generation.abortedInQueue = true;
      this.#end(generation, 'abort');
    }
    this.#scheduler.abort(matches);
    this.advance();
  }

  #end(generation: Generation, ending: Ending): void {
    generation.ended = ending;
    generation.endedAt = this.#now;
    this.counts.end(generation, ending);
    if (ending === 'abort' || ending === 'length') {
      this.#context.book.cutShort(generation.prompt, generation.planned, generation);
    }
    generation.listener.ended(generation);
  }
}
