/**
 * One engine without a GPU: the decode engine of the simulator, and around it what stands around a real one. Requests reach
 * the scheduler some time after they came, aborts too; generation can be paused, weights change, and the engine may die.
 *
 * It knows simulated time only. What comes at one moment is put in order by priority and id, so that it does not matter which
 * of two connections was read first.
 */
import type { CostModel } from '../../sim/cost-model.ts';
import { DecodeEngine } from '../../sim/engine/decode-engine.ts';
import type { MockEngineOptions } from '../options.ts';
import type { Agenda } from './agenda.ts';
import { Arrivals } from './arrivals.ts';
import { Counts } from './counts.ts';
import { FrozenClock } from './frozen-clock.ts';
import type { Ending, Generation } from './generation.ts';
import type { ResponseBook } from './response-book.ts';

/** What engines share. */
export interface Surroundings {
  readonly options: MockEngineOptions;
  readonly cost: CostModel;
  readonly book: ResponseBook;
  readonly agenda: Agenda;
  /** The moment of the simulation. */
  readonly now: () => number;
}

/** What an engine has to do. */
export interface MockLoad {
  /** Requests in the batch. */
  readonly running: number;
  /** Requests in line at the scheduler, or on their way to it. */
  readonly waiting: number;
  /** Requests that wait before the scheduler because generation is paused or weights are updated. */
  readonly held: number;
  /** Tokens in the KV cache, and how many fit. */
  readonly usedTokens: number;
  readonly kvCapacityTokens: number;
}

/** Which requests an abort means. */
export type Matches = (generation: Generation) => boolean;

/** The version that weights have before anybody names one. */
export const firstWeights = 'default';

/** An engine. */
export class MockEngine {
  readonly number: number;
  readonly counts = new Counts();
  weightVersion = firstWeights;
  /** Whether its process is there. */
  isUp = true;
  /** Requests whose aborts are ignored from now on. */
  abortsToIgnore = 0;
  readonly #around: Surroundings;
  readonly #clock = new FrozenClock();
  readonly #generations = new Map<string, Generation>();
  readonly #arrivals = new Arrivals();
  /** How many requests of each id have not ended, and how many of all are read as streams. */
  readonly #known = new Map<string, number>();
  #streams = 0;
  /** Requests that wait until it takes some again, and why it does not. */
  #held: Generation[] = [];
  readonly #gates = new Set<string>();
  #gatesMade = 0;
  /** Requests that were taken out of the batch until it goes on, with the tokens that they have. */
  #retracted: Generation[] = [];
  #idle: (() => void)[] = [];
  /** Reasons for which it stands still as soon as the running step is over. */
  readonly #freezing = new Set<string>();
  #hangs = false;
  /** How often it has crashed. */
  #life = 0;
  #decode: DecodeEngine;
  #kvCapacityTokens: number;

  constructor(number: number, around: Surroundings) {
    this.number = number;
    this.#around = around;
    this.#kvCapacityTokens = around.cost.kvCapacityTokens;
    this.#decode = this.#newDecode();
  }

  /** Counters of the decode engine: busy seconds, steps, preemptions. They begin anew with a restart. */
  get work(): Pick<DecodeEngine, 'busySeconds' | 'decodeSteps' | 'preemptions' | 'recomputedTokens'> {
    return this.#decode;
  }

  get isHanging(): boolean {
    return this.#hangs;
  }

  /** Whether it has requests whose listeners read a stream. */
  get streams(): boolean {
    return this.#streams > 0;
  }

  /** Requests that the scheduler has, or that are on their way to it. */
  get size(): number {
    return this.#generations.size + this.#arrivals.size + this.#retracted.length;
  }

  load(): MockLoad {
    const { running, waiting, contextTokens } = this.#decode.load(this.#own);
    return {
      running,
      waiting: waiting + this.#arrivals.dueBy(this.#now) + this.#retracted.length,
      held: this.#held.length,
      usedTokens: contextTokens,
      kvCapacityTokens: this.#kvCapacityTokens,
    };
  }

  /** Whether a request of this id is known, or waits to be. */
  has(requestId: string): boolean {
    return this.#known.has(requestId);
  }

