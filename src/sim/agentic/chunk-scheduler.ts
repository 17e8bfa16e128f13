/**
 * Prefill in chunks, with contexts that turns share. What decides at a boundary is as in `engine/decode-engine.ts`, but:
 *
 * - The context of a turn that leaves stays in the prefix cache. What is evicted of the context of a preempted turn is computed
 *   again.
 * - Turns are admitted while what their contexts add to those of running turns, and one more token, fits under the watermark.
 * - A step computes at most `chunkTokens` tokens: one for every sequence that decodes, and what remains of the admitted contexts
 *   that is not cached, in the order of admission. Its two parts take the sum of their times. A turn decodes from the step on in
 *   which its context is complete.
 *
 * With a chunk that is never full, and without shared contexts, every turn ends when it would end in the other engine
 * (`test/property/agentic-engine.test.ts`).
 */
import { Batch, contextOf, type Sequence } from '../engine/batch.ts';
import { noStretch, type Plan, type StepScheduler } from '../engine/step-scheduler.ts';
import { type Stretch, stretchSeconds } from '../engine/step-time.ts';
import { WaitingQueue } from '../engine/waiting-queue.ts';
import { baseSeconds, type CostModel } from '../models/cost-model.ts';
import { type CachedNode, type ContextNode, PrefixCache } from './prefix-cache.ts';

/** Settings of an engine beside its costs. */
export interface ChunkOptions {
  readonly chunkTokens: number;
  readonly prefixCache: boolean;
}

interface Turn {
  readonly context: readonly ContextNode[];
  nodes: readonly CachedNode[];
  /** Whether prefill has begun since the latest admission. */
  begun: boolean;
  /** Tokens found in the cache at the first run; -1 before. */
  found: number;
}

/** Computes contexts in chunks, beside the batch that decodes. */
export class ChunkScheduler implements StepScheduler {
  readonly batch = new Batch();
  readonly waiting = new WaitingQueue();
  readonly drafting = undefined;
  readonly cache: PrefixCache;
  pace = 1;
  kvCapacityTokens: number;
  /** Context tokens that were computed, including recomputation after preemptions. */
  prefilledTokens = 0;
  readonly #cost: CostModel;
  readonly #options: ChunkOptions;
  readonly #turns = new Map<string, Turn>();
  /** Admitted sequences with incomplete contexts, in the order of admission. */
  readonly #prefilling: Sequence[] = [];
  /** Of these, the first ones whose contexts are complete at the end of the plan. */
  #ready = 0;
  /** Tokens that were prefilled since the last step of decoding. */
  #chunk = 0;

  constructor(cost: CostModel, options: ChunkOptions) {
    this.#cost = cost;
    this.#options = options;
    this.kvCapacityTokens = cost.kvCapacityTokens;
    this.cache = new PrefixCache(options.prefixCache);
  }

  /** Tells the context of a turn that was added. */
  setContext(requestId: string, context: readonly ContextNode[]): void {
    this.#turns.set(requestId, { context, nodes: [], begun: false, found: -1 });
  }

  /** Forgets a turn that has ended; returns the tokens of its context that were in the cache when it first ran. */
  forget(requestId: string): number {
    const { found } = this.#turns.get(requestId)!;
    this.#turns.delete(requestId);
    return found;
  }

  /** Drops the cache. */
  drop(): void {
    this.#chunk = 0;
    this.cache.fit(0);
  }

  hasQueue(): boolean {
    return this.waiting.first() !== undefined;
  }

  plan(): Plan | undefined {
    this.#ready = 0;
    const preemptions = this.#preempt();
    if (preemptions === 0) this.#admit();
    const { size } = this.batch;
    const { chunkTokens } = this.#options;
    const room = size === 0 ? chunkTokens : chunkTokens - size - this.#chunk;
    return this.#prefilling.length > 0 && room > 0 ? this.#prefill(room, preemptions) : this.#decode(preemptions);
  }

  advance(_plan: Plan, steps: number): void {
    this.batch.advance(steps);
    this.cache.pinnedTokens += steps * this.batch.size;
    this.cache.fit(this.kvCapacityTokens);
  }

  endPrefill(): void {
    for (const sequence of this.#prefilling.splice(0, this.#ready)) this.batch.join(sequence);
  }

  remove(sequence: Sequence): void {
    if (sequence.status === 'waiting') sequence.status = 'gone';
    else this.#leave(sequence, 'gone');
  }

  #planned(seconds: number, steps: number, stretch: Stretch, preemptions: number): Plan {
    return { seconds, steps, stretch, draftTokens: 0, tokensPerStep: 1, preemptions, recomputedTokens: 0 };
  }

