/** Counters of an engine. */
import type { Segment } from '../comparison/result.ts';
import type { Plan } from './batch-scheduler.ts';

/** Counters of finished steps and prefills, including a step or prefill that the loss of the engine interrupted. */
export class EngineCounters {
  /** Seconds of decoding and prefill. */
  busySeconds = 0;
  /** Busy seconds of prefills. */
  prefillSeconds = 0;
  /** Busy seconds of decode steps. */
  decodeSeconds = 0;
  /** Decode steps. A step gives one token to every running sequence, or more with drafts. */
  decodeSteps = 0;
  /** Preemptions: sequences that lost their KV cache because the cache was full. */
  preemptions = 0;
  /** Tokens whose KV was dropped by preemptions and must be computed again. */
  recomputedTokens = 0;
  /** Tokens generated, including aborted requests; with drafts in expectation, with those that the last step generates beyond the end. */
  generatedTokens = 0;
  /**
   * Activity of the engine, if a timeline is recorded; neighbouring segments with the same number of running sequences are merged.
   */
  readonly timeline: Segment[] = [];
  readonly #keepTimeline: boolean;

  constructor(keepTimeline: boolean) {
    this.#keepTimeline = keepTimeline;
  }

  /** Counts a completed plan with these steps and running sequences. @internal */
  protected count(plan: Plan, startSeconds: number, endSeconds: number, steps: number, running: number): void {
    const seconds = endSeconds - startSeconds;
    this.busySeconds += seconds;
    if (plan.steps === 0) this.prefillSeconds += seconds;
    else this.decodeSeconds += seconds;
    this.decodeSteps += steps;
    this.generatedTokens += steps * running * plan.tokensPerStep;
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
