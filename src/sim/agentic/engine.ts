/**
 * An inference engine for turns: continuous batching with chunked prefill and a prefix cache. Steps take what the engine of all
 * other simulations says (`engine/decode-engine.ts`), and its rules of admission and preemption are the same:
 *
 * 1. Turns that have all their tokens leave; their context stays in the prefix cache.
 * 2. If the next token of every sequence does not fit beside the contexts of running turns, the newest one is preempted until it
 *    does. Its tokens are kept, it waits in front, and what is evicted of its context meanwhile is computed again.
 * 3. If none was preempted, waiting turns are admitted, first come, first served, while the batch has room, and while what their
 *    contexts add to those of running turns, and one more token, fits under the watermark.
 * 4. A step computes at most `chunkTokens` tokens: one for every sequence that decodes, and what remains of the admitted contexts
 *    that is not cached, in the order of admission. Its two parts take the sum of their times. A turn decodes from the step on in
 *    which its context is complete.
 *
 * With a chunk that is never full, and without shared contexts, every turn ends when it would end in the other engine
 * (`test/unit/sim/agentic/engine.test.ts`).
 */
import { refuse } from '../../errors.ts';
import { Batch, contextOf, type Sequence } from '../engine/batch.ts';
import type { Plan } from '../engine/batch-scheduler.ts';
import { EngineCounters } from '../engine/counters.ts';
import { checkRequest, checkTime } from '../engine/request.ts';
import { type Stretch, stepsUntil, stretchSeconds } from '../engine/step-time.ts';
import { WaitingQueue } from '../engine/waiting-queue.ts';
import { baseSeconds, type CostModel } from '../models/cost-model.ts';
import { type CachedNode, type ContextNode, PrefixCache } from './prefix-cache.ts';
import type { EngineTimeline } from './timeline.ts';

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
export interface TurnOutcome {
  readonly requestId: string;
  /** Time of the load, in simulated seconds. */
  readonly at: number;
  /** Tokens of the context that were in the prefix cache when the turn first ran. */
  readonly cachedTokens: number;
}

/** The load that an engine reports. */
export interface TurnEngineLoad {
  readonly running: number;
  readonly waiting: number;
  readonly kvUsedTokens: number;
  readonly cachedTokens: number;
}

interface TurnSequence extends Sequence {
  readonly context: readonly ContextNode[];
  nodes: readonly CachedNode[];
  /** Whether prefill has begun since the latest admission. */
  begun: boolean;
  /** Tokens found in the cache at the first run; -1 before. */
  found: number;
}

interface Phase {
  readonly plan: Plan;
  readonly startSeconds: number;
  endSeconds: number;
  steps: number;
  /** Sequences whose context is complete at the end of the plan. */
  readonly ready: number;
}

const noStretch: Stretch = { firstSeconds: 0, growthSeconds: 0 };

/** Settings of an engine beside its costs. */
export interface TurnEngineOptions {
  readonly chunkTokens: number;
  readonly prefixCache: boolean;
}

/** An engine for turns, in simulated time. */
export class TurnEngine extends EngineCounters {
  readonly engineId: string;
  readonly cost: CostModel;
  /** Context tokens that were computed, including recomputation after preemptions. */
  prefilledTokens = 0;
  readonly cache: PrefixCache;
  /** Where the engine records its activity, if a caller wants it. */
  activity: EngineTimeline | undefined;
  readonly #options: TurnEngineOptions;
  readonly #batch = new Batch();
  readonly #waiting = new WaitingQueue();
  readonly #sequences = new Map<string, TurnSequence>();
  /** Admitted sequences with incomplete contexts, in the order of admission. */
  readonly #prefilling: TurnSequence[] = [];
  #outcomes: TurnOutcome[] = [];
  #phase: Phase | undefined;
  #now = 0;
  #arrivals = 0;
  /** Tokens that were prefilled since the last step of decoding. */
  #chunk = 0;

  constructor(engineId: string, cost: CostModel, options: TurnEngineOptions) {
    super(false);
    this.engineId = engineId;
    this.cost = cost;
    this.#options = options;
    this.cache = new PrefixCache(options.prefixCache);
  }

  /** Number of the engine's turns, running or waiting. */
  get size(): number {
    return this.#sequences.size;
  }

