/**
 * One engine without a GPU: the decode engine of the simulator, and around it what stands around a real one. Requests reach
 * the scheduler some time after they came, aborts too; generation can be paused, weights change, and the engine may die.
 *
 * It knows simulated time only. What comes at one moment is put in order by priority and id, so that it does not matter which
 * of two connections was read first.
 */
import { Arrivals } from './arrivals.ts';
import { Counts } from './counts.ts';
import { Gate } from './gate.ts';
import type { Ending, Generation } from './generation.ts';
import { PausableDecode } from './pausable-decode.ts';
import type { Surroundings } from './surroundings.ts';

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
  /** Tokens that fit the KV cache. */
  readonly kvCapacityTokens: number;
}

/** Which requests an abort means. */
export type Matches = (generation: Generation) => boolean;

/** The version that weights have before anybody names one. */
export const firstWeights = 'default';

/** An engine. */
export class MockEngine {
  /** Its place among the engines, from 0. */
  readonly number: number;
  /** Requests and tokens since its process started. */
  readonly counts = new Counts();
  /** Name of the weights that it generates with, as they were last updated. */
  weightVersion = firstWeights;
  /** Whether its process is there. */
  isUp = true;
  /** Requests whose aborts are ignored from now on. */
  abortsToIgnore = 0;
  readonly #around: Surroundings;
  readonly #decode: PausableDecode;
  readonly #gate = new Gate();
  readonly #generations = new Map<string, Generation>();
  readonly #arrivals = new Arrivals();
  /** Requests that were taken out of the batch until it goes on, with the tokens that they have. */
  #retracted: Generation[] = [];
  #idle: (() => void)[] = [];
  /** Reasons for which it stands still as soon as the running step is over. */
  readonly #freezing = new Set<string>();
  #hangs = false;
  /** How often it has crashed. */
  #life = 0;

  constructor(number: number, around: Surroundings) {
    this.number = number;
    this.#around = around;
    this.#decode = new PausableDecode(`engine-${number}`, around);
  }

  /** Counters of the decode engine: busy seconds, steps, preemptions. They begin anew with a restart. */
  get work(): PausableDecode['work'] {
    return this.#decode.work;
  }

  /** Whether a fault makes it take requests and do nothing. */
  get isHanging(): boolean {
    return this.#hangs;
  }

  /** Whether it has requests whose listeners read a stream. */
  get streams(): boolean {
    return this.counts.streams > 0;
  }

  /** Requests that the scheduler has, or that are on their way to it. */
  get size(): number {
    return this.#generations.size + this.#arrivals.size + this.#retracted.length;
  }

  /** What runs and waits, and how full the KV cache is. */
  load(): MockLoad {
    const { running, waiting, contextTokens } = this.#decode.load();
    return {
      running,
      waiting: waiting + this.#arrivals.dueBy(this.#now) + this.#retracted.length,
      held: this.#gate.held.length,
      usedTokens: contextTokens,
      kvCapacityTokens: this.#decode.kvCapacityTokens,
    };
  }

  /** Whether a request of this id is known, or waits to be. */
  has(requestId: string): boolean {
    return this.counts.has(requestId);
  }

