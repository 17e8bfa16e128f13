/**
 * An inference engine with continuous batching, as in vLLM. It is advanced in closed form from boundary to boundary.
 *
 * A boundary is the end of a prefill or of a decode step, or any moment of an idle engine. At a boundary, in this order:
 *
 * 1. Sequences that have all their tokens leave, in the order of their arrival at the engine.
 * 2. Arrivals and aborts up to this moment take effect, in the order in which they came. Arrivals and aborts inside a step or a
 *    prefill wait for its end; those exactly at a boundary take effect at it.
 * 3. A scheduler plans what is next: `BatchScheduler` for all but agentic rollouts, which prefill in chunks (`ChunkScheduler`).
 *
 * Steps with the same batch are run in one stretch, until a sequence completes or the cache is full. The times at which
 * `nextEventAt` or `advanceTo` are called do not change the results, if the scheduler can undo its plans. Time never goes back: an
 * earlier moment is read as the latest boundary.
 */
import { refuse } from '../../errors.ts';
import type { CostModel } from '../models/cost-model.ts';
import { newSequence, type Sequence, wholeTokens } from './batch.ts';
import { type DecodeMoments, EngineCounters, momentsAfter } from './counters.ts';
import type { SeenPosition } from './drafting.ts';
import {
  checkRequest,
  checkTime,
  type EngineLoad,
  type EngineRequest,
  type LostRequest,
  type Outcome,
} from './request.ts';
import type { Plan, StepScheduler } from './step-scheduler.ts';
import { stepsUntil, stretchSeconds } from './step-time.ts';

/** A plan with its start and end times. */
interface Phase {
  readonly plan: Plan;
  readonly startSeconds: number;
  endSeconds: number;
  steps: number;
}

/** Returns the number of steps in a phase that are over at a time inside the phase. */
function stepsBy({ plan, startSeconds }: Phase, at: number): number {
  if (plan.steps === 0) return 0;
  const steps = stepsUntil(plan.stretch, at - startSeconds);
  return startSeconds + stretchSeconds(plan.stretch, steps) > at ? steps - 1 : steps;
}

/** What all engines in simulated time are: a scheduler plans, and plans are carried out in closed form. */
export class Engine extends EngineCounters {
  /** Id of the engine. */
  readonly engineId: string;
  /** Durations of decode steps and prefills, and the size of the KV cache. */
  readonly cost: CostModel;
  readonly #scheduler: StepScheduler;
  readonly #canUndo: boolean;
  readonly #sequences = new Map<string, Sequence>();
  readonly #changes: (() => void)[] = [];
  #outcomes: Outcome[] = [];
  #phase: Phase | undefined;
  /** Time of the last boundary. */
  #now = 0;
  #arrivals = 0;

  constructor(engineId: string, cost: CostModel, scheduler: StepScheduler, keepTimeline: boolean) {
    super(keepTimeline);
    this.engineId = engineId;
    this.cost = cost;
    this.#scheduler = scheduler;
    this.#canUndo = scheduler.undo !== undefined;
  }

  /** Offered and accepted drafts so far, by position and in expectation; empty without drafts. */
  get seenDrafts(): readonly Readonly<SeenPosition>[] {
    return this.#scheduler.drafting?.seen ?? [];
  }

  /** Number of requests on the engine, running or waiting. */
  get size(): number {
    return this.#sequences.size;
  }

