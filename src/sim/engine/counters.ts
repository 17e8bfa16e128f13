/** Counters of an engine. */
import type { Segment } from '../result.ts';
import type { Plan } from './batch-scheduler.ts';

/** Counters of finished steps and prefills, and of one that the loss of the engine cut short. */
export class EngineCounters {
  /** Seconds of decoding and prefill together. */
  busySeconds = 0;
  /** Busy seconds of prefills. */
  prefillSeconds = 0;
  /** Busy seconds of decode steps. */
  decodeSeconds = 0;
  /** Decode steps, each of one token for every running sequence. */
  decodeSteps = 0;
  /** Sequences that lost their KV cache for want of room. */
  preemptions = 0;
  /** Tokens whose KV was given up by preemptions, to be computed again. */
  recomputedTokens = 0;
  /** Tokens generated, including aborted requests. */
  generatedTokens = 0;
  /** Its activity, if it keeps a timeline: neighbours with as many running sequences are one segment. */
  readonly timeline: Segment[] = [];
  readonly #keepTimeline: boolean;

  constructor(keepTimeline: boolean) {
    this.#keepTimeline = keepTimeline;
  }

  /** Counts a completed plan with this many steps of this many running sequences. @internal */
  protected count(plan: Plan, startSeconds: number, endSeconds: number, steps: number, running: number): void {
    const seconds = endSeconds - startSeconds;
    this.busySeconds += seconds;
    if (plan.steps === 0) this.prefillSeconds += seconds;
    else this.decodeSeconds += seconds;
    this.decodeSteps += steps;
    this.generatedTokens += steps * running;
    this.preemptions += plan.preemptions;
    this.recomputedTokens += plan.recomputedTokens;
    if (this.#keepTimeline && endSeconds > startSeconds) this.#record(startSeconds, endSeconds, running);
  }

  #record(startSeconds: number, endSeconds: number, running: number): void {
    const last = this.timeline[this.timeline.length - 1];
    if (last !== undefined && last.endSeconds === startSeconds && last.running === running) {
      this.timeline[this.timeline.length - 1] = { ...last, endSeconds };
    } else this.timeline.push({ startSeconds, endSeconds, activity: 'rollout', running });
  }
}
