/** Ranks candidates, and chooses the best one. */
import { type Book, type Candidate, difference, gain, gainInterval, keptError, keptRatio } from '../book.ts';
import type { Spread } from '../interval.ts';
import { cautionShare, isWithin, keptSlack } from '../limits.ts';
import type { SweepLimits } from '../result.ts';
import { provisionOf, type SweepSettings } from '../settings/settings.ts';

/** Options of the rules. */
export interface RulesOptions {
  readonly book: Book;
  readonly published: Candidate;
  readonly limits: SweepLimits;
  /** Whether runs are so few and short that kept tokens are known to their standard error only. */
  readonly isNoisy: boolean;
}

/** The rules of a search. */
export class Rules {
  readonly #options: RulesOptions;

  constructor(options: RulesOptions) {
    this.#options = options;
  }

  /** Whether a candidate is within the limits on these seeds. */
  isWithin(one: Candidate, seeds: readonly number[], part: keyof typeof keptSlack): boolean {
    const { book, published, limits, isNoisy } = this.#options;
    const noise = isNoisy && part === 'confirmation' ? keptError(book.pairs(one, published, seeds)) : 0;
    return isWithin(book, one, published, seeds, limits, keptSlack[part] + noise);
  }

  /**
   * Returns the candidates within the limits that have run on all of these seeds, fastest first; equally fast candidates keep
   * their order.
   */
  ranked(seeds: readonly number[], among: readonly Candidate[] = this.#options.book.all): Candidate[] {
    const { book } = this.#options;
    const seen = new Set<string>();
    return among
      .filter((one) => one.infeasible === undefined && seeds.every((each) => one.runs.has(each)))
      .filter((one) => this.isWithin(one, seeds, 'search'))
      .filter((one) => {
        // Settings with equal results in every run, such as an adaptive TP that never changes, are kept only once.
        const runs = JSON.stringify(seeds.map((each) => one.runs.get(each)));
        return !seen.has(runs) && seen.add(runs);
      })
      .map((one) => ({ one, saved: gain(book.pairs(one, book.baseline, seeds)) }))
      .sort((a, b) => b.saved - a.saved)
      .map(({ one }) => one);
  }

  /** Returns the candidate whose gain has the highest lower end; a candidate with less speculation must win by a margin. */
  surest(list: readonly Candidate[], reference: Candidate, seeds: readonly number[], spread: Spread): Candidate {
    const { book } = this.#options;
    let best = { one: reference, low: 0 };
    const asMuch = provisionOf(reference.settings as SweepSettings) - 1e-9;
    for (const isLess of [false, true]) {
      const least = isLess ? best.low + cautionShare : 0;
      for (const one of list) {
        const speculatesLess = provisionOf(one.settings as SweepSettings) < asMuch;
        if (speculatesLess !== isLess || !this.isWithin(one, seeds, 'confirmation')) continue;
        const { low } = gainInterval(book.pairs(one, reference, seeds), spread);
        if (low > Math.max(best.low, least)) best = { one, low };
      }
    }
    return best.one;
  }

  /**
   * Returns the candidate within the limits that saves most of the reference's time, on few seeds; undefined if there is none. A
   * candidate with less speculation must save more by a margin.
   */
  likeliest(list: readonly Candidate[], reference: Candidate, seeds: readonly number[]): Candidate | undefined {
    const { book } = this.#options;
    const asMuch = provisionOf(reference.settings as SweepSettings) - 1e-9;
    const worth = (one: Candidate): number =>
      gain(book.pairs(one, reference, seeds)) -
      (provisionOf(one.settings as SweepSettings) < asMuch ? cautionShare : 0);
    const within = list.filter((one) => this.isWithin(one, seeds, 'confirmation'));
    return within.map((one) => ({ one, saved: worth(one) })).sort((a, b) => b.saved - a.saved)[0]?.one;
  }

  /**
   * Applies the one-standard-error rule: a candidate is preferred to the reference only if it is faster by more than the standard
   * error of the difference. Among candidates within that error of the fastest, the candidate that keeps most tokens comes first.
   */
  winners(list: readonly Candidate[], reference: Candidate, seeds: readonly number[]): Candidate[] {
    const { book } = this.#options;
    const fastest = list[0];
    if (fastest === undefined) return [reference];
    const close = list.filter((one) => {
      const { mean, error } = difference(book.pairs(fastest, one, seeds));
      return mean <= error;
    });
    if (close.includes(reference)) return [reference];
    const keptTokens = (one: Candidate): number => keptRatio(book.pairs(one, book.baseline, seeds));
    const preferred = [...close].sort((a, b) => keptTokens(b) - keptTokens(a));
    const rest = list.slice(0, list.indexOf(reference) < 0 ? undefined : list.indexOf(reference));
    return [...new Set([...preferred, ...rest])];
  }
}