  /**
   * Adds a request.
   *
   * @throws PolicyError `infeasible` if the request can never fit the KV cache, `duplicate_id` if the engine has it already,
   *   `invalid_input` for impossible numbers or times
   */
  add(request: EngineRequest, at: number): void {
    checkTime(at);
    checkRequest(request, this.cost);
    this.#catchUp(at);
    if (this.#sequences.has(request.requestId)) {
      refuse('duplicate_id', 'requestId', 'a new request', request.requestId);
    }
    const sequence = newSequence(request, this.#arrivals++);
    this.#sequences.set(request.requestId, sequence);
    const scheduler = this.#scheduler;
    const { waiting } = scheduler;
    const phase = this.#phase;
    const isInTime = this.#canUndo && phase !== undefined && at <= phase.startSeconds;
    // Planning again after each of n arrivals at the same time would take O(n²).
    if ((isInTime || !this.#canUndo) && scheduler.hasQueue()) waiting.pushBack(sequence);
    else if (isInTime && phase.steps === 0 && waiting.arrivalsGoLast) {
      waiting.pushBack(sequence);
      this.#begin(scheduler.extend!());
    } else this.#change(at, () => waiting.pushBack(sequence));
  }

  /**
   * Aborts a request. The outcome comes at the end of the running step: `aborted`, or `completed` if the step was the request's
   * last one. An unknown request is ignored, because its end may not have been reported yet.
   */
  abort(requestId: string, at: number): void {
    checkTime(at);
    this.#catchUp(at);
    const sequence = this.#sequences.get(requestId);
    if (sequence === undefined) return;
    this.#change(at, () => {
      if (sequence.status !== 'gone') this.#end(sequence, 'aborted');
    });
  }

  /**
   * Drops all requests, as in a crash. Steps that end by this time count. The tokens of the running step are lost, but its
   * seconds count. Aborts that waited for the end of this step never take effect.
   *
   * @returns the dropped requests with their generated tokens, in the order of arrival
   */
  lose(at: number): LostRequest[] {
    checkTime(at);
    this.#catchUp(at);
    const phase = this.#phase;
    if (phase !== undefined && at > phase.startSeconds) this.#cutShort(phase, at);
    this.#phase = undefined;
    this.#changes.length = 0;
    const lost = [...this.#sequences.values()].map((sequence) => {
      this.#scheduler.remove(sequence);
      return { requestId: sequence.request.requestId, tokens: sequence.generated };
    });
    this.#sequences.clear();
    this.#scheduler.batch.forgetPrompts();
    this.#now = Math.max(this.#now, at);
    return lost;
  }

