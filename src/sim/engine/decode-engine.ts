/**
 * One inference engine with continuous batching, advanced in closed form from boundary to boundary.
 *
 * At a boundary, in this order: sequences that are done leave; arrivals and aborts since the last boundary take
 * effect; if the next step does not fit the KV cache, the newest sequence is preempted (its KV is freed, its tokens are
 * kept, it goes to the front of the waiting queue) until it fits; if none was preempted, waiting sequences are admitted
 * first come, first served, while there is room, and their prefill blocks decoding; then steps run, each adding a token
 * to every sequence, up to the next completion or the end of the cache. What arrives inside a step or a prefill takes
 * effect at its end. `test/support/engine-oracle.ts` does the same step by step.
 */
import { Fifo } from '../../core/fifo.ts';
import { Heap } from '../../core/heap.ts';
import { PolicyError } from '../../errors.ts';
import { baseSeconds, type CostModel } from '../cost-model.ts';
import type { Segment } from '../result.ts';
import { type Stretch, stepsUntil, stretchSeconds } from './step-time.ts';

/** A request as an engine sees it. */
export interface EngineRequest {
  readonly requestId: string;
  readonly promptTokens: number;
  /** Tokens after which it is complete, those generated elsewhere before included. */
  readonly responseTokens: number;
  /** Tokens generated before; their KV is computed again. */
  readonly generatedTokens?: number;
}

/** How a request ended. */
export interface Outcome {
  readonly requestId: string;
  readonly kind: 'completed' | 'aborted';
  readonly at: number;
  /** Tokens generated, those before included. */
  readonly tokens: number;
}

interface Sequence {
  readonly request: EngineRequest;
  readonly arrival: number;
  generated: number;
  /** Number of the step after which it is done, and of the step at which it was admitted. */
  finish: number;
  admittedAt: number;
  /** Grows with every admission, so that old heap and stack entries are told from new ones. */
  version: number;
  place: 'waiting' | 'running' | 'gone';
}

interface Entry {
  readonly sequence: Sequence;
  readonly version: number;
  readonly finish: number;
}

interface Phase {
  readonly startSeconds: number;
  endSeconds: number;
  /** 0 for a prefill. */
  steps: number;
  readonly stretch: Stretch;
}

export class DecodeEngine {
  readonly engineId: string;
  readonly cost: CostModel;
  busySeconds = 0;
  prefillSeconds = 0;
  decodeSteps = 0;
  preemptions = 0;
  recomputedTokens = 0;
  generatedTokens = 0;
  /** What it did, if it keeps a timeline. */
  readonly timeline: Segment[] = [];
  readonly #keepTimeline: boolean;
  readonly #sequences = new Map<string, Sequence>();
  readonly #waiting = new Fifo<Sequence>();
  /** Preempted sequences, the last one preempted on top: they come before those that wait. */
  readonly #preempted: Sequence[] = [];
  readonly #stack: Entry[] = [];
  readonly #finishing = new Heap<Entry>((a, b) => a.finish - b.finish || a.sequence.arrival - b.sequence.arrival);
  readonly #changes: (() => void)[] = [];
  #outcomes: Outcome[] = [];
  #phase: Phase | undefined;
  #now = 0;
  #step = 0;
  #running = 0;
  #contextTokens = 0;
  #arrivals = 0;

  constructor(engineId: string, cost: CostModel, options: { timeline?: boolean } = {}) {
    this.engineId = engineId;
    this.cost = cost;
    this.#keepTimeline = options.timeline ?? false;
  }

  /** Requests that it has, running or waiting. */
  get size(): number {
    return this.#sequences.size;
  }

  /**
   * Takes a request at a time that is not before the last one.
   *
   * @throws PolicyError `infeasible` when it can never fit the KV cache, `duplicate_id` when it is here already
   */
  add(request: EngineRequest, at: number): void {
    const { requestId, promptTokens, responseTokens } = request;
    if (promptTokens + responseTokens > this.cost.kvCapacityTokens) {
      const expected = `at most ${this.cost.kvCapacityTokens} tokens of prompt and response`;
      throw new PolicyError('infeasible', { expected, got: promptTokens + responseTokens, path: requestId });
    }
    if (this.#sequences.has(requestId)) {
      throw new PolicyError('duplicate_id', { expected: 'a new request', got: requestId, path: 'requestId' });
    }
    const sequence: Sequence = {
      request,
      arrival: this.#arrivals++,
      generated: request.generatedTokens ?? 0,
      finish: 0,
      admittedAt: 0,
      version: 0,
      place: 'waiting',
    };
    this.#sequences.set(requestId, sequence);
    this.#change(at, () => this.#waiting.push(sequence));
  }

