/**
 * Decides the next action of an engine at a boundary between steps: preempt, admit and prefill, or decode.
 *
 * A plan can be undone while no time has passed in it. So the plan includes all arrivals of the same time, even if a caller has
 * read the time of the next event between two arrivals.
 */
import { baseSeconds, type CostModel, secondsOfPrefill } from '../models/cost-model.ts';
import { Batch, contextOf, type Sequence } from './batch.ts';
import { Drafting } from './drafting.ts';
import { noStretch, type Plan, type StepScheduler } from './step-scheduler.ts';
import { type Stretch, stretchSeconds } from './step-time.ts';
import { byPriority, PriorityQueue, type Waiting, WaitingQueue } from './waiting-queue.ts';

/** First come, first served; or by priority (lower first), which orders the waiting queue and decides preemption. */
export type Scheduling = 'fcfs' | 'priority';

/** The prefixes that an engine keeps beside its batch, which determine how much of a sequence is not computed again. */
export interface PrefixCache {
  /** Limits the kept tokens; called before each plan, with the room that the batch leaves in the KV cache. */
  trim(roomTokens: number): void;
  /** Adds a sequence to the batch; returns the number of cached context tokens, fewer than its prompt has. */
  join(requestId: string): number;
  /** A sequence is preempted, or has not joined after all: a plan was undone. The end of a sequence is not told. */
  leave(requestId: string): void;
}

/** Computes the contexts of all admitted sequences in one prefill. */
export class BatchScheduler implements StepScheduler {
  readonly batch = new Batch();
  readonly waiting: Waiting;
  readonly #cost: CostModel;
  pace = 1;
  #kvCapacityTokens = 0;
  #admissionLimit = 0;
  /** Sequences that the present plan has moved, in order: those that run now were admitted, the others preempted. */
  readonly #moved: Sequence[] = [];
  #preemptions = 0;
  #recomputedTokens = 0;
  #prefillSeconds = 0;
  /** Whether sequences ran before the prefill of this plan: they are delayed by a part of it only. */
  #delaysOthers = false;
  /** Whether the plan began with a prefill that took no time. */
  #hasInstantPrefill = false;
  readonly #cache: PrefixCache | undefined;
  readonly drafting: Drafting | undefined;

  constructor(cost: CostModel, scheduling: Scheduling, cache?: PrefixCache) {
    this.#cost = cost;
    this.#cache = cache;
    this.drafting = cost.drafts === undefined ? undefined : new Drafting(cost, cost.drafts);
    this.waiting = scheduling === 'priority' ? new PriorityQueue() : new WaitingQueue();
    this.kvCapacityTokens = cost.kvCapacityTokens;
  }

  get kvCapacityTokens(): number {
    return this.#kvCapacityTokens;
  }

  set kvCapacityTokens(tokens: number) {
    this.#kvCapacityTokens = tokens;
    this.#admissionLimit = tokens * (1 - this.#cost.watermark);
  }

  plan(): Plan | undefined {
    this.#moved.length = 0;
    this.#preemptions = 0;
    this.#recomputedTokens = 0;
    this.#hasInstantPrefill = false;
    this.#cache?.trim(this.#kvCapacityTokens - this.batch.contextTokens);
    for (;;) {
      this.#prefillSeconds = 0;
      this.#delaysOthers = this.batch.size > 0;
      if (this.#preempt() || !this.#admit()) return this.#decode();
      const prefill = this.#prefill();
      if (prefill.seconds > 0) return prefill;
      this.#hasInstantPrefill = true;
    }
  }

  hasQueue(): boolean {
    return this.waiting.arrivalsGoLast && !this.#hasInstantPrefill && this.waiting.first() !== undefined;
  }

  extend(): Plan {
    this.#admit();
    return this.#prefill();
  }

  undo(): void {
    for (let sequence = this.#moved.pop(); sequence !== undefined; sequence = this.#moved.pop()) {
      if (sequence.status === 'running') {
        this.batch.leave(sequence, 'waiting');
        this.waiting.pushFront(sequence);
        this.#cache?.leave(sequence.request.requestId);
      } else {
        this.waiting.takeBack(sequence);
        this.batch.join(sequence);
        this.#cache?.join(sequence.request.requestId);
      }
    }
  }

  advance({ tokensPerStep, draftTokens }: Plan, steps: number): void {
    this.drafting?.observe(steps, this.batch.size, draftTokens);
    this.batch.advance(steps * tokensPerStep);
  }

  remove(sequence: Sequence): void {
    if (sequence.status === 'running') this.batch.leave(sequence, 'gone');
    else sequence.status = 'gone';
  }

  #planned(seconds: number, steps: number, stretch: Stretch, draftTokens = 0, tokensPerStep = 1): Plan {
    const counts = { preemptions: this.#preemptions, recomputedTokens: this.#recomputedTokens };
    return { seconds, steps, stretch, draftTokens, tokensPerStep, ...counts };
  }

  /** Returns the number of drafted tokens in a step with so many sequences. */
  #drafted(size: number): number {
    return this.drafting === undefined ? 0 : size * this.drafting.tokensFor(size, this.batch.contextTokens);
  }

