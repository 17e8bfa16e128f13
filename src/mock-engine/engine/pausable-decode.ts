/** The decode engine of the simulator on its own clock, which stops while the engine is paused or hangs. */
import type { DecodeMoments } from '../../sim/engine/counters.ts';
import {
  DecodeEngine,
  type EngineLoad,
  type EngineRequest,
  type LostRequest,
  type Outcome,
} from '../../sim/engine/decode-engine.ts';
import type { EngineContext } from './engine-context.ts';
import { FrozenClock } from './frozen-clock.ts';
import { BlockCache } from './prompts/prefix-cache.ts';

/** A decode engine that can be stopped. All times are simulated times of the cluster. */
export class PausableDecode {
  readonly #name: string;
  readonly #context: Pick<EngineContext, 'cost' | 'options' | 'now'>;
  readonly #clock = new FrozenClock();
  /** Blocks kept from earlier requests; `undefined` without a prefix cache. */
  cache: BlockCache | undefined;
  #engine: DecodeEngine;
  /** Tokens that fit into the KV cache. */
  kvCapacityTokens: number;

  constructor(name: string, context: Pick<EngineContext, 'cost' | 'options' | 'now'>) {
    this.#name = name;
    this.#context = context;
    this.kvCapacityTokens = context.cost.kvCapacityTokens;
    this.#engine = this.#newEngine();
  }

  /** Counters; a restart resets them. */
  get work(): Pick<DecodeEngine, 'busySeconds' | 'decodeSteps' | 'preemptions' | 'recomputedTokens'> {
    return this.#engine;
  }

  /** Offered and accepted drafts, by position; a restart resets them. */
  get seenDrafts(): DecodeEngine['seenDrafts'] {
    return this.#engine.seenDrafts;
  }

  get isFrozen(): boolean {
    return this.#clock.isFrozen;
  }

  /** Sums over decode steps, in simulated seconds; a restart resets them. */
  moments(): DecodeMoments {
    return this.#engine.momentsAt(this.#own);
  }

  load(): EngineLoad {
    return this.#engine.load(this.#own);
  }

  /** Returns a function that gives the generated tokens of a request. */
  tokens(): (id: string) => number | undefined {
    return this.#engine.tokensAt(this.#own);
  }

  isRunning(id: string): boolean {
    return this.#engine.isRunning(id);
  }

  /** Adds a request that arrived at a time, now or earlier. */
  add(request: EngineRequest, at: number): void {
    this.#engine.add(request, this.#clock.own(at));
  }

  abort(id: string): void {
    this.#engine.abort(id, this.#own);
  }

  /** Removes and returns all requests, with their generated tokens. */
  lose(): LostRequest[] {
    return this.#engine.lose(this.#own);
  }

  /** Returns the responses that have ended by now. */
  advance(): Outcome[] {
    return this.#engine.advanceTo(this.#own);
  }

  /** Returns the time of the next event; `Infinity` when idle or stopped. */
  nextAt(): number {
    return this.#clock.moment(this.#engine.nextEventAt());
  }

  /** Returns the end of the running step, or the current time without one. */
  boundaryAt(): number {
    return this.isFrozen ? this.#context.now() : this.#clock.moment(this.#engine.boundaryAfter(this.#own));
  }

  freeze(reason: string): void {
    this.#clock.freeze(reason, this.#context.now());
  }

  thaw(reason: string): void {
    this.#clock.thaw(reason, this.#context.now());
  }

  slow(factor: number): void {
    this.#engine.setPace(factor, this.#own);
  }

  shrink(tokens: number): void {
    this.kvCapacityTokens = tokens;
    this.#engine.setKvCapacity(tokens, this.#own);
  }

  /** Restarts the decode engine, with its initial KV capacity. */
  restart(): void {
    this.kvCapacityTokens = this.#context.cost.kvCapacityTokens;
    this.#engine = this.#newEngine();
  }

  /** The engine's own time, including a boundary that is due now: a clock that was stopped has rounding errors. */
  get #own(): number {
    const now = this.#context.now();
    const own = this.#clock.own(now);
    const next = this.#engine.nextEventAt();
    return this.#clock.moment(next) <= now ? Math.max(own, next) : own;
  }

  #newEngine(): DecodeEngine {
    const { cost, options } = this.#context;
    this.cache = options.prefixCaching ? new BlockCache() : undefined;
    const cache = this.cache === undefined ? {} : { cache: this.cache };
    return new DecodeEngine(this.#name, cost, { scheduling: options.scheduling, ...cache });
  }
}
