/**
 * Whether a history of one object is linearizable: whether each operation can have taken effect at one moment between
 * its call and its answer, one after the other, so that each gives the answer that was seen. The search is that of Wing
 * and Gong, with Lowe's memory of what was tried.
 */

/** An operation of a history. Times are in any unit, of one clock. */
export interface Operation {
  /** When it was called. */
  readonly from: number;
  /** When its answer came; for one whose answer was lost, when it can no longer take effect, or Infinity. */
  readonly to: number;
  /** Whether its answer was lost: it may have taken effect or not. */
  readonly isLost?: boolean;
  /** An operation that surely takes effect earlier, although its answer may come later: both were sent in one line. */
  readonly after?: Operation | undefined;
}

/** What one object does, one operation after the other. */
export interface Specification<S, O extends Operation> {
  readonly begin: S;
  /**
   * The state after an operation, the same one if nothing changes; undefined where the operation cannot have given its
   * answer in this state. For a lost answer, any answer will do.
   */
  step(state: S, operation: O): S | undefined;
  /** Two states with the same key are the same. */
  key(state: S): string;
  /** Whether an operation can give its answer neither in this state nor in one that follows: the search turns back here. */
  isTooLate(state: S, operation: O): boolean;
}

export interface Linearization<S, O extends Operation> {
  readonly result: 'linearizable' | 'not linearizable' | 'undecided';
  /** The operations in an order that explains all answers; otherwise the longest that was found. */
  readonly order: readonly O[];
  /** The state after them. */
  readonly state: S;
  /** What could come next there, none of which could have given its answer. */
  readonly next: readonly O[];
  /** States that were looked at. */
  readonly looked: number;
}

interface Place<S> {
  readonly state: S;
  /** How many operations came before. */
  readonly length: number;
  /** What to try next, from the last to the first. */
  readonly choices: { readonly at: number; readonly state: S }[];
}

/**
 * Finds an order, if there is one.
 *
 * @param most - states to look at before it is given up as undecided
 */
export function linearize<S, O extends Operation>(
  operations: readonly O[],
  specification: Specification<S, O>,
  most = 100_000,
): Linearization<S, O> {
  return new Search(operations, specification).run(most);
}

class Search<S, O extends Operation> {
  readonly #operations: readonly O[];
  readonly #specification: Specification<S, O>;
  readonly #afters: readonly (number | undefined)[];
  readonly #done: Uint8Array;
  readonly #order: number[] = [];
  #left: number;
  readonly #seen = new Set<string>();
  #best: { order: readonly number[]; state: S };
  #looked = 0;

  constructor(operations: readonly O[], specification: Specification<S, O>) {
    this.#operations = [...operations].sort((a, b) => a.from - b.from);
    this.#specification = specification;
    const places = new Map<Operation, number>(this.#operations.map((one, at) => [one, at]));
    this.#afters = this.#operations.map(({ after }) => (after === undefined ? undefined : places.get(after)));
    this.#done = new Uint8Array(operations.length);
    this.#left = operations.filter(({ isLost }) => !isLost).length;
    this.#best = { order: [], state: specification.begin };
  }

  run(most: number): Linearization<S, O> {
    const stack = [this.#arrive(this.#specification.begin)];
    while (this.#left > 0 && stack.length > 0 && this.#looked < most) {
      const place = stack.at(-1)!;
      while (this.#order.length > place.length) this.#undo();
      const choice = place.choices.pop();
      if (choice === undefined) {
        stack.pop();
        continue;
      }
      this.#do(choice.at);
      if (this.#isTooLate(choice.state)) continue;
      const next = this.#arrive(choice.state);
      if (this.#left === 0 || this.#isNew(next.state)) stack.push(next);
    }
    if (this.#left === 0) return this.#found('linearizable', this.#order, stack.at(-1)!.state);
    const { order, state } = this.#best;
    return this.#found(stack.length > 0 ? 'undecided' : 'not linearizable', order, state);
  }

  #found(result: Linearization<S, O>['result'], order: readonly number[], state: S): Linearization<S, O> {
    this.#done.fill(0);
    for (const at of order) this.#done[at] = 1;
    const next = this.#candidates().map((at) => this.#operations[at]!);
    return { result, order: order.map((at) => this.#operations[at]!), state, next, looked: this.#looked };
  }

  /** Does what changes nothing and can be done at once, and finds what may come after it. */
  #arrive(state: S): Place<S> {
    this.#looked += 1;
    for (;;) {
      const candidates = this.#candidates();
      // A lost operation that ends earlier could come only before.
      const until = candidates.reduce((least, at) => {
        const { isLost, to } = this.#operations[at]!;
        return isLost ? Math.min(least, to) : least;
      }, Number.POSITIVE_INFINITY);
      const choices: { at: number; state: S }[] = [];
      let isAgain = false;
      for (const at of candidates) {
        const one = this.#operations[at]!;
        const next = this.#specification.step(state, one);
        if (next === undefined || (one.isLost && next === state)) continue;
        if (next === state && one.from <= until) {
          this.#do(at);
          isAgain = true;
        } else choices.push({ at, state: next });
      }
      if (isAgain) continue;
      if (this.#order.length > this.#best.order.length) this.#best = { order: [...this.#order], state };
      // What was answered is tried before what was not.
      const last = (at: number): number => (this.#operations[at]!.isLost ? 0 : 1);
      choices.sort((a, b) => last(a.at) - last(b.at) || b.at - a.at);
      return { state, length: this.#order.length, choices };
    }
  }

  /** What may come next: no operation that is left was answered before it was called. */
  #candidates(): number[] {
    const latest = this.#latest();
    const found: number[] = [];
    let least = Number.POSITIVE_INFINITY;
    for (const [at, one] of this.#operations.entries()) {
      if (this.#done[at] === 1) continue;
      if (one.from > least) break;
      if (one.isLost) {
        if (one.to < latest) continue;
      } else least = Math.min(least, one.to);
      const after = this.#afters[at];
      if (after === undefined || this.#done[after] === 1) found.push(at);
    }
    return found;
  }

  /** When the last of the operations that are done was called. */
  #latest(): number {
    let at = this.#operations.length - 1;
    while (at >= 0 && this.#done[at] === 0) at -= 1;
    return at < 0 ? Number.NEGATIVE_INFINITY : this.#operations[at]!.from;
  }

  #isTooLate(state: S): boolean {
    return this.#operations.some(
      (one, at) => this.#done[at] === 0 && !one.isLost && this.#specification.isTooLate(state, one),
    );
  }

  #isNew(state: S): boolean {
    const size = this.#seen.size;
    this.#seen.add(`${String.fromCharCode(...this.#packed())}${this.#specification.key(state)}`);
    return this.#seen.size > size;
  }

  /** The operations that are done, eight in a number. */
  #packed(): Uint8Array {
    const packed = new Uint8Array((this.#done.length + 7) >> 3);
    for (const [at, isDone] of this.#done.entries()) packed[at >> 3]! |= isDone << (at & 7);
    return packed;
  }

  #do(at: number): void {
    this.#done[at] = 1;
    this.#order.push(at);
    if (!this.#operations[at]!.isLost) this.#left -= 1;
  }

  #undo(): void {
    const at = this.#order.pop()!;
    this.#done[at] = 0;
    if (!this.#operations[at]!.isLost) this.#left += 1;
  }
}
