/**
 * Predicts how long responses become, from responses that have ended: earlier ones to the same prompt, its siblings in the same
 * round, those of its domain, and all others. Each of these sources counts the more, the better it has predicted so far.
 *
 * Only additions, products, quotients and square roots of doubles are used, so that the same history gives the same numbers on
 * every machine.
 */
import { z } from 'zod';
import { byHand } from '../machine/state.ts';
import { Expectation } from './expectation.ts';
import { Histogram, savedHistogram } from './histogram.ts';
import { type Group, OpenGroups, savedGroups } from './open-groups.ts';
import { Population, savedPopulation } from './population.ts';
import { PromptLengths, savedPromptLengths } from './prompts.ts';
import { endOfScale, logLengthOf, tokensAt } from './scale.ts';

/** A response that has ended. */
export interface EndedResponse {
  readonly promptId: string;
  /** Data domain of the prompt. */
  readonly domain?: string | undefined;
  /** Length of the response in tokens, a whole number; for an aborted response, the tokens that it had. */
  readonly tokens: number;
  /** Whether the response was aborted, and would have become longer. */
  readonly censored?: boolean | undefined;
  /**
   * Number of the round, from 0; a number below an earlier one counts as that one. Responses to a prompt in one round are
   * siblings.
   */
  readonly round: number;
}

/** A response whose length is asked for. */
export interface AskedResponse {
  readonly promptId: string;
  /** Data domain of the prompt. */
  readonly domain?: string | undefined;
  /** Tokens that the response has; 0 before it starts. */
  readonly generatedTokens?: number | undefined;
  /** Number of the round in which the response runs. Without a number, no response counts as a sibling. */
  readonly round?: number | undefined;
}

/** A prediction. */
export interface LengthPrediction {
  /** The length at each level that was asked for, in tokens, not rounded: never less than the tokens that the response has. */
  readonly quantiles: readonly number[];
  /**
   * Share of the variance (of logarithms of lengths) that the prediction explains, 0 to 1. At 0 nothing is known about this
   * prompt, or nothing can be learned from prompts, and the quantiles are those of all responses.
   */
  readonly trust: number;
}

/** Bins of a histogram of deviations from the expected length, in standard deviations. */
const deviations = { low: -10, width: 1 / 16, bins: 640, limit: 2 ** 14 };
/** With so many deviations from prompts that have returned, their shape is used in place of that of siblings. */
const leastDeviations = 64;
/** Share of the weight of a prompt's earlier responses that remains when it returns. */
const retention = 0.75;
/** A group that counts for fewer responses than this says nothing about its prompt. */
const leastCount = 0.5;
/** The spread of all prompts counts as much as so many responses of the prompt itself. */
const spreadPrior = 2;
/** Highest quantile that may stand for the longest of several responses. */
const rarest = 0.98;

const saved = z.strictObject({
  maxPrompts: z.int().positive(),
  prompts: savedPromptLengths,
  population: savedPopulation,
  again: savedHistogram.describe('Deviations of responses to prompts that had returned.'),
  siblings: savedHistogram.describe('Deviations of siblings from each other.'),
  longest: z.int().nonnegative().max(endOfScale).describe('Log-length of the longest response.'),
  round: z.int().nonnegative().describe('The latest round.'),
  open: savedGroups,
});
type Saved = z.output<typeof saved>;

/** Learns the lengths of responses, and predicts those of others. */
export class LengthPredictor {
  readonly #prompts: PromptLengths;
  readonly #population: Population;
  readonly #again: Histogram;
  readonly #siblings: Histogram;
  #longest: number;
  #round: number;
  readonly #open: OpenGroups;

  /** @param maxPrompts - the most prompts that are remembered; beyond it, the one not seen for longest is forgotten */
  constructor(maxPrompts: number, from?: Saved) {
    this.#prompts = new PromptLengths(maxPrompts, from?.prompts);
    this.#population = new Population(from?.population);
    this.#again = new Histogram(deviations, from?.again);
    this.#siblings = new Histogram(deviations, from?.siblings);
    this.#longest = from?.longest ?? 0;
    this.#round = from?.round ?? 0;
    this.#open = new OpenGroups(from?.open);
  }

  /** Number of remembered prompts, without those of the current round. */
  get size(): number {
    return this.#prompts.size;
  }

