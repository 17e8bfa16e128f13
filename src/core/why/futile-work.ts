/**
 * Work that gains nothing: prompts, or groups, that are filtered in a row, while none counts. The usual number between two that
 * count decides when this is reported: nobody owes anything, and yet no round would end.
 */
import { z } from 'zod';
import type { AnyDecision, AnyEvent } from '../machine/definition.ts';
import { leastFiltered, mostFiltered, type UsualFiltered } from './overdue.ts';
import { savedTimes, WaitingTimes } from './waiting-times.ts';

export const savedFutileWork = z.strictObject({
  filtered: z.int().nonnegative(),
  since: z.number(),
  target: z.int().nonnegative(),
  isNamed: z.boolean(),
  runs: savedTimes,
});
type Saved = z.output<typeof savedFutileWork>;

type Message = AnyDecision | AnyEvent;
interface PromptsRequest {
  readonly reason: { readonly code: string; readonly target?: number; readonly allowed?: number };
}

/** Follows how many prompts or groups are filtered and how many count. */
export class FutileWork {
  /** Number filtered since one counted last. */
  filtered = 0;
  /** Time at which the first of these was filtered, in seconds. */
  since = 0;
  /** Whether that was said. */
  isNamed = false;
  #target = 0;
  readonly #runs: WaitingTimes;

  constructor(saved?: Saved) {
    this.#runs = new WaitingTimes(saved?.runs);
    if (saved === undefined) return;
    this.filtered = saved.filtered;
    this.since = saved.since;
    this.isNamed = saved.isNamed;
    this.#target = saved.target;
  }

  /** Follows an event or a decision. */
  follow(message: Message, at: number): void {
    switch (message.type) {
      case 'prompts.request': {
        const { code, allowed = 0, target = allowed } = (message as unknown as PromptsRequest).reason;
        // A window is of several rounds.
        if (code !== 'window_begun') this.#target = target;
        return;
      }
      case 'group.rejected':
        if ((message as unknown as { readonly cause: string }).cause === 'filtered') this.#filter(at);
        return;
      case 'prompt.filtered':
        this.#filter(at);
        return;
      case 'prompt.counted':
      case 'group.completed':
        this.#gained();
    }
  }

  get usual(): UsualFiltered | undefined {
    const { weight } = this.#runs;
    return weight === 0 ? undefined : { highFiltered: Math.floor(this.#runs.quantile(0.99)), counted: weight };
  }

  /** Number from which the work counts as futile. */
  get most(): number {
    return mostFiltered(this.#target, this.usual);
  }

  /** Whether the number filtered is so high that the work counts as futile. */
  get isTooMuch(): boolean {
    return this.filtered >= leastFiltered && this.filtered >= this.most;
  }

  /** Returns the state to save; `undefined` if nothing was ever requested or filtered. */
  save(): Saved | undefined {
    if (!this.#isKnown && this.#target === 0) return undefined;
    const { filtered, since, isNamed } = this;
    return { filtered, since, target: this.#target, isNamed, runs: this.#runs.save() };
  }

  /** Whether anything was ever filtered. */
  get #isKnown(): boolean {
    return this.filtered > 0 || this.#runs.weight > 0;
  }

  #filter(at: number): void {
    if (this.filtered === 0) this.since = at;
    this.filtered += 1;
  }

  #gained(): void {
    if (!this.#isKnown) return;
    // A number above the reporting limit is not learnt as usual: otherwise one collapse would hide the next.
    this.#runs.add(Math.min(this.filtered, this.most));
    this.filtered = 0;
    this.isNamed = false;
  }
}
