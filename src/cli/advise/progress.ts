/** One bar from the first byte to the answer, with an estimate of the time left, and what the search has found so far. */
import type { AdviseWork } from '../../sim/advise/advising.ts';
import { fasterText, plainSigns, speedupOf } from '../../sim/report/faster.ts';
import type { FoundSettings } from '../../sim/sweep/search/batch.ts';
import type { Showing } from '../files/input/read.ts';
import { Progress } from '../terminal/progress.ts';

/** Share of the bar for reading; simulations take the rest. */
const readingShare = 0.05;
/** Share of the simulations from which the time left is known: at first, code is not yet compiled. */
const leastKnown = 0.05;

/** Returns the best settings of a search so far, in words. */
export function foundText({ label, gain, seeds }: FoundSettings): string {
  const speedup = speedupOf(gain);
  const isSure = seeds >= leastForInterval;
  const speed = fasterText(isSure ? speedup : speedup.value, plainSigns);
  return `so far ${label}: ${speed} in ${seeds} runs${isSure ? '' : ', too few for an interval'}`;
}
/** Fewer runs say nothing about their differences. */
const leastForInterval = 3;

const stoppedText = (found: FoundSettings | undefined): string =>
  found === undefined ? 'stopped before the first result' : `stopped: ${foundText(found)}; the search had not ended`;

/** The progress of `rollflex advise`. */
export class AdviseProgress extends Progress implements Showing {
  readonly #begun = performance.now();
  #share = 0;
  #runsBegun: number | undefined;
  #isFirst = true;

  constructor(isQuiet: boolean) {
    let found: FoundSettings | undefined;
    super({ text: 'reading', isQuiet, stopped: () => stoppedText(found) });
    this.#keep = (one) => {
      found = one;
    };
  }

  readonly #keep: (found: FoundSettings) => void;

  /** Shows the share of the input that is read, 0 to 1. */
  readonly read = (share: number): void => {
    const seconds = (performance.now() - this.#begun) / 1000;
    this.#share = Math.max(this.#share, readingShare * share);
    const secondsLeft = this.#share < 0.02 ? undefined : seconds / this.#share - seconds;
    this.show({ text: 'reading', share: this.#share, secondsLeft });
  };

  /** Shows how much of a batch of runs is done, 0 to 1. */
  runs(
    { phase, responses: { done, next, planned }, found }: Pick<AdviseWork, 'phase' | 'responses' | 'found'>,
    ofBatch: number,
  ): void {
    this.#runsBegun ??= performance.now();
    const share = Math.min(1, (done + ofBatch * next) / planned);
    const seconds = (performance.now() - this.#runsBegun) / 1000;
    const secondsLeft = share < leastKnown ? undefined : (seconds * (1 - share)) / share;
    // The amount of planned work is a guess, and may grow: the bar never goes back.
    this.#share = Math.max(this.#share, readingShare + (1 - readingShare) * share);
    if (found !== undefined) this.#keep(found);
    this.show({
      text: phase === 'costs' ? 'what it costs' : phase,
      share: this.#share,
      secondsLeft,
      found: found === undefined ? undefined : foundText(found),
    });
    // Whoever waits sees the first figure as soon as it is there.
    if (found === undefined || !this.#isFirst) return;
    this.#isFirst = false;
    if (performance.now() - this.#begun > firstFigureAfter) this.tellNow();
  }
}
/** Milliseconds: what ends sooner stays silent. */
const firstFigureAfter = 3000;
