/** Length prediction, and simple ways to predict the same, with quantiles from what they got wrong until then. */
import type { AskedResponse, EndedResponse, LengthPredictor } from '../../src/core/lengths/length-prediction.ts';

/** Something that predicts lengths. */
export interface Forecaster {
  readonly name: string;
  /** A round begins: all earlier ones are over. */
  begin?(round: number): void;
  observe(ended: EndedResponse): void;
  quantiles(asked: AskedResponse, levels: readonly number[]): readonly number[];
  /** What prompts are ranked by, for rounds of so many responses. */
  rank(asked: AskedResponse, responses: number): number;
}

/** The estimator of the package. */
export const predicted = (predictor: LengthPredictor): Forecaster => ({
  name: 'predicted',
  begin: (round) => predictor.begin(round),
  observe: (ended) => predictor.observe(ended),
  quantiles: (asked, levels) => predictor.predict(asked, levels).quantiles,
  rank: (asked, responses) => predictor.longest(asked, responses),
});

/** Values in order. */
class Sorted {
  readonly values: number[] = [];

  add(value: number): void {
    this.values.splice(this.#place(value), 0, value);
  }

  /** The value at a level of those that are not below `from`. */
  quantile(level: number, from: number): number | undefined {
    const first = this.#place(from);
    const count = this.values.length - first;
    return count === 0 ? undefined : this.values[Math.min(this.values.length - 1, first + Math.floor(level * count))];
  }

  #place(value: number): number {
    let [low, high] = [0, this.values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.values[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Values from which a distribution of its own is used. */
const least = 20;

/** All responses until now; or those of the domain. */
export function distribution(name: 'all responses' | 'domain'): Forecaster {
  const all = new Sorted();
  const domains = new Map<string, Sorted>();
  const of = ({ domain = '' }: AskedResponse): Sorted => {
    const own = name === 'domain' ? domains.get(domain) : undefined;
    return own === undefined || own.values.length < least ? all : own;
  };
  return {
    name,
    observe({ domain = '', tokens }) {
      all.add(tokens);
      if (!domains.has(domain)) domains.set(domain, new Sorted());
      domains.get(domain)!.add(tokens);
    },
    quantiles: (asked, levels) =>
      levels.map((level) => of(asked).quantile(level, asked.generatedTokens ?? 0) ?? asked.generatedTokens ?? 0),
    rank: (asked, responses) => of(asked).quantile(responses / (responses + 1), 0) ?? 0,
  };
}

const points = {
  last: (lengths: readonly number[]) => lengths.at(-1)!,
  mean: (lengths: readonly number[]) => lengths.reduce((sum, one) => sum + one, 0) / lengths.length,
  longest: (lengths: readonly number[]) => Math.max(...lengths),
};

/**
 * One number of a prompt's earlier rounds, with quantiles from the ratios of later responses to it; all responses for a prompt
 * without any. The last response of a round is its longest.
 */
export function point(name: keyof typeof points): Forecaster {
  const all = distribution('all responses');
  const ratios = new Sorted();
  const prompts = new Map<string, { earlier: number[]; open: number[]; round: number }>();
  const pointOf = ({ promptId, round }: AskedResponse): number | undefined => {
    const prompt = prompts.get(promptId);
    if (prompt === undefined) return undefined;
    const lengths = prompt.round === round ? prompt.earlier : [...prompt.earlier, ...prompt.open];
    return lengths.length === 0 ? undefined : points[name](lengths);
  };
  return {
    name,
    observe(ended) {
      const expected = pointOf({ promptId: ended.promptId, round: ended.round });
      if (expected !== undefined) ratios.add(ended.tokens / expected);
      all.observe(ended);
      let prompt = prompts.get(ended.promptId);
      if (prompt?.round !== ended.round) {
        prompt = { earlier: [...(prompt?.earlier ?? []), ...(prompt?.open ?? [])], open: [], round: ended.round };
        prompts.set(ended.promptId, prompt);
      }
      prompt.open.push(ended.tokens);
    },
    quantiles(asked, levels) {
      const expected = pointOf(asked);
      if (expected === undefined || ratios.values.length < least) return all.quantiles(asked, levels);
      const generated = asked.generatedTokens ?? 0;
      return levels.map((level) => Math.max(generated, (ratios.quantile(level, generated / expected) ?? 0) * expected));
    },
    rank: (asked, responses) => pointOf(asked) ?? all.rank(asked, responses),
  };
}

/** The simple ways. */
export const baselines = (): Forecaster[] => [
  distribution('all responses'),
  distribution('domain'),
  point('last'),
  point('mean'),
  point('longest'),
];
