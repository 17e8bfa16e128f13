/** An inference engine for turns: chunked prefill and a prefix cache (`chunk-scheduler.ts`). */
import { Engine } from '../engine/engine.ts';
import type { EngineLoad, LostRequest, Outcome } from '../engine/request.ts';
import type { CostModel } from '../models/cost-model.ts';
import { type ChunkOptions, ChunkScheduler } from './chunk-scheduler.ts';
import type { ContextNode, PrefixCache } from './prefix-cache.ts';

/** A turn from the engine's point of view. */
export interface EngineTurn {
  /** Id of the program, which has one turn at a time. */
  readonly requestId: string;
  /** Context of the turn. The last node is the program's own, which the turn extends. */
  readonly context: readonly ContextNode[];
  /** Tokens to generate, a whole number >= 1. */
  readonly generatedTokens: number;
}

/** The end of a turn. */
export interface TurnOutcome extends Outcome {
  /** Tokens of the context that were in the prefix cache when the turn first ran. */
  readonly cachedTokens: number;
}

/** The load that an engine reports. */
export interface TurnEngineLoad extends Pick<EngineLoad, 'running' | 'waiting'> {
  readonly kvUsedTokens: number;
  readonly cachedTokens: number;
}

const none: TurnOutcome[] = [];

/** An engine for turns, in simulated time. */
export class TurnEngine extends Engine {
  readonly #scheduler: ChunkScheduler;
  readonly #sharesContexts: boolean;

  constructor(engineId: string, cost: CostModel, options: ChunkOptions) {
    const scheduler = new ChunkScheduler(cost, options);
    super(engineId, cost, scheduler, false);
    this.#scheduler = scheduler;
    this.#sharesContexts = options.prefixCache;
  }

  get cache(): PrefixCache {
    return this.#scheduler.cache;
  }

  /** Context tokens that were computed, including recomputation after preemptions. */
  get prefilledTokens(): number {
    return this.#scheduler.prefilledTokens;
  }

  /** Adds a turn. Throws as `add` does; a program has one turn at a time. */
  addTurn({ requestId, context, generatedTokens: responseTokens }: EngineTurn, at: number): void {
    const promptTokens = context.reduce((sum, { tokens }) => sum + tokens, 0);
    this.add({ requestId, promptTokens, responseTokens }, at);
    this.#scheduler.setContext(requestId, this.#sharesContexts ? context : [{ key: requestId, tokens: promptTokens }]);
  }

  /** Drops all turns and the cache, as in a crash. */
  override lose(at: number): LostRequest[] {
    const lost = super.lose(at);
    for (const { requestId } of lost) this.#scheduler.forget(requestId);
    this.#scheduler.drop();
    return lost;
  }

  /** Returns the load with all tokens that turns hold, and those that nobody holds. */
  report(at: number): TurnEngineLoad {
    const { running, waiting, contextTokens } = this.load(at);
    const { batch, cache } = this.#scheduler;
    // The cache gets the tokens of a stretch at its end.
    const kvUsedTokens = cache.pinnedTokens + contextTokens - batch.contextTokens;
    const cachedTokens = Math.min(cache.cachedTokens, this.cost.kvCapacityTokens - kvUsedTokens);
    return { running, waiting, kvUsedTokens, cachedTokens };
  }

  override advanceTo(at: number): TurnOutcome[] {
    const ended = super.advanceTo(at);
    // At most times nothing has ended, and this is asked of every engine.
    if (ended.length === 0) return none;
    return ended.map(({ requestId, kind, at, tokens }) => {
      return { requestId, kind, at, tokens, cachedTokens: this.#scheduler.forget(requestId) };
    });
  }
}
