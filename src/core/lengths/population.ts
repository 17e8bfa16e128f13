/**
 * Statistics of the responses to all prompts: their lengths, how lengths vary, and how much of the variation comes from prompts.
 */
import { z } from 'zod';
import { Histogram, savedHistogram } from './histogram.ts';
import { believed, Relation, savedRelation } from './relation.ts';
import { endOfScale, octave } from './scale.ts';

const sum = z.number().nonnegative();
const sums = z.tuple([sum, sum, sum]);

/** Schema of a {@link Population} as JSON. */
export const savedPopulation = z.strictObject({
  all: sums.describe('Responses, sum of their log-lengths, and sum of the squares.'),
  rest: sum.describe('Sum of squared distances from what was expected of the domain.'),
  within: sums.describe('Groups of siblings, degrees of freedom in them, and sum of squares.'),
  means: sum.describe('Sum of squared distances of the means of groups from what was expected.'),
  lengths: savedHistogram.describe('Log-lengths of all responses.'),
  again: savedRelation.describe('A prompt in earlier rounds, and again.'),
  byDomain: savedRelation.describe('A domain, and a new prompt of it.'),
  domains: z
    .array(z.tuple([z.string(), sum, sum, savedHistogram]))
    .describe('Domain, responses, sum of log-lengths, log-lengths.'),
});
type Saved = z.output<typeof savedPopulation>;

interface Domain {
  responses: number;
  logLengthSum: number;
  readonly lengths: Histogram;
}

/** Beyond this number of responses, all weights are halved. The number exceeds a window of rounds that were composed by length. */
const limit = 2 ** 17;
const lengthShape = { low: 0, width: octave / 32, bins: (endOfScale * 32) / octave, limit };
/** Only the first so many domains are told apart. */
const mostDomains = 64;
/** A domain with fewer responses does not count. */
const leastOfDomain = 16;
/** With fewer degrees of freedom, the variance of siblings does not count. */
const leastFreedom = 16;
/** With so many groups of returned prompts, these groups alone tell which differences last. */
const leastReturned = 64;
/** Assumed lasting share of the variance before prompts have returned, for prompts without siblings. */
const presumed = 0.5;
/** Least share of the variance that is ascribed to chance. */
const leastWithin = 1 / 32;

/** Expectation for a response to a prompt of which only the domain is known. */
export interface Background {
  readonly logLength: number;
  readonly variance: number;
  readonly lengths: Histogram;
}

/** Two parts of the variance of lengths. */
export interface VarianceSplit {
  /** Variance of siblings. */
  readonly within: number;
  /** Variance between groups of siblings: the part that siblings have in common. */
  readonly between: number;
  /** Certainty that siblings have anything in common, 0 to 1. */
  readonly alike: number;
  /** The part of `between` that a prompt keeps from round to round; 0 if nothing can be learned from earlier rounds. */
  readonly lasting: number;
}

/** A complete group of siblings. */
export interface Siblings {
  readonly domain: string | undefined;
  /** Log-lengths of the responses that were complete. */
  readonly logLengths: readonly number[];
  /** Likely log-lengths of aborted responses: several per response, with weights that are multiples of 1/64. */
  readonly likely: readonly (readonly [logLength: number, weight: number])[];
  /** Mean of the group. */
  readonly mean: number;
  /** Sum of the squared distances between completed responses and their mean. */
  readonly squares: number;
  /** Mean of the prompt in earlier rounds; `undefined` for a new prompt. */
  readonly earlier: number | undefined;
}

/** Statistics of all responses. */
export class Population {
  #all: Saved['all'] = [0, 0, 0];
  #rest = 0;
  #within: Saved['within'] = [0, 0, 0];
  #means = 0;
  #lengths = new Histogram(lengthShape);
  #again = new Relation();
  #byDomain = new Relation();
  readonly #domains = new Map<string, Domain>();

  constructor(saved?: Saved) {
    if (saved === undefined) return;
    this.#all = [...saved.all];
    this.#rest = saved.rest;
    this.#within = [...saved.within];
    this.#means = saved.means;
    this.#lengths = new Histogram(lengthShape, saved.lengths);
    this.#again = new Relation(saved.again);
    this.#byDomain = new Relation(saved.byDomain);
    for (const [id, responses, logLengthSum, lengths] of saved.domains)
      this.#domains.set(id, { responses, logLengthSum, lengths: new Histogram(lengthShape, lengths) });
  }