  /** Returns the running and waiting requests with their generated tokens, in the order of arrival. */
  progress(at: number): LostRequest[] {
    checkTime(at);
    this.#catchUp(at);
    const tokensOf = this.tokensAt(at);
    return [...this.#sequences.keys()].map((requestId) => ({ requestId, tokens: tokensOf(requestId)! }));
  }

  /** Returns the running and waiting requests and the tokens in the KV cache, including completed steps of a stretch. */
  load(at: number): EngineLoad {
    const tokens = this.#tokensUnderWay(at);
    const { size, contextTokens } = this.#scheduler.batch;
    const inCache = Math.floor(contextTokens + tokens * size);
    return { running: size, waiting: this.#sequences.size - size, contextTokens: inCache };
  }

  /**
   * Returns a function for the tokens of a request at this time, including completed steps of a stretch; `undefined` for an unknown
   * request.
   */
  tokensAt(at: number): (requestId: string) => number | undefined {
    const tokens = this.#tokensUnderWay(at);
    const { batch } = this.#scheduler;
    return (requestId) => {
      const sequence = this.#sequences.get(requestId);
      if (sequence === undefined) return undefined;
      return wholeTokens(sequence.request, batch.generated(sequence) + (sequence.status === 'running' ? tokens : 0));
    };
  }

  /** Returns the sums over all decode steps that have ended by a time. */
  momentsAt(at: number): DecodeMoments {
    this.#catchUp(at);
    const phase = this.#nextPhase();
    const finished = this.finishedMoments;
    if (phase === undefined || phase.plan.steps === 0 || at <= phase.startSeconds) return finished;
    const steps = stepsBy(phase, at);
    const seconds = stretchSeconds(phase.plan.stretch, steps);
    return momentsAfter(finished, steps, this.#scheduler.batch.size, seconds, phase.plan.tokensPerStep);
  }

  /** Whether a request is in the batch (and not waiting). */
  isRunning(requestId: string): boolean {
    return this.#sequences.get(requestId)?.status === 'running';
  }

  /**
   * Shortens the current stretch so that it ends with the running step, and returns the time of this end; at a boundary, returns
   * the current time.
   */
  boundaryAfter(at: number): number {
    this.#adjust(at, () => {});
    return this.#phase?.endSeconds ?? this.#now;
  }

  /** Slows the engine down by this factor against its cost model, from the end of the running step on. */
  setPace(pace: number, at: number): void {
    this.#adjust(at, () => {
      this.#scheduler.pace = pace;
    });
  }

  /** Limits the KV cache to this many tokens from the end of the running step on; requests that no longer fit are preempted. */
  setKvCapacity(tokens: number, at: number): void {
    this.#adjust(at, () => {
      this.#scheduler.kvCapacityTokens = tokens;
    });
  }

  /** Returns the time of the next event; `Infinity` when idle. */
  nextEventAt(): number {
    return this.#nextPhase()?.endSeconds ?? Number.POSITIVE_INFINITY;
  }

  /** Advances to a time, and returns the requests that have ended since the last call, in order. */
  advanceTo(at: number): Outcome[] {
    this.#catchUp(at);
    const outcomes = this.#outcomes;
    if (outcomes.length > 0) this.#outcomes = [];
    return outcomes;
  }

  #catchUp(at: number): void {
    // A phase that begins at this time is not planned yet: more requests may still arrive at this time.
    while (this.#phase !== undefined || this.#now < at) {
      const phase = this.#nextPhase();
      if (phase === undefined || phase.endSeconds > at) return;
      this.#finish(phase);
    }
  }

  #adjust(at: number, apply: () => void): void {
    checkTime(at);
    this.#catchUp(at);
    this.#change(at, apply);
  }

  /** Applies a change at once if this is a boundary, otherwise at the end of the running step. */
  #change(at: number, apply: () => void): void {
    const phase = this.#phase;
    if (phase === undefined || (this.#canUndo && at <= phase.startSeconds)) {
      if (phase === undefined) this.#now = Math.max(this.#now, at);
      else this.#scheduler.undo!();
      this.#phase = undefined;
      apply();
      return;
    }
    this.#changes.push(apply);
    if (phase.steps <= 1) return;
    const { stretch } = phase.plan;
    phase.steps = Math.max(1, Math.min(phase.steps, stepsUntil(stretch, at - phase.startSeconds)));
    phase.endSeconds = phase.startSeconds + stretchSeconds(stretch, phase.steps);
  }

  #nextPhase(): Phase | undefined {
    if (this.#phase !== undefined || this.#sequences.size === 0) return this.#phase;
    const plan = this.#scheduler.plan();
    if (plan !== undefined) this.#begin(plan);
    return this.#phase;
  }

  #begin(plan: Plan): void {
    this.#phase = { plan, startSeconds: this.#now, endSeconds: this.#now + plan.seconds, steps: plan.steps };
  }

  #finish(phase: Phase): void {
    this.#phase = undefined;
    this.#advance(phase.plan, phase.startSeconds, phase.endSeconds, phase.steps);
    this.#scheduler.endPrefill?.();
    this.#now = phase.endSeconds;
    this.#complete();
    if (this.#changes.length === 0) return;
    for (const apply of this.#changes.splice(0)) apply();
  }

  /** Ends what is done, in the order of arrival: with drafts, a step can pass the ends of several sequences. */
  #complete(): void {
    const { batch, drafting } = this.#scheduler;
    if (drafting === undefined) {
      for (let one = batch.finished(); one !== undefined; one = batch.finished()) this.#end(one, 'completed');
      return;
    }
    const done: Sequence[] = [];
    for (let one = batch.finished(); one !== undefined; one = batch.finished()) {
      batch.leave(one, 'gone');
      done.push(one);
    }
    for (const one of done.sort((a, b) => a.arrival - b.arrival)) this.#end(one, 'completed');
  }

  #cutShort(phase: Phase, at: number): void {
    this.#advance(phase.plan, phase.startSeconds, at, stepsBy(phase, at));
  }

  /** Returns the tokens that each running sequence has received in the current phase. */
  #tokensUnderWay(at: number): number {
    checkTime(at);
    this.#catchUp(at);
    // A final plan is not made before its time.
    const phase = this.#canUndo ? this.#nextPhase() : this.#phase;
    return phase === undefined || at <= phase.startSeconds ? 0 : stepsBy(phase, at) * phase.plan.tokensPerStep;
  }

  #advance(plan: Plan, startSeconds: number, endSeconds: number, steps: number): void {
    this.count(plan, startSeconds, endSeconds, steps, this.#scheduler.batch.size);
    this.#scheduler.advance(plan, steps);
  }

  #end(sequence: Sequence, kind: Outcome['kind']): void {
    const { requestId } = sequence.request;
    this.#scheduler.remove(sequence);
    this.#sequences.delete(requestId);
    if (this.#sequences.size === 0) this.#scheduler.batch.forgetPrompts();
    this.#outcomes.push({ requestId, kind, at: this.#now, tokens: sequence.generated });
  }
}