  /** Preempts the newest sequences until the next step fits; returns how many. */
  #preempt(): number {
    const { batch, cache } = this;
    let preempted = 0;
    while (batch.size + this.#prefilling.length > 1 && cache.pinnedTokens + batch.size > this.kvCapacityTokens) {
      const victim = this.#prefilling[this.#prefilling.length - 1] ?? batch.newest!;
      this.#leave(victim, 'waiting');
      this.waiting.pushFront(victim);
      preempted += 1;
    }
    return preempted;
  }

  /** Admits sequences that fit. */
  #admit(): void {
    const { cache, waiting } = this;
    const { maxRunningSequences, watermark } = this.#cost;
    const limit = this.kvCapacityTokens * (1 - watermark);
    for (let next = waiting.first(); next !== undefined; next = waiting.first()) {
      const size = this.batch.size + this.#prefilling.length;
      if (size >= maxRunningSequences) break;
      const turn = this.#turnOf(next);
      const context = contextPartsOf(turn, next);
      // An empty engine needs no watermark.
      if (size > 0 && cache.pinnedTokens + cache.missing(context) + 1 > limit) break;
      waiting.shift();
      turn.nodes = cache.pin(context);
      turn.begun = false;
      next.status = 'prefilling';
      this.#prefilling.push(next);
    }
    cache.fit(this.kvCapacityTokens);
  }

  /** Computes contexts in order, up to so many tokens. */
  #prefill(room: number, preemptions: number): Plan {
    let left = room;
    for (const sequence of this.#prefilling) {
      const turn = this.#turnOf(sequence);
      left -= this.#compute(sequence, turn, left);
      if (turn.nodes.some((node) => node.resident < node.tokens)) break;
      this.#ready += 1;
      if (left === 0) break;
    }
    const tokens = room - left;
    this.#chunk += tokens;
    this.prefilledTokens += tokens;
    return this.#planned(this.pace * tokens * this.#cost.prefillSecondsPerToken, 0, noStretch, preemptions);
  }

  /** Computes up to so many context tokens of a sequence; returns the number computed. */
  #compute(sequence: Sequence, turn: Turn, most: number): number {
    let tokens = 0;
    if (!turn.begun) {
      turn.begun = true;
      const missing = turn.nodes.reduce((sum, node) => sum + node.tokens - node.resident, 0);
      const context = contextOf(sequence);
      // The last token is always computed, because its logits are not in the cache.
      if (missing === 0 && context > 0) tokens = 1;
      if (turn.found < 0) turn.found = context - missing - tokens;
    }
    for (const node of turn.nodes) {
      const some = Math.min(most - tokens, node.tokens - node.resident);
      node.resident += some;
      tokens += some;
    }
    return tokens;
  }

  #decode(preemptions: number): Plan | undefined {
    const { size, contextTokens } = this.batch;
    if (size === 0) return undefined;
    const secondsPerContextToken = this.pace * this.#cost.secondsPerContextToken;
    const stretch = {
      firstSeconds: this.pace * baseSeconds(this.#cost, size) + secondsPerContextToken * contextTokens,
      growthSeconds: secondsPerContextToken * size,
    };
    this.#chunk = 0;
    const free = this.kvCapacityTokens - this.cache.pinnedTokens;
    const untilFull = size === 1 ? Infinity : Math.floor(free / size);
    const steps = this.#prefilling.length > 0 ? 1 : Math.min(this.batch.stepsToFinish(), untilFull);
    return this.#planned(stretchSeconds(stretch, steps), steps, stretch, preemptions);
  }

  /** Removes an admitted sequence, and unpins its context. */
  #leave(sequence: Sequence, status: 'waiting' | 'gone'): void {
    const { nodes } = this.#turnOf(sequence);
    if (sequence.status === 'prefilling') {
      this.#prefilling.splice(this.#prefilling.indexOf(sequence), 1);
      sequence.status = status;
    } else {
      const before = sequence.generated;
      this.batch.leave(sequence, status);
      // The steps have pinned these tokens already.
      this.cache.pinnedTokens -= sequence.generated - before;
      this.cache.grow(nodes[nodes.length - 1]!, sequence.generated - before);
    }
    this.cache.unpin(nodes);
  }

  #turnOf(sequence: Sequence): Turn {
    return this.#turns.get(sequence.request.requestId)!;
  }
}

/** Returns the context of a sequence, including generated tokens in its own node. */
function contextPartsOf({ context }: Turn, { generated }: Sequence): readonly ContextNode[] {
  if (generated === 0) return context;
  const { key, tokens } = context[context.length - 1]!;
  return [...context.slice(0, -1), { key, tokens: tokens + generated }];
}
