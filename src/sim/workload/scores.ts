/** Normal scores: the rank of a length among all lengths of a trace, on the scale of the standard normal distribution. */
import { sumOf } from '../comparison/metrics.ts';
import { rowOf, type TracePrompt } from '../trace/format.ts';
import { normalQuantile } from './random.ts';

/** A recorded response. */
export type Response = TracePrompt['responses'][number];

/** A trace in normal scores. */
export interface Scored {
  /** All recorded responses of the trace, shortest first. */
  readonly sorted: readonly Response[];
  /** For each prompt: mean normal score and number of responses. */
  readonly scores: readonly { readonly mean: number; readonly count: number }[];
  /** Correlation between the scores of two responses of the same prompt: 0 to 0.999. */
  readonly correlation: number;
  /** The same for responses of different steps, at most `correlation`; null if fewer than 10 prompts come in several steps. */
  readonly betweenSteps: number | null;
}

/** Fewer prompts that come again say little about how much of a length comes again. */
const leastReturned = 10;

/** Returns a function for the normal score of a length in the trace; equal lengths have the middle of their ranks. */
function scorer(sorted: readonly Response[]): (tokens: number) => number {
  const first = (tokens: number, orEqual: boolean): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = sorted[middle]!.tokens;
      if (orEqual ? at <= tokens : at < tokens) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return (tokens) => normalQuantile((first(tokens, false) + first(tokens, true)) / 2 / sorted.length);
}

/** Computes the scores of a trace; every prompt must have a response. */
export function score(prompts: readonly TracePrompt[]): Scored {
  const sorted = prompts
    .flatMap((prompt) => prompt.responses)
    .sort((a, b) => a.tokens - b.tokens || Number(a.capped ?? false) - Number(b.capped ?? false));
  const toScore = scorer(sorted);
  let [products, pairs, squares, values] = [0, 0, 0, 0];
  const scores = prompts.map(({ responses }) => {
    const list = responses.map((one) => toScore(one.tokens));
    const sum = list.reduce((total, one) => total + one, 0);
    const square = list.reduce((total, one) => total + one * one, 0);
    products += sum * sum - square;
    pairs += list.length * (list.length - 1);
    squares += square;
    values += list.length;
    return { mean: sum / list.length, count: list.length };
  });
  const between = squares === 0 ? null : productsBetween(prompts, scores);
  const inUnits = (product: number): number => Math.min(0.999, Math.max(0, product / (squares / values)));
  const acrossSteps = between === null ? null : inUnits(between);
  // The correlation is unknown if no prompt has two responses, or if all responses have the same length.
  const correlation = squares === 0 ? 0 : pairs === 0 ? (acrossSteps ?? 0) : inUnits(products / pairs);
  return {
    sorted,
    scores,
    correlation,
    betweenSteps: acrossSteps === null ? null : Math.min(correlation, acrossSteps),
  };
}

/** Returns the mean product of two scores of a prompt in different steps; null if too few prompts come in several steps. */
function productsBetween(prompts: readonly TracePrompt[], scores: Scored['scores']): number | null {
  const rows = new Map<string, { sum: number; squares: number; count: number; counts: number; lines: number }>();
  for (const [index, prompt] of prompts.entries()) {
    const { mean, count } = scores[index]!;
    const id = rowOf(prompt);
    const row = rows.get(id) ?? { sum: 0, squares: 0, count: 0, counts: 0, lines: 0 };
    rows.set(id, row);
    row.sum += mean * count;
    row.squares += (mean * count) ** 2;
    row.count += count;
    row.counts += count ** 2;
    row.lines += 1;
  }
  const returned = [...rows.values()].filter(({ lines }) => lines > 1);
  if (returned.length < leastReturned) return null;
  const pairs = sumOf(returned, ({ count, counts }) => count ** 2 - counts);
  return sumOf(returned, ({ sum, squares }) => sum ** 2 - squares) / pairs;
}

/** Estimates ρ of a trace: the correlation between the normal scores of two responses of the same prompt; 0 if it is unknown. */
export function estimateCorrelation(prompts: readonly TracePrompt[]): number {
  return score(prompts).correlation;
}
