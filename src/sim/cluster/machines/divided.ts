/**
 * Inference engines whose requests come in chunks. A context stays on its engine, in the free part of the KV cache; on another
 * engine it is computed again, or loaded from a KV cache that engines share.
 */

import { Heap } from '../../../core/collections/heap.ts';
import type { AnyEvent } from '../../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../../schemas/decisions/index.ts';
import type { EngineRequest, Outcome } from '../../engine/decode-engine.ts';
import type { EnginePool } from '../engines/engine-pool.ts';
import type { PromptSource } from '../source.ts';
import { InferenceMachine } from './inference.ts';

/** Costs of chunks for the simulated host. */
export interface ChunkCosts {
  /** Seconds between two chunks, in which the response does not run. */
  readonly chunkSeconds: number;
  /** Tokens that an engine loads in a second from a KV cache that engines share; absent: there is none. */
  readonly poolTokensPerSecond?: number | undefined;
}

interface Coming {
  readonly at: number;
  readonly order: number;
  readonly engineId: string;
  readonly request: EngineRequest;
  readonly isLoaded: boolean;
}

/** Engines that generate the samples of a prompt source in chunks. */
export class DividedInference extends InferenceMachine {
  readonly #costs: ChunkCosts;
  /** Requests that were launched at the same time and ask for engines. */
  #asking: { readonly at: number; readonly requestId: string }[] = [];
  /** Aborted requests without a chunk on an engine. */
  #aborted: { readonly at: number; readonly requestId: string }[] = [];
  /** Chunks on their way to engines. */
  readonly #coming = new Heap<Coming>((a, b) => a.at - b.at || a.order - b.order);
  #order = 0;
  /** Tokens of each response so far, and the engine of its latest chunk. */
  readonly #responses = new Map<string, { tokens: number; engineId: string | undefined; runs: boolean }>();

  constructor(pool: EnginePool, source: PromptSource, costs: ChunkCosts) {
    super(pool, source);
    this.#costs = costs;
  }

  override carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'request.launch': {
        const { requestId, promptId, index } = decision;
        this.source.draw(requestId, promptId, index);
        this.#responses.set(requestId, { tokens: 0, engineId: undefined, runs: false });
        this.#asking.push({ at, requestId });
        return this.record!.started();
      }
      case 'chunk.continue':
        return this.#continue(decision, at);
      case 'request.abort':
        if (this.#responses.get(decision.requestId)?.runs === false) this.#aborted.push({ ...decision, at });
        else super.carryOut(decision, at);
    }
  }

  #continue(decision: Extract<VocabularyDecision, { type: 'chunk.continue' }>, at: number): void {
    const { requestId, engineId, fromTokens, tokens } = decision;
    const response = this.#responses.get(requestId);
    if (response === undefined) return;
    const { promptId, promptTokens, tokens: responseTokens } = this.source.drawn(requestId)!;
    const contextTokens = promptTokens + fromTokens;
    const { chunkSeconds, poolTokensPerSecond } = this.#costs;
    const isMoved = response.engineId !== undefined && response.engineId !== engineId;
    const isLoaded = isMoved && poolTokensPerSecond !== undefined;
    const loading = isLoaded ? contextTokens / poolTokensPerSecond : 0;
    const goesOn = fromTokens > 0 ? chunkSeconds : 0;
    const end = Math.min(responseTokens, fromTokens + tokens);
    const request = {
      requestId,
      promptKey: promptId,
      promptTokens,
      responseTokens: end,
      generatedTokens: fromTokens,
    };
    Object.assign(response, { engineId, runs: true });
    this.#coming.push({ at: at + goesOn + loading, order: this.#order++, engineId, request, isLoaded });
  }

  override nextAt(): number {
    const asked = this.#asking[0]?.at ?? this.#aborted[0]?.at ?? Infinity;
    return Math.min(asked, this.#coming.peek()?.at ?? Infinity, this.pool.nextEventAt());
  }

  override advanceTo(at: number): AnyEvent[] {
    for (let next = this.#coming.peek(); next !== undefined && next.at <= at; next = this.#coming.peek()) {
      this.#coming.pop();
      const { engineId, request, isLoaded } = next;
      if (this.aborting.has(request.requestId)) {
        this.#aborted.push({ at, requestId: request.requestId });
        continue;
      }
      if (isLoaded) this.pool.keep(engineId, request.requestId, request.promptTokens + request.generatedTokens!);
      this.pool.launch(request, engineId, next.at);
    }
    const events = super.advanceTo(at);
    for (const { requestId } of this.#aborted.splice(0)) {
      const { tokens } = this.#responses.get(requestId)!;
      events.push(this.report({ requestId, kind: 'aborted', at, tokens }, at));
    }
    const requests = this.#asking.splice(0).map(({ requestId }) => {
      const { promptTokens } = this.source.drawn(requestId)!;
      return { requestId, promptTokens };
    });
    if (requests.length > 0) events.push({ type: 'chunks.requested', at, requests } as AnyEvent);
    return events;
  }

  protected override report(outcome: Outcome, at: number): AnyEvent {
    const { requestId, kind, tokens } = outcome;
    const drawn = this.source.drawn(requestId)!;
    const response = this.#responses.get(requestId)!;
    const { engineId } = response;
    if (kind === 'completed' && tokens < drawn.tokens) {
      Object.assign(response, { tokens, runs: false });
      this.pool.keep(engineId!, requestId, drawn.promptTokens + tokens);
      return { type: 'chunk.finished', at, requestId, tokens } as AnyEvent;
    }
    this.#responses.delete(requestId);
    if (engineId !== undefined) this.pool.forget(engineId, requestId);
    return super.report(outcome, at);
  }
}