  /** Variance of all log-lengths; 0 also where a smaller value could be a rounding error. */
  get variance(): number {
    const [count, logLengthSum, squares] = this.#all;
    const variance = count === 0 ? 0 : squares / count - (logLengthSum / count) ** 2;
    return variance < 1 ? 0 : variance;
  }

  /**
   * Returns the expectation for a response by its domain, which is the same for all domains unless they have shown a difference.
   */
  background(domain: string | undefined): Background {
    const [count, logLengthSum] = this.#all;
    const known = this.#domain(domain);
    if (known === undefined || this.#byDomain.explained() === 0) {
      return { logLength: count === 0 ? 0 : logLengthSum / count, variance: this.variance, lengths: this.#lengths };
    }
    return { logLength: known.logLengthSum / known.responses, variance: this.#rest / count, lengths: known.lengths };
  }

  /** Splits the variance around a background. */
  split(variance: number): VarianceSplit {
    const [groups, freedom, squares] = this.#within;
    const measured = groups === 0 ? 0 : (this.#again.explained() * this.#means) / groups;
    // With too few siblings to tell, all variance that does not last counts as within groups.
    const alone = freedom < leastFreedom;
    const known = Math.min(1, this.#again.pairs / leastReturned);
    const returned = alone ? known * measured + (1 - known) * presumed * variance : measured;
    const within = Math.max(
      leastWithin * variance,
      alone ? variance - returned : Math.min(variance, squares / freedom),
    );
    const between = variance - within;
    const alike = alone ? 0 : believed(between / (variance * Math.sqrt(2 / groups)));
    // Before enough prompts have returned to tell, all that siblings have in common is expected to last.
    const lasting = alone || this.#again.pairs >= leastReturned ? Math.min(between, returned) : between * alike;
    return { within, between, alike, lasting };
  }

  /** Learns from a group. */
  learn({ domain, logLengths, likely, mean, squares, earlier }: Siblings): void {
    const { logLength } = this.background(domain);
    const known = this.#domain(domain);
    if (logLengths.length > 0) {
      if (earlier !== undefined) this.#again.add(earlier - logLength, mean - logLength);
      else if (known !== undefined) {
        const all = this.#all[1] / this.#all[0];
        this.#byDomain.add(known.logLengthSum / known.responses - all, mean - all);
      }
      this.#within[0] += 1;
      this.#means += (mean - logLength) ** 2;
      this.#within[1] += logLengths.length - 1;
      this.#within[2] += squares;
    }
    for (const one of logLengths) this.#add(domain, logLength, one, 1);
    for (const [one, weight] of likely) this.#add(domain, logLength, one, weight);
    if (this.#all[0] >= limit) this.#halve();
  }

  save(): Saved {
    return {
      all: [...this.#all],
      rest: this.#rest,
      within: [...this.#within],
      means: this.#means,
      lengths: this.#lengths.save(),
      again: this.#again.save(),
      byDomain: this.#byDomain.save(),
      domains: [...this.#domains].map(([id, one]) => [id, one.responses, one.logLengthSum, one.lengths.save()]),
    };
  }

  #domain(id: string | undefined): Domain | undefined {
    const known = id === undefined ? undefined : this.#domains.get(id);
    return known === undefined || known.responses < leastOfDomain ? undefined : known;
  }

  #add(domain: string | undefined, expected: number, logLength: number, weight: number): void {
    this.#all[0] += weight;
    this.#all[1] += weight * logLength;
    this.#all[2] += weight * logLength * logLength;
    this.#rest += weight * (logLength - expected) ** 2;
    this.#lengths.add(logLength, weight);
    if (domain === undefined) return;
    let known = this.#domains.get(domain);
    if (known === undefined) {
      if (this.#domains.size === mostDomains) return;
      known = { responses: 0, logLengthSum: 0, lengths: new Histogram(lengthShape) };
      this.#domains.set(domain, known);
    }
    known.responses += weight;
    known.logLengthSum += weight * logLength;
    known.lengths.add(logLength, weight);
  }

  #halve(): void {
    for (const sums of [this.#all, this.#within]) for (let at = 0; at < 3; at += 1) sums[at]! /= 2;
    this.#rest /= 2;
    this.#means /= 2;
    for (const domain of this.#domains.values()) {
      domain.responses /= 2;
      domain.logLengthSum /= 2;
    }
  }
}
