/**
 * Predicts how long responses become, from responses that have ended: earlier ones to the same prompt, its siblings in the same
 * round, those of its domain, and all others. How far each of these counts follows from how well it has predicted until now.
 *
 * Only additions, products, quotients and square roots of doubles are used, so that the same history gives the same numbers on
 * every machine.
 */
import { z } from 'zod';
import { Fifo } from './fifo.ts';
import { Histogram, savedHistogram } from './lengths/histogram.ts';
import { type Background, Population, savedPopulation } from './lengths/population.ts';
import { PromptLengths, savedPromptLengths } from './lengths/prompts.ts';
import { endOfScale, placeOf, tokensAt } from './lengths/scale.ts';
import { byHand } from './state.ts';

/** A response that has ended. */
export interface EndedResponse {
  readonly promptId: string;
  /** Data domain of the prompt. */
  readonly domain?: string | undefined;
  /** Its length in tokens, a whole number; of an aborted one, the tokens that it had. */
  readonly tokens: number;
  /** Whether it was aborted: it would have become longer. */
  readonly censored?: boolean | undefined;
  /** Number of the round, which never decreases; responses to a prompt in one round are siblings. */
  readonly round: number;
}

/** A response that is asked about. */
export interface AskedResponse {
  readonly promptId: string;
  /** Data domain of the prompt. */
  readonly domain?: string | undefined;
  /** Tokens that the response has; 0 before it starts. */
  readonly generatedTokens?: number | undefined;
  /** Number of the round in which it runs. Without it, no response counts as a sibling. */
  readonly round?: number | undefined;
}

/** A prediction. */
export interface LengthPrediction {
  /** The length at each level that was asked for, in tokens, not rounded: never less than the tokens that the response has. */
  readonly quantiles: readonly number[];
  /**
   * Share of the variance (of logarithms of lengths) that is explained, 0 to 1. At 0, nothing is known of this prompt, or nothing
   * can be learned from prompts, and the quantiles are those of all responses.
   */
  readonly trust: number;
}

/** Shape of deviations from what was expected, in standard deviations. */
const deviations = { low: -10, width: 1 / 16, bins: 640, limit: 2 ** 14 };
/** Number of deviations from which their shape is used. */
const leastDeviations = 16;
/** Share of the weight of a prompt's earlier responses that remains when it returns. */
const retention = 0.75;
/** Responses, or their worth, from which a group says something of its prompt. */
const leastCount = 0.5;
/** Responses whose worth the spread of all prompts has, beside a prompt's own. */
const spreadPrior = 2;
/** Highest level of the quantile that stands for the longest of several responses. */
const rarest = 0.98;
/** The most groups of siblings that are open, and responses in one. */
const mostOpen = 2 ** 16;
const mostSiblings = 1024;

const place = z.int().nonnegative().max(endOfScale);
const group = z
  .tuple([z.string(), z.string().nullable(), z.int(), z.array(place), z.array(place)])
  .describe('Prompt, domain, round, places of complete responses, and of aborted ones.');
interface Group {
  readonly promptId: string;
  readonly domain: string | undefined;
  readonly round: number;
  readonly places: number[];
  readonly cut: number[];
}

const saved = z.strictObject({
  maxPrompts: z.int().positive(),
  prompts: savedPromptLengths,
  population: savedPopulation,
  again: savedHistogram.describe('Deviations of responses to prompts that had returned.'),
  siblings: savedHistogram.describe('Deviations of siblings from each other.'),
  longest: place.describe('Place of the longest response.'),
  open: z.array(group).describe('Groups of the current round, or of earlier ones that are still to be learned from.'),
});
type Saved = z.output<typeof saved>;

/** What is expected of a response; without `shape`, it is what the background says. */
interface Expectation {
  readonly background: Background;
  readonly place: number;
  readonly spread: number;
  readonly shape: Histogram | undefined;
  readonly trust: number;
}

/** Learns lengths, and predicts them. */
export class LengthPredictor {
  readonly #prompts: PromptLengths;
  readonly #population: Population;
  readonly #again: Histogram;
  readonly #siblings: Histogram;
  #longest: number;
  readonly #open = new Map<string, Group>();
  /** The open groups, oldest first, among others that were closed earlier. */
  readonly #order = new Fifo<Group>();