  /** Ids of the requests that it has, by their arrival. */
  get requestIds(): string[] {
    const all = [...this.#generations.values(), ...this.#retracted, ...this.#arrivals, ...this.#held];
    return all.map((one) => one.requestId);
  }

  /** Takes a request. */
  submit(generation: Generation): void {
    const { requestId, listener } = generation;
    this.counts.accepted += 1;
    this.#known.set(requestId, (this.#known.get(requestId) ?? 0) + 1);
    if (listener.progress !== undefined) this.#streams += 1;
    if (this.#gates.size > 0) this.#held.push(generation);
    else this.#arrive(generation);
  }

  /**
   * Aborts requests, once the scheduler hears of it. Those that end before end as if nothing had come.
   *
   * @param reach - `scheduler`: what has not reached the scheduler by then is missed; `all`: nothing is
   */
  abort(matches: Matches, reach: 'scheduler' | 'all'): void {
    if (this.abortsToIgnore > 0) {
      this.abortsToIgnore -= 1;
      return;
    }
    this.abortAfter(this.#around.options.abortLagSeconds, matches, reach);
  }

  /** The same so many seconds later, whatever is ignored: nobody is there any more who waits for it. */
  abortAfter(seconds: number, matches: Matches, reach: 'scheduler' | 'all'): void {
    const apply = () => this.#abort(matches, reach);
    if (seconds > 0) this.after(seconds, apply);
    else apply();
  }

  /** Does something so many seconds later, unless the engine has crashed by then. */
  after(seconds: number, run: () => void): void {
    const life = this.#life;
    this.#around.agenda.at(this.#now + seconds, () => {
      if (this.isUp && life === this.#life) run();
    });
  }

  /** Takes no more requests for a reason; those that come wait. */
  close(gate: string): void {
    this.#gates.add(gate);
  }

  /** Takes requests again, unless there is another reason not to. */
  open(gate: string): void {
    this.#gates.delete(gate);
    if (this.#gates.size > 0) return;
    const held = this.#held;
    this.#held = [];
    for (const generation of held) this.#arrive(generation);
  }

  /** A name for a reason that is like no other. */
  newGate(reason: string): string {
    this.#gatesMade += 1;
    return `${reason} ${this.#gatesMade}`;
  }

  isClosedBy(gate: string): boolean {
    return this.#gates.has(gate);
  }

  /** Calls back as soon as it has no request, which may be at once. */
  whenIdle(callback: () => void): void {
    if (this.size === 0) callback();
    else this.#idle.push(callback);
  }

  /** Stands still from the end of the running step on, then calls back. Requests stay where they are. */
  freeze(reason: string, callback: () => void): void {
    this.#freezing.add(reason);
    const stop = () => {
      // It may have been told to go on meanwhile.
      if (this.#freezing.delete(reason)) this.#clock.freeze(reason, this.#now);
      callback();
    };
    const at = this.#clock.isFrozen ? this.#now : this.#clock.moment(this.#decode.boundaryAfter(this.#own));
    if (at > this.#now) this.after(at - this.#now, stop);
    else stop();
  }

  /** Goes on. Requests that were retracted are prefilled again. */
  thaw(reason: string): void {
    this.#freezing.delete(reason);
    this.#clock.thaw(reason, this.#now);
    if (this.#clock.isFrozen) return;
    const retracted = this.#retracted;
    this.#retracted = [];
    for (const generation of retracted) this.#add(generation, this.#own);
  }

  /** Takes all requests out of the batch, so that the KV cache is empty, until it goes on. */
  retract(): void {
    this.#retracted.push(...this.#takeAll());
  }

  /** Connections are taken, nothing happens. */
  hang(): void {
    this.#hangs = true;
    this.#clock.freeze('hang', this.#now);
  }

  unhang(): void {
    this.#hangs = false;
    this.#clock.thaw('hang', this.#now);
  }

  slow(factor: number): void {
    this.#decode.setPace(factor, this.#own);
  }

  shrink(tokens: number): void {
    this.#kvCapacityTokens = tokens;
    this.#decode.setKvCapacity(tokens, this.#own);
  }

  /** Dies: all that it had is lost. */
  crash(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#life += 1;
    this.#freezing.clear();
    const lost = [...this.#takeAll(), ...this.#retracted, ...this.#arrivals.takeAll(), ...this.#held];
    this.#retracted = [];
    this.#held = [];
    this.#idle = [];
    for (const generation of lost) this.#end(generation, 'lost');
  }

  /** Is there again, empty, with the weights that it had first. */
  restart(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.unhang();
    for (const reason of [...this.#gates]) this.thaw(reason);
    this.#gates.clear();
    this.weightVersion = firstWeights;
    this.abortsToIgnore = 0;
    this.#kvCapacityTokens = this.#around.cost.kvCapacityTokens;
    this.#decode = this.#newDecode();
  }

  /** When something happens next by itself; `Infinity` when idle. */
  nextAt(): number {
    return Math.min(this.#arrivals.nextAt(), this.#clock.moment(this.#decode.nextEventAt()));
  }

  /** Everything that has happened by now. */
  advance(): void {
    this.#takeArrivals();
    for (const { requestId: id, kind, tokens } of this.#decode.advanceTo(this.#own)) {
      const generation = this.#generations.get(id)!;
      this.#generations.delete(id);
      generation.count = tokens;
      this.#end(generation, kind === 'aborted' ? 'abort' : generation.ending);
    }
    if (this.size > 0 || this.#idle.length === 0) return;
    for (const callback of this.#idle.splice(0)) callback();
  }

  /** Tells whoever reads a stream what there is. */
  tell(): void {
    if (this.#streams === 0) return;
    const { streamInterval } = this.#around.options;
    let tokensAt: ((id: string) => number | undefined) | undefined;
    for (const generation of this.#generations.values()) {
      const { progress } = generation.listener;
      if (progress === undefined) continue;
      tokensAt ??= this.#decode.tokensAt(this.#own);
      const whole = Math.floor(tokensAt(generation.id)! / streamInterval) * streamInterval;
      if (whole <= generation.told) continue;
      generation.count = whole;
      progress(generation);
      generation.told = whole;
    }
  }

  get #now(): number {
    return this.#around.now();
  }

  /** Its own time, its next boundary included where that is now: clocks that have stood differ by rounding. */
  get #own(): number {
    const own = this.#clock.own(this.#now);
    const next = this.#decode.nextEventAt();
    return this.#clock.moment(next) <= this.#now ? Math.max(own, next) : own;
  }

  #newDecode(): DecodeEngine {
    const { cost, options } = this.#around;
    return new DecodeEngine(`engine-${this.number}`, cost, { scheduling: options.scheduling });
  }

  #arrive(generation: Generation): void {
    this.#arrivals.push(generation, this.#now + this.#around.options.tokenizeSeconds);
  }

  #takeArrivals(): void {
    for (const { at, generation } of this.#arrivals.takeDue(this.#now)) this.#add(generation, this.#clock.own(at));
  }

  #add(generation: Generation, own: number): void {
    const { id, planned, tokens, priority, count } = generation;
    this.#generations.set(id, generation);
    const request = { requestId: id, promptTokens: planned.promptTokens, responseTokens: tokens, priority };
    this.#decode.add(count === 0 ? request : { ...request, generatedTokens: count }, own);
  }

  #abort(matches: Matches, reach: 'scheduler' | 'all'): void {
    this.#takeArrivals();
    const outside = reach === 'all' ? [...this.#arrivals.take(matches), ...this.#takeHeld(matches)] : [];
    const retracted = this.#retracted.filter(matches);
    this.#retracted = this.#retracted.filter((one) => !matches(one));
    for (const generation of [...retracted, ...outside]) {
      generation.abortedInQueue = true;
      this.#end(generation, 'abort');
    }
    for (const generation of [...this.#generations.values()].filter(matches)) {
      generation.abortedInQueue = !this.#decode.isRunning(generation.id);
      this.#decode.abort(generation.id, this.#own);
    }
    this.advance();
  }

  #takeHeld(matches: Matches): Generation[] {
    const held = this.#held.filter(matches);
    this.#held = this.#held.filter((one) => !matches(one));
    return held;
  }

  /** What the decode engine had, with the tokens that there are. */
  #takeAll(): Generation[] {
    this.advance();
    return this.#decode.lose(this.#own).map(({ requestId: id, tokens }) => {
      const generation = this.#generations.get(id)!;
      this.#generations.delete(id);
      generation.count = tokens;
      return generation;
    });
  }

  #forget({ requestId, listener }: Generation): void {
    const left = this.#known.get(requestId)! - 1;
    if (left === 0) this.#known.delete(requestId);
    else this.#known.set(requestId, left);
    if (listener.progress !== undefined) this.#streams -= 1;
  }

  #end(generation: Generation, ending: Ending): void {
    generation.ended = ending;
    generation.endedAt = this.#now;
    this.counts.end(generation, ending);
    this.#forget(generation);
    if (ending === 'abort' || ending === 'length') {
      this.#around.book.cutShort(generation.prompt, generation.planned, generation);
    }
    generation.listener.ended(generation);
  }
}
