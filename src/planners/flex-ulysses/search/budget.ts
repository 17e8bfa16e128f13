/** The steps that a search may take: counted, so that the same input gives the same plan on every machine. */

/** Why a search ended early: it had used up its steps, or its time. */
export type Cut = 'steps' | 'deadline';

/** The steps of one search. A step looks at one item or one device, and takes a few nanoseconds. */
export class Budget {
  /** Remaining steps; negative once a part of the search has overdrawn the budget, which ends the search. */
  left: number;
  /** Why the search was cut short; `undefined` if it came to its end. */
  cut: Cut | undefined;
  readonly #isLate: () => boolean;

  /** @param isLate - whether the host wants the best plan so far; called now and then */
  constructor(steps: number = Number.MAX_SAFE_INTEGER, isLate: () => boolean = () => false) {
    this.left = steps;
    this.#isLate = isLate;
  }

  spend(steps: number): void {
    this.left -= steps;
  }

  /** Whether the search must end; a part that ends for this reason counts as cut short. */
  get isSpent(): boolean {
    if (this.cut !== 'deadline' && this.#isLate()) {
      this.cut = 'deadline';
      this.left = 0;
    }
    if (this.left > 0) return false;
    this.cut ??= 'steps';
    return true;
  }
}