  /** @param maxPrompts - the most prompts that are remembered; beyond it, the one not seen for longest is forgotten */
  constructor(maxPrompts: number, from?: Saved) {
    this.#prompts = new PromptLengths(maxPrompts, from?.prompts);
    this.#population = new Population(from?.population);
    this.#again = new Histogram(deviations, from?.again);
    this.#siblings = new Histogram(deviations, from?.siblings);
    this.#longest = from?.longest ?? 0;
    for (const [promptId, domain, round, places, cut] of from?.open ?? [])
      this.#enter({ promptId, domain: domain ?? undefined, round, places: [...places], cut: [...cut] });
  }

  /** Number of prompts that are remembered; those of the current round are not yet counted. */
  get size(): number {
    return this.#prompts.size;
  }

  /** Takes a response that has ended. All but predictions for its siblings learn from it when the next round has begun. */
  observe({ promptId, domain, tokens, censored = false, round }: EndedResponse): void {
    let open = this.#open.get(promptId);
    if (open !== undefined && (open.round !== round || open.places.length + open.cut.length >= mostSiblings)) {
      this.#close(open);
      open = undefined;
    }
    open ??= this.#enter({ promptId, domain, round, places: [], cut: [] });
    const at = placeOf(tokens);
    (censored ? open.cut : open.places).push(at);
    this.#longest = Math.max(this.#longest, at);
    // A response opens at most one group, so that closing two is enough.
    for (let left = 2; left > 0; left -= 1) {
      let oldest = this.#order.peek()!;
      for (; this.#open.get(oldest.promptId) !== oldest; oldest = this.#order.peek()!) this.#order.shift();
      if (oldest.round >= round && this.#open.size <= mostOpen) return;
      this.#close(oldest);
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
    const from = least === 0 ? Number.NEGATIVE_INFINITY : placeOf(least);
    return {
      quantiles: levels.map((level) => Math.max(least, this.#tokens(expected, level, from))),
      trust: expected.trust,
    };
  }

  /**
   * Returns the expected length of the longest of several responses, all to this prompt, in tokens, not rounded. Of the responses of a
   * whole round, it is what to compose rounds by: a round waits for its longest, and so a prompt whose lengths vary counts as longer
   * than another with the same mean. Prompts of one domain of which nothing else is known have the same.
   *
   * @param responses - at least 1; more than 49 count as 49, because too few have been seen to tell what is rarer
   */
  longest(asked: AskedResponse, responses: number): number {
    return this.predict(asked, [Math.min(rarest, responses / (responses + 1))]).quantiles[0]!;
  }

  save(): Saved {
    const open: Saved['open'] = [];
    for (const one of this.#order) {
      if (this.#open.get(one.promptId) === one)
        open.push([one.promptId, one.domain ?? null, one.round, [...one.places], [...one.cut]]);
    }
    return {
      maxPrompts: this.#prompts.capacity,
      prompts: this.#prompts.save(),
      population: this.#population.save(),
      again: this.#again.save(),
      siblings: this.#siblings.save(),
      longest: this.#longest,
      open,
    };
  }

  #enter(one: Group): Group {
    this.#open.set(one.promptId, one);
    this.#order.push(one);
    return one;
  }

  /** Learns from a group. */
  #close({ promptId, domain, places, cut }: Group): void {
    this.#open.delete(promptId);
    const before = this.#expect({ promptId, domain });
    const likely: [place: number, weight: number][] = [];
    let count = places.length;
    let sum = places.reduce((total, one) => total + one, 0);
    const complete = sum / count;
    const squares = places.reduce((total, one) => total + (one - complete) ** 2, 0);
    for (const one of cut) {
      // An aborted response counts as what it would likely have become, the more the later it was aborted.
      const known = this.#share(before, one);
      for (const level of [0.125, 0.375, 0.625, 0.875]) {
        const at = Math.max(one, this.#place(before, level, one) ?? one);
        likely.push([at, 0.25]);
        sum += (known * at) / 4;
      }
      count += known;
    }
    const mean = count === 0 ? before.place : sum / count;
    const known = this.#prompts.get(promptId);
    if (before.shape === this.#again) for (const one of places) this.#again.add((one - before.place) / before.spread);
    if (places.length > 1) {
      const freedom = (places.length - 1) / places.length;
      const { within } = this.#population.split(before.background.variance);
      const spread = Math.sqrt(within * freedom);
      if (spread > 0) for (const one of places) this.#siblings.add((one - complete) / spread);
    }
    this.#population.learn({ domain, places, likely, mean, squares, earlier: known?.mean });
    if (count < leastCount) return;
    if (known === undefined) {
      this.#prompts.set(promptId, { count, mean, squares });
      return;
    }
    const kept = known.count * retention;
    this.#prompts.set(promptId, {
      count: kept + count,
      mean: (kept * known.mean + count * mean) / (kept + count),
      squares: known.squares * retention + squares + ((kept * count) / (kept + count)) * (mean - known.mean) ** 2,
    });
  }

  #expect({ promptId, domain, round }: AskedResponse): Expectation {
    const population = this.#population;
    const background = population.background(domain);
    const { variance } = background;
    let place = background.place;
    let shape: Histogram | undefined;
    let spread = 0;
    let rest = variance;
    const open = round === undefined ? undefined : this.#open.get(promptId);
    const siblings = open === undefined || open.round !== round ? 0 : open.places.length;
    const known = this.#prompts.get(promptId);
    if (variance > 0 && (known !== undefined || siblings > 0)) {
      const { within, between, alike } = population.split(variance);
      const lasting = Math.min(between, population.lasting);
      // Variance of what siblings have in common, and variance of one of them in relation to `within`.
      let unknown = between;
      let own = 1;
      if (known !== undefined && lasting > 0) {
        own = (spreadPrior + known.squares / within) / (spreadPrior + Math.max(0, known.count - 1));
        const weight = lasting / (between + (own * within) / known.count);
        place += weight * (known.mean - place);
        unknown -= weight * lasting;
        shape = this.#again;
      }
      if (siblings > 0 && unknown * alike > 0) {
        unknown *= alike;
        const mean = open!.places.reduce((total, one) => total + one, 0) / siblings;
        const weight = unknown / (unknown + (own * within) / siblings);
        place += weight * (mean - place);
        unknown -= weight * unknown;
        shape = this.#siblings;
      }
      if (shape !== undefined) {
        spread = Math.sqrt(unknown + own * within);
        rest = unknown + within;
      }
    }
    const all = population.variance;
    return { background, place, spread, shape, trust: all > 0 ? Math.max(0, 1 - rest / all) : 0 };
  }

  /** The place at a level of the responses that reach a place. */
  #place({ background, place, spread, shape }: Expectation, level: number, from: number): number | undefined {
    if (shape === undefined) return background.lengths.quantile(level, from);
    if (shape.total < leastDeviations) {
      // The shape of all lengths, narrowed around the expected place.
      const narrow = spread / Math.sqrt(background.variance);
      const at = background.lengths.quantile(level, background.place + (from - place) / narrow);
      return at === undefined ? undefined : place + (at - background.place) * narrow;
    }
    const at = shape.quantile(level, (from - place) / spread);
    return at === undefined ? undefined : place + at * spread;
  }

  /** Share of the responses that are expected to end below a place. */
  #share({ background, place, spread, shape }: Expectation, at: number): number {
    return shape === undefined || shape.total < leastDeviations
      ? background.lengths.below(at)
      : shape.below((at - place) / spread);
  }

  #tokens(expected: Expectation, level: number, from: number): number {
    const at = this.#place(expected, level, from);
    return at === undefined ? 0 : tokensAt(Math.min(at, this.#longest));
  }
}

/** Schema of a {@link LengthPredictor} in a state. */
export const lengthPredictor = byHand(saved, {
  decode: (from) => new LengthPredictor(from.maxPrompts, from),
  encode: (live) => live.save(),
});
