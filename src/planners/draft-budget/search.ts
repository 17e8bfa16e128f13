/** The best budget for a batch: exact for any step times. */
import type { DraftBudgetSettings } from '../../generated/settings/draft-budget.ts';

/** A draft budget, with its gain and its cost. */
export interface Budget {
  /** Drafted tokens of the whole batch. */
  readonly drafted: number;
  /** Most drafted tokens of a sequence: passes of the drafter. */
  readonly depth: number;
  /** Weighted tokens that a step is expected to generate. */
  readonly worth: number;
  readonly seconds: number;
}

/** The j-th drafted token of a group's sequences: how many, and what each adds to the worth of a step. */
interface Level {
  readonly group: number;
  readonly position: number;
  readonly sequences: number;
  readonly gain: number;
}

/** Relative difference that sums in another order may have. */
const rounding = 1e-12;

type Pass = DraftBudgetSettings['passSeconds'][number];

/** Returns the seconds of a step by linear interpolation; below the first point, the seconds of that point. */
function secondsOf(passes: readonly Pass[], tokens: number): number {
  let [low, high] = [0, passes.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (passes[middle]!.tokens >= tokens) high = middle;
    else low = middle + 1;
  }
  const above = passes[low]!;
  const below = passes[low - 1];
  if (below === undefined) return above.seconds;
  const share = (tokens - below.tokens) / (above.tokens - below.tokens);
  return below.seconds + share * (above.seconds - below.seconds);
}

/** Searches budgets for one batch, given chances of acceptance and costs. */
export class Search {
  readonly #input: DraftBudgetSettings;
  readonly #levels: readonly Level[];
  readonly #sequences: number;
  readonly #worth: number;

  /** @param chances - chance that a draft is accepted up to its j-th token, never rising */
  constructor(input: DraftBudgetSettings, chances: readonly number[]) {
    this.#input = input;
    this.#sequences = input.groups.reduce((sum, { sequences }) => sum + sequences, 0);
    this.#worth = input.groups.reduce((sum, { sequences, weight }) => sum + sequences * weight, 0);
    this.#levels = input.groups
      .flatMap(({ sequences, weight, remainingTokens = Infinity }, group) =>
        chances
          .slice(0, Math.min(chances.length, remainingTokens - 1))
          .map((chance, at) => ({ group, position: at + 1, sequences, gain: weight * chance })),
      )
      .filter(({ gain }) => gain > 0)
      .sort((a, b) => b.gain - a.gain || a.position - b.position || a.group - b.group);
  }

  /** Returns the budget without drafts. */
  none(): Budget {
    return this.#budget(0, 0, this.#worth);
  }

  /** Returns the best budget where all sequences get the same; ties go to the shorter drafts. */
  uniform(): Budget {
    let best = this.none();
    let worth = this.#worth;
    for (let depth = 1; this.#fits(depth * this.#sequences) && depth <= this.#input.maxDraftTokens; depth += 1) {
      worth += this.#levels.reduce(
        (sum, { position, sequences, gain }) => (position === depth ? sum + sequences * gain : sum),
        0,
      );
      best = this.#better(best, this.#budget(depth * this.#sequences, depth, worth));
    }
    return best;
  }

  /**
   * Returns the best budget where sequences may get different numbers of draft tokens. The seconds of a step depend only on its
   * drafted tokens n and on the longest draft. With a limit on draft length and with n tokens, the worth is a sum of one concave
   * function per sequence, so the n largest gains are best. Between two levels and two measured points, worth and seconds are
   * linear in n and their quotient is monotonic, so only the ends are tried.
   */
  perSequence(): Budget {
    const points = this.#input.passSeconds.map(({ tokens }) => tokens - this.#sequences);
    let best = this.none();
    for (let depth = 1; depth <= this.#input.maxDraftTokens; depth += 1) {
      let drafted = 0;
      let worth = this.#worth;
      for (const { sequences, gain } of this.#within(depth)) {
        for (const end of [
          ...points.filter((one) => one > drafted && one < drafted + sequences),
          drafted + sequences,
        ]) {
          if (!this.#fits(end)) break;
          best = this.#better(best, this.#budget(end, depth, worth + (end - drafted) * gain));
        }
        drafted += sequences;
        worth += sequences * gain;
      }
    }
    return best;
  }

  /**
   * Returns how a budget is spread in each group: draft tokens of every sequence, and the number of sequences that get one more.
   */
  spread({ drafted, depth }: Budget): { draftTokens: number; deeper: number }[] {
    if (!this.#input.perSequence) return this.#input.groups.map(() => ({ draftTokens: depth, deeper: 0 }));
    const groups = this.#input.groups.map(() => ({ draftTokens: 0, deeper: 0 }));
    let left = drafted;
    for (const { group, sequences } of this.#within(depth)) {
      const taken = Math.min(left, sequences);
      if (taken === sequences) groups[group]!.draftTokens += 1;
      else groups[group]!.deeper += taken;
      left -= taken;
      if (left === 0) break;
    }
    return groups;
  }

  #within(depth: number): Level[] {
    return this.#levels.filter(({ position }) => position <= depth);
  }

  #fits(drafted: number): boolean {
    return this.#sequences + drafted <= this.#input.passSeconds.at(-1)!.tokens;
  }

  #budget(drafted: number, depth: number, worth: number): Budget {
    const { passSeconds, drafter } = this.#input;
    const drafting = drafter.stepSeconds + depth * drafter.passSeconds + drafted * drafter.secondsPerToken;
    const seconds = secondsOf(passSeconds, this.#sequences + drafted) + (drafted > 0 ? drafting : 0);
    return { drafted, depth, worth, seconds };
  }

  #better(best: Budget, other: Budget): Budget {
    return other.worth * best.seconds > best.worth * other.seconds * (1 + rounding) ? other : best;
  }
}