  #prefill(): Plan {
    const share = this.#delaysOthers ? this.#cost.prefillInterference : 1;
    return this.#planned(this.pace * share * this.#prefillSeconds, 0, noStretch);
  }

  #decode(): Plan | undefined {
    const { size, contextTokens } = this.batch;
    if (size === 0) return undefined;
    const secondsPerContextToken = this.pace * this.#cost.secondsPerContextToken;
    const drafted = this.#drafted(size);
    const draftTokens = drafted / size;
    const tokensPerStep = this.drafting?.yieldOf(draftTokens) ?? 1;
    const stepSeconds = this.drafting?.secondsOf(size, draftTokens) ?? baseSeconds(this.#cost, size);
    const stretch = {
      firstSeconds: this.pace * stepSeconds + secondsPerContextToken * contextTokens,
      growthSeconds: secondsPerContextToken * size * tokensPerStep,
    };
    // A step needs room for all drafted tokens. The last sequence is never preempted, even if the cache has become smaller.
    const unused = drafted - size * (tokensPerStep - 1);
    const free = this.#kvCapacityTokens - contextTokens - unused;
    const untilFull = size === 1 ? Infinity : Math.max(1, Math.floor(free / (size * tokensPerStep)));
    const untilLook = this.drafting?.stepsToLook(size, contextTokens, draftTokens) ?? Infinity;
    // No boundary before these steps changes the batch: the first waiting sequence does not fit (a preempted sequence did not fit
    // beside the others), and the context only grows until a sequence leaves.
    const untilDone = this.batch.stepsToFinish(tokensPerStep);
    const steps = this.#admitsNext(tokensPerStep) ? 1 : Math.min(untilDone, untilFull, untilLook);
    return this.#planned(stretchSeconds(stretch, steps), steps, stretch, draftTokens, tokensPerStep);
  }

  /**
   * Whether a waiting sequence will fit after the next step. This is only possible if it goes before the sequence that was
   * preempted for it.
   */
  #admitsNext(tokensPerStep: number): boolean {
    if (this.waiting.arrivalsGoLast || this.#preemptions === 0) return false;
    const first = this.waiting.first();
    const { size, contextTokens } = this.batch;
    if (first === undefined || size >= this.#cost.maxRunningSequences) return false;
    const drafted = this.#drafted(size + 1);
    return contextTokens + size * tokensPerStep + contextOf(first) + 1 + drafted <= this.#admissionLimit;
  }

  /** Returns the sequence to preempt: the newest, or the last by priority. */
  #victim(): Sequence {
    let victim = this.batch.newest!;
    if (this.waiting.arrivalsGoLast) return victim;
    for (let one = victim.older; one !== undefined; one = one.older) if (byPriority(one, victim) > 0) victim = one;
    return victim;
  }

  /** Preempts sequences until the next step fits; returns whether any was preempted. */
  #preempt(): boolean {
    const { batch } = this;
    const kvCapacityTokens = this.#kvCapacityTokens;
    let preempted = false;
    const needed = (): number => batch.contextTokens + batch.size + this.#drafted(batch.size);
    while (batch.size > 1 && needed() > kvCapacityTokens) {
      const victim = this.#victim();
      batch.leave(victim, 'waiting');
      this.waiting.pushFront(victim);
      this.#cache?.leave(victim.request.requestId);
      this.#moved.push(victim);
      this.#preemptions += 1;
      this.#recomputedTokens += contextOf(victim);
      preempted = true;
    }
    return preempted;
  }

  /** Admits sequences that fit; returns whether any was admitted. */
  #admit(): boolean {
    let admitted = false;
    for (let next = this.waiting.first(); next !== undefined && this.#fits(next); next = this.waiting.first()) {
      this.waiting.shift();
      const shared = this.batch.sharedTokens(next);
      this.batch.join(next);
      this.#moved.push(next);
      const computed = Math.max(shared, this.#cache?.join(next.request.requestId) ?? 0);
      this.#prefillSeconds += secondsOfPrefill(this.#cost, contextOf(next)) - secondsOfPrefill(this.#cost, computed);
      admitted = true;
    }
    return admitted;
  }

  /** Whether a sequence may join the batch. An empty engine needs no watermark. */
  #fits(sequence: Sequence): boolean {
    const { size, contextTokens } = this.batch;
    if (size >= this.#cost.maxRunningSequences) return false;
    if (size === 0) return true;
    const drafted = this.#drafted(size + 1);
    return contextTokens + contextOf(sequence) + 1 + drafted <= this.#admissionLimit;
  }
}