  /**
   * Adds a turn.
   *
   * @throws PolicyError `infeasible` if it can never fit the KV cache, `duplicate_id` if the program has a turn here
   */
  add(turn: EngineTurn, at: number): void {
    checkTime(at);
    const { requestId, context, generatedTokens: responseTokens } = turn;
    const promptTokens = context.reduce((sum, { tokens }) => sum + tokens, 0);
    const request = { requestId, promptTokens, responseTokens };
    checkRequest(request, this.cost);
    this.#catchUp(at);
    if (this.#sequences.has(requestId)) refuse('duplicate_id', 'requestId', 'a program without a turn here', requestId);
    const own = this.#options.prefixCache ? context : [{ key: requestId, tokens: promptTokens }];
    // All fields are in one literal, because objects of one shape are several times as fast.
    const inner: TurnSequence = {
      request,
      arrival: this.#arrivals++,
      generated: 0,
      status: 'waiting',
      admittedAt: 0,
      finish: 0,
      heapIndex: -1,
      older: undefined,
      siblings: undefined,
      newer: undefined,
      context: own,
      nodes: [],
      begun: false,
      found: -1,
    };
    this.#sequences.set(requestId, inner);
    // A turn behind another waiting turn waits longer than the present stretch, whose batch has no room for that one.
    if (this.#waiting.first() === undefined) this.#cut(at);
    this.#waiting.pushBack(inner);
    if (this.#phase === undefined) this.#now = Math.max(this.#now, at);
  }

  /** Drops all turns and the cache, as in a crash; returns the ids of their programs, in the order of arrival. */
  lose(at: number): string[] {
    checkTime(at);
    this.#catchUp(at);
    const phase = this.#phase;
    if (phase !== undefined && at > phase.startSeconds) this.#advance(phase, at, stepsBy(phase, at));
    this.#phase = undefined;
    for (const sequence of this.#sequences.values()) {
      if (sequence.status === 'running') this.#leave(sequence, 'gone');
      else sequence.status = 'gone';
    }
    const lost = [...this.#sequences.keys()];
    this.#sequences.clear();
    this.#chunk = 0;
    this.cache.fit(0);
    this.#now = Math.max(this.#now, at);
    return lost;
  }

  /** Returns the engine's load. */
  load(at: number): TurnEngineLoad {
    checkTime(at);
    this.#catchUp(at);
    const phase = this.#phase;
    const steps = phase === undefined || at <= phase.startSeconds ? 0 : stepsBy(phase, at);
    const { size: running } = this.#batch;
    const { pinnedTokens, cachedTokens } = this.cache;
    const kvUsedTokens = pinnedTokens + steps * running;
    const waiting = this.#sequences.size - running;
    return {
      running,
      waiting,
      kvUsedTokens,
      cachedTokens: Math.min(cachedTokens, this.cost.kvCapacityTokens - kvUsedTokens),
    };
  }

  /** Returns the time of the next event; `Infinity` when idle. */
  nextEventAt(): number {
    return this.#nextPhase()?.endSeconds ?? Number.POSITIVE_INFINITY;
  }

  /** Advances to a time, and returns the turns that have ended since the last call, in order. */
  advanceTo(at: number): TurnOutcome[] {
    this.#catchUp(at);
    const outcomes = this.#outcomes;
    if (outcomes.length > 0) this.#outcomes = [];
    return outcomes;
  }

  #catchUp(at: number): void {
    // A phase that begins at this time is not planned yet: more turns may still arrive at this time.
    while (this.#phase !== undefined || this.#now < at) {
      const phase = this.#nextPhase();
      if (phase === undefined || phase.endSeconds > at) return;
      this.#finish(phase);
    }
  }

  /** Ends a stretch of steps after the step that runs at this time. */
  #cut(at: number): void {
    const phase = this.#phase;
    if (phase === undefined || phase.steps <= 1) return;
    const { stretch } = phase.plan;
    phase.steps = Math.max(1, Math.min(phase.steps, stepsUntil(stretch, at - phase.startSeconds)));
    phase.endSeconds = phase.startSeconds + stretchSeconds(stretch, phase.steps);
  }

  #nextPhase(): Phase | undefined {
    if (this.#phase !== undefined || this.#sequences.size === 0) return this.#phase;
    const preempted = this.#preempt();
    if (preempted === 0) this.#admit();
    const room = this.#options.chunkTokens - this.#batch.size - this.#chunk;
    this.#phase =
      this.#prefilling.length > 0 && (room > 0 || this.#batch.size === 0)
        ? this.#prefill(this.#batch.size === 0 ? this.#options.chunkTokens : room, preempted)
        : this.#decode(preempted);
    return this.#phase;
  }

  #begin(seconds: number, steps: number, stretch: Stretch, preemptions: number, ready: number): Phase {
    const plan = { seconds, steps, stretch, draftTokens: 0, tokensPerStep: 1, preemptions, recomputedTokens: 0 };
    return { plan, startSeconds: this.#now, endSeconds: this.#now + seconds, steps, ready };
  }

  /** Preempts the newest sequences until the next step fits; returns how many. */
  #preempt(): number {
    const { cost, cache } = this;
    const batch = this.#batch;
    let preempted = 0;
    while (batch.size + this.#prefilling.length > 1 && cache.pinnedTokens + batch.size > cost.kvCapacityTokens) {
      const victim = this.#prefilling[this.#prefilling.length - 1] ?? (batch.newest as TurnSequence);
      this.#leave(victim, 'waiting');
      this.#waiting.pushFront(victim);
      preempted += 1;
    }
    return preempted;
  }

  /** Admits sequences that fit. */
  #admit(): void {
    const { cost, cache } = this;
    const limit = cost.kvCapacityTokens * (1 - cost.watermark);
    for (let next = this.#first(); next !== undefined; next = this.#first()) {
      const size = this.#batch.size + this.#prefilling.length;
      if (size >= cost.maxRunningSequences) break;
      const context = contextPartsOf(next);
      // An empty engine needs no watermark.
      if (size > 0 && cache.pinnedTokens + cache.missing(context) + 1 > limit) break;
      this.#waiting.shift();
      next.nodes = cache.pin(context);
      next.begun = false;
      next.status = 'running';
      this.#prefilling.push(next);
    }
    cache.fit(cost.kvCapacityTokens);
  }

