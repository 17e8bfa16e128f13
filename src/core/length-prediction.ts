/**
 * Predicts how long responses become, from responses that have ended: earlier ones to the same prompt, its siblings in the same
 * round, and all others. How far a prompt's own lengths count follows from how well they have predicted until now.
 *
 * Only additions, products, quotients and square roots of doubles are used, so that the same history gives the same numbers on
 * every machine.
 */
import { z } from 'zod';
import { octave, placeOf, tokensAt } from './length-scale.ts';
import { PromptLengths, savedPromptLengths } from './prompt-lengths.ts';
import { byHand } from './state.ts';

/** A response that has ended. */
export interface EndedResponse {
  readonly promptId: string;
  /** Data domain of the prompt. */
  readonly domain?: string | undefined;
  /** Its length; of an aborted one, the tokens that it had. */
  readonly tokens: number;
  /** Whether it was aborted: it would have become longer. */
  readonly censored?: boolean | undefined;
  /** Number of the round, which never decreases; responses to a prompt in one round are siblings. */
  readonly round: number;
}

/** What is asked about. */
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
  /** The length at each of the levels that were asked for, in tokens: never less than the tokens that the response has. */
  readonly quantiles: readonly number[];
  /**
   * How far the prediction rests on the prompt, 0 to 1: the share of the variance (of logarithms) that it explains. 0: nothing is
   * known of this prompt, or nothing can be learned from prompts; the quantiles are those of all responses.
   */
  readonly trust: number;
}

const bins = 32 * 64;
const sum = z.number();
const saved = z.strictObject({
  prompts: savedPromptLengths,
  /** Count, sum and sum of squares of all places. */
  all: z.tuple([sum, sum, sum]),
  /** Degrees of freedom and sum of squares within rounds of a prompt. */
  within: z.tuple([sum, sum]),
  /** Groups, responses, and sum of products of the deviations of a response and of its prompt's earlier mean. */
  again: z.tuple([sum, sum, sum]),
  lengths: z.array(z.tuple([z.int().nonnegative(), sum])),
});

export class LengthPredictor {
  readonly prompts: PromptLengths;
  #all: [number, number, number] = [0, 0, 0];
  #within: [number, number] = [0, 0];
  #again: [number, number, number] = [0, 0, 0];
  readonly #lengths = new Float64Array(bins);

  /** @param maxPrompts - the most prompts that are remembered; beyond it, the one not seen for longest is forgotten */
  constructor(maxPrompts: number) {
    this.prompts = new PromptLengths(maxPrompts);
  }

  /** Learns from a response. */
  observe({ promptId, tokens, censored = false, round }: EndedResponse): void {
    let place = placeOf(tokens);
    if (censored) place = placeOf(this.predict({ promptId, generatedTokens: tokens, round }, [0.5]).quantiles[0]!);
    const { prompts } = this;
    const slot = prompts.enter(promptId, round);
    const [mean] = this.#moments();
    if (prompts.earlier(slot) > 0) {
      if (prompts.siblings(slot) === 0) this.#again[0] += 1;
      this.#again[1] += 1;
      this.#again[2] += (place - mean) * (prompts.earlierMean(slot) - mean);
    }
    const siblings = prompts.siblings(slot);
    if (siblings > 0) {
      this.#within[0] += 1;
      this.#within[1] += (siblings / (siblings + 1)) * (place - prompts.siblingMean(slot)) ** 2;
    }
    prompts.add(slot, place);
    this.#all[0] += 1;
    this.#all[1] += place;
    this.#all[2] += place * place;
    this.#lengths[place >> 4]! += 1;
  }