  /** Ids of the requests that it has, by their arrival. */
  get requestIds(): string[] {
    const all = [...this.#generations.values(), ...this.#retracted, ...this.#arrivals, ...this.#gate.held];
    return all.map((one) => one.requestId);
  }

  /** Takes a request. */
  submit(generation: Generation): void {
    this.counts.accept(generation);
    if (this.#gate.isClosed) this.#gate.hold(generation);
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
    this.#gate.close(gate);
  }

  /** Takes requests again, unless there is another reason not to. */
  open(gate: string): void {
    for (const generation of this.#gate.open(gate)) this.#arrive(generation);
  }

  /** A name for a reason that is like no other. */
  newGate(reason: string): string {
    return this.#gate.newReason(reason);
  }

  /** Whether it takes no requests for this reason. */
  isClosedBy(gate: string): boolean {
    return this.#gate.isClosedBy(gate);
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
      if (this.#freezing.delete(reason)) this.#decode.freeze(reason);
      callback();
    };
    const at = this.#decode.boundaryAt();
    if (at > this.#now) this.after(at - this.#now, stop);
    else stop();
  }

  /** Goes on. Requests that were retracted are prefilled again. */
  thaw(reason: string): void {
    this.#freezing.delete(reason);
    this.#decode.thaw(reason);
    if (this.#decode.isFrozen) return;
    const retracted = this.#retracted;
    this.#retracted = [];
    for (const generation of retracted) this.#add(generation, this.#now);
  }

  /** Takes all requests out of the batch, so that the KV cache is empty, until it goes on. */
  retract(): void {
    this.#retracted.push(...this.#takeAll());
  }

  /** Connections are taken, nothing happens. */
  hang(): void {
    this.#hangs = true;
    this.#decode.freeze('hang');
  }

  /** Goes on after {@link hang}. */
  unhang(): void {
    this.#hangs = false;
    this.#decode.thaw('hang');
  }

  /** Everything takes so many times as long from now on, > 0. */
  slow(factor: number): void {
    this.#decode.slow(factor);
  }

  /** So many tokens fit its KV cache from now on; what is over is retracted. */
  shrink(tokens: number): void {
    this.#decode.shrink(tokens);
  }

  /** Dies: all that it had is lost. */
  crash(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#life += 1;
    this.#freezing.clear();
    const lost = [...this.#takeAll(), ...this.#retracted, ...this.#arrivals.takeAll()];
    for (const reason of this.#gate.reasons) this.#decode.thaw(reason);
    lost.push(...this.#gate.clear());
    this.#retracted = [];
    this.#idle = [];
    for (const generation of lost) this.#end(generation, 'lost');
  }

  /** Is there again, empty, with the weights that it had first. */
  restart(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.unhang();
    this.weightVersion = firstWeights;
    this.abortsToIgnore = 0;
    this.#decode.restart();
  }

  /** When something happens next by itself; `Infinity` when idle. */
  nextAt(): number {
    return Math.min(this.#arrivals.nextAt(), this.#decode.nextAt());
  }

  /** Everything that has happened by now. */
  advance(): void {
    this.#takeArrivals();
    for (const { requestId: id, kind, tokens } of this.#decode.advance()) {
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
    if (!this.streams) return;
    const { streamInterval } = this.#around.options;
    let tokensAt: ((id: string) => number | undefined) | undefined;
    for (const generation of this.#generations.values()) {
      const { progress } = generation.listener;
      if (progress === undefined) continue;
      tokensAt ??= this.#decode.tokens();
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

  #arrive(generation: Generation): void {
    this.#arrivals.push(generation, this.#now + this.#around.options.tokenizeSeconds);
  }

  #takeArrivals(): void {
    for (const { at, generation } of this.#arrivals.takeDue(this.#now)) this.#add(generation, at);
  }

  #add(generation: Generation, at: number): void {
    const { id, planned, tokens, priority, count } = generation;
    this.#generations.set(id, generation);
    const request = { requestId: id, promptTokens: planned.promptTokens, responseTokens: tokens, priority };
    this.#decode.add(count === 0 ? request : { ...request, generatedTokens: count }, at);
  }

  #abort(matches: Matches, reach: 'scheduler' | 'all'): void {
    this.#takeArrivals();
    const outside = reach === 'all' ? [...this.#arrivals.take(matches), ...this.#gate.take(matches)] : [];
    const retracted = this.#retracted.filter(matches);
    this.#retracted = this.#retracted.filter((one) => !matches(one));
    for (const generation of [...retracted, ...outside]) {
      generation.abortedInQueue = true;
      this.#end(generation, 'abort');
    }
    for (const generation of [...this.#generations.values()].filter(matches)) {
      generation.abortedInQueue = !this.#decode.isRunning(generation.id);
      this.#decode.abort(generation.id);
    }
    this.advance();
  }

  /** What the decode engine had, with the tokens that there are. */
  #takeAll(): Generation[] {
    this.advance();
    return this.#decode.lose().map(({ requestId: id, tokens }) => {
      const generation = this.#generations.get(id)!;
      this.#generations.delete(id);
      generation.count = tokens;
      return generation;
    });
  }

  #end(generation: Generation, ending: Ending): void {
    generation.ended = ending;
    generation.endedAt = this.#now;
    this.counts.end(generation, ending);
    if (ending === 'abort' || ending === 'length') {
      this.#around.book.cutShort(generation.prompt, generation.planned, generation);
    }
    generation.listener.ended(generation);
  }
}