  #first(): TurnSequence | undefined {
    return this.#waiting.first() as TurnSequence | undefined;
  }

  /** Computes contexts in order, up to so many tokens. */
  #prefill(room: number, preempted: number): Phase {
    let left = room;
    let ready = 0;
    for (const sequence of this.#prefilling) {
      left -= this.#compute(sequence, left);
      if (sequence.nodes.some((node) => node.resident < node.tokens)) break;
      ready += 1;
      if (left === 0) break;
    }
    const tokens = room - left;
    this.#chunk += tokens;
    this.prefilledTokens += tokens;
    return this.#begin(tokens * this.cost.prefillSecondsPerToken, 0, noStretch, preempted, ready);
  }

  /** Computes up to so many context tokens of a sequence; returns the number computed. */
  #compute(sequence: TurnSequence, most: number): number {
    let tokens = 0;
    if (!sequence.begun) {
      sequence.begun = true;
      const missing = sequence.nodes.reduce((sum, node) => sum + node.tokens - node.resident, 0);
      const context = contextOf(sequence);
      // The last token is always computed, because its logits are not in the cache.
      if (missing === 0 && context > 0) tokens = 1;
      if (sequence.found < 0) sequence.found = context - missing - tokens;
    }
    for (const node of sequence.nodes) {
      const some = Math.min(most - tokens, node.tokens - node.resident);
      node.resident += some;
      tokens += some;
    }
    return tokens;
  }

  #decode(preempted: number): Phase | undefined {
    const { cost, cache } = this;
    const { size, contextTokens } = this.#batch;
    if (size === 0) return undefined;
    const { secondsPerContextToken } = cost;
    const stretch = {
      firstSeconds: baseSeconds(cost, size) + secondsPerContextToken * contextTokens,
      growthSeconds: secondsPerContextToken * size,
    };
    this.#chunk = 0;
    const untilFull = size === 1 ? Infinity : Math.floor((cost.kvCapacityTokens - cache.pinnedTokens) / size);
    const steps = this.#prefilling.length > 0 ? 1 : Math.min(this.#batch.stepsToFinish(), untilFull);
    return this.#begin(stretchSeconds(stretch, steps), steps, stretch, preempted, 0);
  }

  #finish(phase: Phase): void {
    this.#phase = undefined;
    this.#advance(phase, phase.endSeconds, phase.steps);
    for (const sequence of this.#prefilling.splice(0, phase.ready)) this.#batch.join(sequence);
    this.#now = phase.endSeconds;
    for (let done = this.#batch.finished(); done !== undefined; done = this.#batch.finished()) {
      const sequence = done as TurnSequence;
      const { requestId } = sequence.request;
      this.#leave(sequence, 'gone');
      this.#sequences.delete(requestId);
      this.#outcomes.push({ requestId, at: this.#now, cachedTokens: sequence.found });
    }
  }

  #advance({ plan, startSeconds }: Phase, endSeconds: number, steps: number): void {
    const { size } = this.#batch;
    this.count(plan, startSeconds, endSeconds, steps, size);
    this.activity?.add(startSeconds, endSeconds, plan.steps === 0, size);
    this.#batch.advance(steps);
    this.cache.pinnedTokens += steps * size;
    this.cache.fit(this.cost.kvCapacityTokens);
  }

  /** Removes a running sequence, and unpins its context. */
  #leave(sequence: TurnSequence, status: 'waiting' | 'gone'): void {
    const index = this.#prefilling.indexOf(sequence);
    if (index >= 0) {
      this.#prefilling.splice(index, 1);
      sequence.status = status;
    } else {
      const before = sequence.generated;
      this.#batch.leave(sequence, status);
      const own = sequence.nodes[sequence.nodes.length - 1]!;
      // The steps have pinned these tokens already.
      this.cache.pinnedTokens -= sequence.generated - before;
      this.cache.grow(own, sequence.generated - before);
    }
    this.cache.unpin(sequence.nodes);
  }
}

/** Returns the context of a sequence, including generated tokens in its own node. */
function contextPartsOf({ context, generated }: TurnSequence): readonly ContextNode[] {
  if (generated === 0) return context;
  const { key, tokens } = context[context.length - 1]!;
  return [...context.slice(0, -1), { key, tokens: tokens + generated }];
}

/** Returns the number of steps in a phase that are over at a time inside the phase. */
function stepsBy({ plan, startSeconds }: Phase, at: number): number {
  if (plan.steps === 0) return 0;
  const steps = stepsUntil(plan.stretch, at - startSeconds);
  return startSeconds + stretchSeconds(plan.stretch, steps) > at ? steps - 1 : steps;
}