  /** Begins a round. The predictor learns at once from all earlier rounds, since no more of their responses come. */
  begin(round: number): void {
    this.#round = Math.max(this.#round, round);
    for (let one = this.#open.takeOldest(this.#round); one !== undefined; one = this.#open.takeOldest(this.#round))
      this.#learn(one);
  }

  /** Takes an ended response. All predictions except those for its siblings learn from it when the next round has begun. */
  observe({ promptId, domain, tokens, censored = false, round }: EndedResponse): void {
    this.#round = Math.max(this.#round, round);
    const other = this.#open.takeOther(promptId, this.#round);
    if (other !== undefined) this.#learn(other);
    const logLength = logLengthOf(tokens);
    const group = this.#open.enter(promptId, domain, this.#round);
    (censored ? group.cut : group.logLengths).push(logLength);
    this.#longest = Math.max(this.#longest, logLength);
    // A response opens at most one group, so that learning from two groups per response keeps up.
    for (let left = 2; left > 0; left -= 1) {
      const oldest = this.#open.takeOldest(this.#round);
      if (oldest === undefined) return;
      this.#learn(oldest);
    }
  }

  /**
   * Predicts the length of a response.
   *
   * @param levels - levels of the quantiles, 0 to 1
   */
  predict(asked: AskedResponse, levels: readonly number[]): LengthPrediction {
    const expected = this.#expect(asked);
    const least = asked.generatedTokens ?? 0;
    const from = least === 0 ? Number.NEGATIVE_INFINITY : logLengthOf(least);
    const quantiles = levels.map((level) => {
      const logLength = expected.at(level, from) ?? 0;
      return Math.max(least, tokensAt(Math.min(logLength, this.#longest)));
    });
    const { variance } = this.#population;
    return { quantiles, trust: variance > 0 ? Math.max(0, 1 - expected.rest / variance) : 0 };
  }

  /**
   * Returns the expected length of the longest among several responses to this prompt, in tokens, not rounded. Rounds are best
   * composed by this length: a round waits for its longest response, and so a prompt whose lengths vary counts as longer than
   * another with the same mean. Unknown prompts of one domain have the same expected length.
   *
   * @param responses - at least 1; more than 49 count as 49, because too few have been seen to tell what is rarer
   */
  longest(asked: AskedResponse, responses: number): number {
    return this.predict(asked, [Math.min(rarest, responses / (responses + 1))]).quantiles[0]!;
  }

  save(): Saved {
    return {
      maxPrompts: this.#prompts.capacity,
      prompts: this.#prompts.save(),
      population: this.#population.save(),
      again: this.#again.save(),
      siblings: this.#siblings.save(),
      longest: this.#longest,
      round: this.#round,
      open: this.#open.save(),
    };
  }

  /** Learns from the complete and aborted responses of a group. */
  #learn({ promptId, domain, logLengths, cut }: Group): void {
    const before = this.#expect({ promptId, domain });
    const likely: [logLength: number, weight: number][] = [];
    let count = logLengths.length;
    let sum = logLengths.reduce((total, one) => total + one, 0);
    const complete = sum / count;
    const squares = logLengths.reduce((total, one) => total + (one - complete) ** 2, 0);
    for (const one of cut) {
      // An aborted response counts as its likely final length, the more the later it was aborted.
      const known = before.below(one);
      for (const level of [0.125, 0.375, 0.625, 0.875]) {
        const at = Math.max(one, before.at(level, one) ?? one);
        likely.push([at, 0.25]);
        sum += (known * at) / 4;
      }
      count += known;
    }
    const mean = count === 0 ? before.logLength : sum / count;
    const known = this.#prompts.get(promptId);
    if (before.shape !== undefined) {
      for (const one of logLengths) this.#again.add((one - before.logLength) / before.spread);
      for (const [one, weight] of likely) this.#again.add((one - before.logLength) / before.spread, weight);
    }
    if (logLengths.length > 1) {
      const freedom = (logLengths.length - 1) / logLengths.length;
      const { within } = this.#population.split(before.background.variance);
      const spread = Math.sqrt(within * freedom);
      if (spread > 0) for (const one of logLengths) this.#siblings.add((one - complete) / spread);
    }
    this.#population.learn({ domain, logLengths, likely, mean, squares, earlier: known?.mean });
    if (count < leastCount) return;
    if (known === undefined) {
      this.#prompts.set(promptId, { count, mean, squares });
      return;
    }
    const retained = known.count * retention;
    this.#prompts.set(promptId, {
      count: retained + count,
      mean: (retained * known.mean + count * mean) / (retained + count),
      squares:
        known.squares * retention + squares + ((retained * count) / (retained + count)) * (mean - known.mean) ** 2,
    });
  }

  #expect({ promptId, domain, round }: AskedResponse): Expectation {
    const population = this.#population;
    const background = population.background(domain);
    const { variance } = background;
    const known = this.#prompts.get(promptId);
    const siblings = round === undefined ? [] : (this.#open.find(promptId, round)?.logLengths ?? []);
    if (variance === 0 || (known === undefined && siblings.length === 0)) return new Expectation(background);
    const { within, between, alike, lasting } = population.split(variance);
    let { logLength } = background;
    let shape: Histogram | undefined;
    // Two variances are unknown: that of what siblings have in common, and that of a single sibling relative to `within`.
    let unknown = between;
    let own = 1;
    if (known !== undefined && lasting > 0) {
      own = (spreadPrior + known.squares / within) / (spreadPrior + Math.max(0, known.count - 1));
      const weight = lasting / (between + (own * within) / known.count);
      logLength += weight * (known.mean - logLength);
      unknown -= weight * lasting;
      shape = this.#again.total < leastDeviations ? this.#siblings : this.#again;
    }
    if (siblings.length > 0 && unknown * alike > 0) {
      unknown *= alike;
      const weight = unknown / (unknown + (own * within) / siblings.length);
      logLength += weight * (meanOf(siblings) - logLength);
      unknown -= weight * unknown;
      shape = this.#siblings;
    }
    if (shape === undefined) return new Expectation(background);
    return new Expectation(background, {
      logLength,
      spread: Math.sqrt(unknown + own * within),
      shape,
      rest: unknown + within,
    });
  }
}

const meanOf = (logLengths: readonly number[]): number =>
  logLengths.reduce((sum, one) => sum + one, 0) / logLengths.length;

/** Schema of a {@link LengthPredictor} in a state. */
export const lengthPredictor = byHand(saved, {
  decode: (from) => new LengthPredictor(from.maxPrompts, from),
  encode: (live) => live.save(),
});
