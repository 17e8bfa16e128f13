/** Predicts how many environments of a kind will be asked for before another could start, and how long idle ones are worth keeping. */
import { z } from 'zod';
import { byHand } from '../../core/machine/state.ts';
import { savedTimes, WaitingTimes } from '../../core/why/waiting-times.ts';
import { count, seconds } from '../../schemas/units.ts';

/** Number of past windows. The number is odd, so that the median is one of the windows. */
const windows = 5;
/** Most idle environments that were ended and whose gaps are measured. */
const mostEnded = 64;

const saved = z.strictObject({
  starts: savedTimes.describe('How long starts took.'),
  gaps: savedTimes.describe('How long environments were idle before the next program came.'),
  windowAt: seconds.describe('When the present window began.'),
  present: count.describe('Requests in the present window.'),
  past: z.array(count).max(windows).describe('Requests in the windows before it, oldest first.'),
  ended: z.array(seconds).max(mostEnded).describe('When those that were ended as idle had become so, in order.'),
});
type Saved = z.output<typeof saved>;

/** The demand for one kind of environment. */
export class Demand {
  readonly #starts: WaitingTimes;
  readonly #gaps: WaitingTimes;
  #windowAt: number;
  #present: number;
  readonly #past: number[];
  readonly #ended: number[];
  #startSeconds: number;

  constructor(from: Saved = { starts: [], gaps: [], windowAt: 0, present: 0, past: [], ended: [] }) {
    this.#starts = new WaitingTimes(from.starts);
    this.#gaps = new WaitingTimes(from.gaps);
    this.#windowAt = from.windowAt;
    this.#present = from.present;
    this.#past = [...from.past];
    this.#ended = [...from.ended];
    this.#startSeconds = this.#starts.quantile(0.9);
  }

  /** Time within which nine of ten environments start, in seconds; 0 before the first start. */
  get startSeconds(): number {
    return this.#startSeconds;
  }

  started(tookSeconds: number): void {
    this.#starts.add(tookSeconds);
    this.#startSeconds = this.#starts.quantile(0.9);
  }

  requested(at: number): void {
    this.#roll(at);
    this.#present += 1;
  }

  /**
   * Returns how many programs are expected to ask for an environment while one starts. Arrivals are counted in windows as long as
   * a start (Little's law: rate times time). The expectation is the median of the last windows, so that a single burst does not
   * count, plus one standard deviation of a Poisson count.
   */
  expected(at: number): number {
    this.#roll(at);
    if (this.#past.length < windows) return 0;
    const median = [...this.#past].sort((a, b) => a - b)[(windows - 1) / 2]!;
    return median + Math.ceil(Math.sqrt(median));
  }

  /** Notes that a program has got an environment that was idle since this time. */
  reused(since: number, at: number): void {
    this.#gaps.add(at - since);
  }

  /** Notes that an environment was ended that had been idle since then. */
  endedIdle(since: number): void {
    this.#ended.push(since);
    if (this.#ended.length > mostEnded) this.#ended.shift();
  }

  /** Notes that a program waits for a start: it would have got the latest idle environment, if that had been kept. */
  missed(at: number, mostSeconds: number): void {
    const since = this.#ended.pop();
    if (since !== undefined && at - since <= mostSeconds) this.#gaps.add(at - since);
  }

  /** Returns how long an idle environment is worth keeping, in seconds: 19 of 20 gaps are shorter, and no start takes longer. */
  keepSeconds(mostSeconds: number): number {
    return Math.min(mostSeconds, Math.max(this.#startSeconds, this.#gaps.quantile(0.95)));
  }

  save(): Saved {
    return {
      starts: this.#starts.save(),
      gaps: this.#gaps.save(),
      windowAt: this.#windowAt,
      present: this.#present,
      past: [...this.#past],
      ended: [...this.#ended],
    };
  }

  #roll(at: number): void {
    const length = this.#startSeconds;
    if (length === 0) {
      this.#windowAt = at;
      return;
    }
    const passed = Math.floor((at - this.#windowAt) / length);
    if (passed <= 0) return;
    this.#past.push(this.#present);
    for (let empty = 1; empty < Math.min(passed, windows + 1); empty += 1) this.#past.push(0);
    this.#past.splice(0, this.#past.length - windows);
    this.#windowAt += passed * length;
    this.#present = 0;
  }
}

/** Schema of {@link Demand} in a state. */
export const demandState = byHand(saved, { decode: (from) => new Demand(from), encode: (demand) => demand.save() });