  /**
   * Predicts the length of a response.
   *
   * @param levels - levels of the quantiles, 0 to 1, ascending
   */
  predict(asked: AskedResponse, levels: readonly number[]): LengthPrediction {
    const { place, spread, trust } = this.#expect(asked);
    const [mean] = this.#moments();
    const least = asked.generatedTokens ?? 0;
    // The shape of all lengths, narrowed around the expected place.
    const from = mean + (placeOf(least) - place) / spread;
    const quantiles = levels.map((level) =>
      Math.max(least, tokensAt(Math.max(0, place + spread * (this.#place(level, least === 0 ? -1e9 : from) - mean)))),
    );
    return { quantiles, trust };
  }

  /** Returns the expected length of the longest of several responses to a prompt, in tokens. Prompts of which equally little is known have the same. */
  longest(asked: AskedResponse, responses: number): number {
    return this.predict(asked, [responses / (responses + 1)]).quantiles[0]!;
  }

  save(): z.output<typeof saved> {
    const lengths: [number, number][] = [];
    this.#lengths.forEach((weight, bin) => {
      if (weight > 0) lengths.push([bin, weight]);
    });
    return {
      prompts: this.prompts.save(),
      all: [...this.#all],
      within: [...this.#within],
      again: [...this.#again],
      lengths,
    };
  }

  static load(one: z.output<typeof saved>): LengthPredictor {
    const predictor = new LengthPredictor(one.prompts.capacity);
    predictor.prompts.load(one.prompts);
    predictor.#all = [...one.all];
    predictor.#within = [...one.within];
    predictor.#again = [...one.again];
    for (const [bin, weight] of one.lengths) predictor.#lengths[Math.min(bin, bins - 1)]! += weight;
    return predictor;
  }

  #moments(): [mean: number, variance: number] {
    const [count, total, squares] = this.#all;
    if (count === 0) return [10 * octave, 0];
    const mean = total / count;
    return [mean, Math.max(0, squares / count - mean * mean)];
  }

  /** The expected place, the spread relative to that of all responses, and the share of variance explained. */
  #expect({ promptId, round }: AskedResponse): { place: number; spread: number; trust: number } {
    const [mean, variance] = this.#moments();
    const slot = this.prompts.find(promptId);
    if (slot < 0 || variance === 0) return { place: mean, spread: 1, trust: 0 };
    const within = this.#within[0] === 0 ? variance : Math.min(variance, this.#within[1] / this.#within[0]);
    const [groups, pairs, products] = this.#again;
    let lasting = pairs === 0 ? 0 : Math.min(variance - within, products / pairs);
    const error = variance / Math.sqrt(groups);
    lasting *= Math.min(1, Math.max(0, (lasting / error - 2) / 2)) || 0;
    let place = mean;
    let unknown = variance - within;
    const open = this.prompts.round(slot) === round;
    const count = this.prompts.earlier(slot) + (open ? 0 : this.prompts.siblings(slot));
    if (count > 0 && lasting > 0) {
      const before = open ? this.prompts.earlierMean(slot) : this.prompts.meanOfAll(slot);
      const weight = lasting / (variance - within + within / count);
      place += weight * (before - mean);
      unknown -= weight * lasting;
    }
    if (open && this.prompts.siblings(slot) > 0 && unknown > 0) {
      const weight = unknown / (unknown + within / this.prompts.siblings(slot));
      place += weight * (this.prompts.siblingMean(slot) - place);
      unknown -= weight * unknown;
    }
    const left = Math.min(1, (unknown + within) / variance);
    return { place, spread: Math.sqrt(left), trust: 1 - left };
  }

  /** The place at a level of all responses that reached a place. */
  #place(level: number, from: number): number {
    const least = Math.max(0, Math.floor(from / 16));
    let total = 0;
    for (let bin = least; bin < bins; bin += 1) total += this.#lengths[bin]!;
    if (total === 0) return Math.max(from, this.#moments()[0]);
    let left = level * total;
    for (let bin = least; bin < bins; bin += 1) {
      const weight = this.#lengths[bin]!;
      if (weight > 0 && weight >= left) return bin * 16 + (16 * left) / weight;
      left -= weight;
    }
    return bins * 16;
  }
}

/** Schema of a {@link LengthPredictor} in a state. */
export const lengthPredictor = byHand(saved, {
  decode: (one) => LengthPredictor.load(one),
  encode: (live) => live.save(),
});
