/** Counters of an engine. */
import type { Segment } from '../comparison/result.ts';
import type { Plan } from './step-scheduler.ts';
import type { EngineTimeline } from './timeline.ts';

/**
 * Sums over decode steps, as SGLang's `decode_moments`: they tell how the seconds of a step grow with the sequences in it. `b` is the
 * number of sequences of a step, and `t` its seconds.
 */
export interface DecodeMoments {
  /** Number of steps. */
  readonly steps: number;
  /** Σ b. */
  readonly sequences: number;
  /** Σ t, in seconds. */
  readonly seconds: number;
  /** Σ b². */
  readonly squaredSequences: number;
  /** Σ b · t, in seconds. */
  readonly sequenceSeconds: number;
  /** Generated tokens. */
  readonly tokens: number;
}

/** Returns the sums after further steps with the same sequences. */
export const momentsAfter = (
  sums: DecodeMoments,
  steps: number,
  running: number,
  seconds: number,
  tokensPerStep: number,
): DecodeMoments => ({
  steps: sums.steps + steps,
  sequences: sums.sequences + steps * running,
  seconds: sums.seconds + seconds,
  squaredSequences: sums.squaredSequences + steps * running ** 2,
  sequenceSeconds: sums.sequenceSeconds + running * seconds,
  tokens: sums.tokens + steps * running * tokensPerStep,
});

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
  /** Σ b² and Σ b · t over decode steps: see {@link DecodeMoments}. */
  #squaredSequences = 0;
  #sequenceSeconds = 0;
  #sequences = 0;
  /** Tokens generated, including aborted requests; with drafts in expectation, with those that the last step generates beyond the end. */
  generatedTokens = 0;
  /**
   * Activity of the engine, if a timeline is recorded; neighbouring segments with the same number of running sequences are merged.
   */
  readonly timeline: Segment[] = [];
  /** Where the engine records its activity in stretches of equal length, if a caller wants it. @internal */
  activity: EngineTimeline | undefined;
  readonly #keepTimeline: boolean;

  constructor(keepTimeline: boolean) {
    this.#keepTimeline = keepTimeline;
  }

  /** Counts a completed plan with these steps and running sequences. @internal */
  protected count(plan: Plan, startSeconds: number, endSeconds: number, steps: number, running: number): void {
    const seconds = endSeconds - startSeconds;
    this.busySeconds += seconds;
    if (plan.steps === 0) this.prefillSeconds += seconds;
    else {
      this.decodeSeconds += seconds;
      this.#sequenceSeconds += running * seconds;
      this.#sequences += steps * running;
      this.#squaredSequences += steps * running * running;
    }
    this.decodeSteps += steps;
    this.generatedTokens += steps * running * plan.tokensPerStep;
    this.preemptions += plan.preemptions;
    this.recomputedTokens += plan.recomputedTokens;
    this.activity?.add(startSeconds, endSeconds, plan.steps === 0, running);
    if (this.#keepTimeline && endSeconds > startSeconds) this.#record(startSeconds, endSeconds, running);
  }

  /** Sums over the finished decode steps. */
  protected get finishedMoments(): DecodeMoments {
    return {
      steps: this.decodeSteps,
      sequences: this.#sequences,
      seconds: this.decodeSeconds,
      squaredSequences: this.#squaredSequences,
      sequenceSeconds: this.#sequenceSeconds,
      tokens: this.generatedTokens,
    };
  }

  #record(startSeconds: number, endSeconds: number, running: number): void {
    const last = this.timeline[this.timeline.length - 1];
    if (last !== undefined && last.endSeconds === startSeconds && last.running === running) {
      this.timeline[this.timeline.length - 1] = { ...last, endSeconds };
    } else this.timeline.push({ startSeconds, endSeconds, activity: 'rollout', running });
  }
}
