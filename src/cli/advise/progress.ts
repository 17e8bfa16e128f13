/** One bar from the first byte to the answer, with an estimate of the time left. */
import type { Showing } from '../files/input/read.ts';
import { Progress } from '../terminal/progress.ts';

const width = 24;
/** Share of the bar for reading; simulations take the rest. */
const readingShare = 0.15;
/** The first runs take longer: code is not yet compiled. */
const firstRuns = 4;

/** The progress of `rollflex advise`. */
export class AdviseProgress extends Progress implements Showing {
  readonly #begun = performance.now();
  #share = 0;
  #runsBegun: { readonly at: number; readonly done: number } | undefined;

  constructor(isQuiet: boolean) {
    super({ text: 'reading', isQuiet });
  }

  /** Shows the share of the input that is read, 0 to 1. */
  readonly read = (share: number): void => {
    const seconds = (performance.now() - this.#begun) / 1000;
    this.#share = Math.max(this.#share, readingShare * share);
    this.#show('reading', this.#share < 0.02 ? undefined : seconds / this.#share - seconds);
  };

  /** Shows how many of the planned runs are done. */
  runs(done: number, planned: number, what: string): void {
    const now = performance.now();
    if (this.#runsBegun === undefined && done >= firstRuns) this.#runsBegun = { at: now, done };
    const begun = this.#runsBegun;
    const made = begun === undefined ? 0 : done - begun.done;
    const left = begun === undefined || made === 0 ? undefined : ((planned - done) * (now - begun.at)) / made / 1000;
    // The number of planned runs is a guess, and may grow: the bar never goes back.
    this.#share = Math.max(this.#share, readingShare + ((1 - readingShare) * done) / planned);
    this.#show(what, left);
  }

  #show(what: string, secondsLeft: number | undefined): void {
    const full = Math.round(width * this.#share);
    const bar = `${'█'.repeat(full)}${'░'.repeat(width - full)}`;
    const left = secondsLeft === undefined ? '' : `, about ${Math.ceil(secondsLeft)} s left`;
    this.text = `${bar} ${Math.round(100 * this.#share)} %${left}: ${what}`;
  }
}