  /** Aborts a request; the outcome comes at the end of the step, or says that it was complete by then. */
  abort(requestId: string, at: number): void {
    const sequence = this.#sequences.get(requestId);
    if (sequence === undefined) return;
    this.#change(at, () => {
      if (sequence.place === 'gone') return;
      if (sequence.place === 'running') this.#leaveBatch(sequence);
      this.#end(sequence, 'aborted');
    });
  }

  /** The engine dies: what it had, with the tokens generated at the last boundary. */
  lose(at: number): { requestId: string; tokens: number }[] {
    while (this.nextEventAt() <= at) this.#finishPhase();
    this.#cutShort(at);
    const lost = [...this.#sequences.values()].map((sequence) => ({
      requestId: sequence.request.requestId,
      tokens: this.#generated(sequence),
    }));
    for (const sequence of this.#sequences.values()) sequence.place = 'gone';
    this.#sequences.clear();
    this.#changes.length = 0;
    this.#phase = undefined;
    this.#running = 0;
    this.#contextTokens = 0;
    this.#now = Math.max(this.#now, at);
    return lost;
  }

  /** When something happens next by itself; `Infinity` when idle. */
  nextEventAt(): number {
    this.#plan();
    return this.#phase?.endSeconds ?? Number.POSITIVE_INFINITY;
  }

  /** Goes on to a time, and gives what ended until then, in order. */
  advanceTo(at: number): Outcome[] {
    // What begins at this very moment is left open: more may arrive in it.
    while ((this.#phase !== undefined || this.#now < at) && this.nextEventAt() <= at) this.#finishPhase();
    const outcomes = this.#outcomes;
    if (outcomes.length > 0) this.#outcomes = [];
    return outcomes;
  }

  /** Ends the running phase with the last step that is complete. */
  #cutShort(at: number): void {
    const phase = this.#phase;
    if (phase === undefined || phase.steps === 0) return;
    let steps = stepsUntil(phase.stretch, at - phase.startSeconds);
    if (phase.startSeconds + stretchSeconds(phase.stretch, steps) > at) steps -= 1;
    phase.steps = steps;
    phase.endSeconds = phase.startSeconds + stretchSeconds(phase.stretch, steps);
    this.#finishPhase();
  }

  /** Lets a change take effect now, if this is a boundary, or at the end of the running step. */
  #change(at: number, apply: () => void): void {
    if (at > this.#now) {
      this.#plan();
      if (this.#phase === undefined) this.#now = at;
    }
    const phase = this.#phase;
    if (phase === undefined) {
      apply();
      return;
    }
    this.#changes.push(apply);
    if (phase.steps <= 1) return;
    phase.steps = Math.max(1, Math.min(phase.steps, stepsUntil(phase.stretch, at - phase.startSeconds)));
    phase.endSeconds = phase.startSeconds + stretchSeconds(phase.stretch, phase.steps);
  }

  /** From a boundary, decides what runs next. */
  #plan(): void {
    if (this.#phase !== undefined) return;
    const preempted = this.#preemptUntilFit();
    const prefillTokens = preempted ? 0 : this.#admit();
    if (prefillTokens > 0) {
      const seconds = prefillTokens * this.cost.prefillSecondsPerToken;
      this.#begin({ steps: 0, seconds, stretch: { firstSeconds: 0, growthSeconds: 0 } });
      this.prefillSeconds += seconds;
      return;
    }
    if (this.#running === 0) return;
    const stretch = {
      firstSeconds: baseSeconds(this.cost, this.#running) + this.cost.secondsPerContextToken * this.#contextTokens,
      growthSeconds: this.cost.secondsPerContextToken * this.#running,
    };
    const untilFull = Math.floor((this.cost.kvCapacityTokens - this.#contextTokens) / this.#running);
    // After a preemption the next boundary may admit again, so it comes after one step.
    const steps = preempted ? 1 : Math.min(this.#nextFinish() - this.#step, untilFull);
    this.#begin({ steps, seconds: stretchSeconds(stretch, steps), stretch });
  }

  #begin(phase: { steps: number; seconds: number; stretch: Stretch }): void {
    const { steps, seconds, stretch } = phase;
    this.#phase = { startSeconds: this.#now, endSeconds: this.#now + seconds, steps, stretch };
  }

  #finishPhase(): void {
    const { startSeconds, endSeconds, steps } = this.#phase!;
    this.#phase = undefined;
    this.busySeconds += endSeconds - startSeconds;
    this.#record(startSeconds, endSeconds);
    this.#now = endSeconds;
    this.#step += steps;
    this.decodeSteps += steps;
    this.generatedTokens += steps * this.#running;
    this.#contextTokens += steps * this.#running;
    for (
      let top = this.#finishing.peek();
      top !== undefined && top.finish <= this.#step;
      top = this.#finishing.peek()
    ) {
      this.#finishing.pop();
      if (!isCurrent(top)) continue;
      this.#leaveBatch(top.sequence);
      this.#end(top.sequence, 'completed');
    }
    const changes = this.#changes.splice(0);
    for (const apply of changes) apply();
  }

  #nextFinish(): number {
    while (!isCurrent(this.#finishing.peek()!)) this.#finishing.pop();
    return this.#finishing.peek()!.finish;
  }

  #preemptUntilFit(): boolean {
    let preempted = false;
    while (this.#running > 1 && this.#contextTokens + this.#running > this.cost.kvCapacityTokens) {
      while (!isCurrent(this.#stack[this.#stack.length - 1]!)) this.#stack.pop();
      const { sequence } = this.#stack.pop()!;
      this.#leaveBatch(sequence);
      sequence.place = 'waiting';
      this.#preempted.push(sequence);
      this.preemptions += 1;
      this.recomputedTokens += sequence.request.promptTokens + sequence.generated;
      preempted = true;
    }
    return preempted;
  }

  /** Admits what fits and gives the tokens to prefill. */
  #admit(): number {
    const { kvCapacityTokens, maxRunningSequences, watermark } = this.cost;
    let tokens = 0;
    while (this.#running < maxRunningSequences) {
      const next = this.#firstWaiting();
      if (next === undefined) break;
      const context = next.request.promptTokens + next.generated;
      const limit = this.#running === 0 ? kvCapacityTokens : kvCapacityTokens * (1 - watermark);
      if (this.#contextTokens + context + 1 > limit) break;
      if (this.#preempted[this.#preempted.length - 1] === next) this.#preempted.pop();
      else this.#waiting.shift();
      this.#enterBatch(next, context);
      tokens += context;
    }
    return tokens;
  }

  #firstWaiting(): Sequence | undefined {
    while (this.#preempted.length > 0 && this.#preempted[this.#preempted.length - 1]!.place === 'gone')
      this.#preempted.pop();
    const preempted = this.#preempted[this.#preempted.length - 1];
    if (preempted !== undefined) return preempted;
    while (this.#waiting.peek()?.place === 'gone') this.#waiting.shift();
    return this.#waiting.peek();
  }

  #enterBatch(sequence: Sequence, context: number): void {
    sequence.place = 'running';
    sequence.version += 1;
    sequence.admittedAt = this.#step;
    sequence.finish = this.#step + sequence.request.responseTokens - sequence.generated;
    const entry = { sequence, version: sequence.version, finish: sequence.finish };
    this.#stack.push(entry);
    this.#finishing.push(entry);
    this.#running += 1;
    this.#contextTokens += context;
  }

  #leaveBatch(sequence: Sequence): void {
    sequence.generated = this.#generated(sequence);
    this.#running -= 1;
    this.#contextTokens -= sequence.request.promptTokens + sequence.generated;
    sequence.version += 1;
  }

  #generated(sequence: Sequence): number {
    return sequence.place === 'running' ? sequence.generated + this.#step - sequence.admittedAt : sequence.generated;
  }

  #end(sequence: Sequence, kind: Outcome['kind']): void {
    const { requestId } = sequence.request;
    sequence.place = 'gone';
    this.#sequences.delete(requestId);
    this.#outcomes.push({ requestId, kind, at: this.#now, tokens: sequence.generated });
  }

  #record(startSeconds: number, endSeconds: number): void {
    if (!this.#keepTimeline || endSeconds === startSeconds) return;
    const last = this.timeline[this.timeline.length - 1];
    const running = this.#running;
    if (last !== undefined && last.endSeconds === startSeconds && last.running === running) {
      this.timeline[this.timeline.length - 1] = { ...last, endSeconds };
    } else this.timeline.push({ startSeconds, endSeconds, activity: 'rollout', running });
  }
}

function isCurrent(entry: Entry): boolean {
  return entry.sequence.version === entry.version && entry.sequence.place === 'running';
}
