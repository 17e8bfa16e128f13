/**
 * Plays the responses of a trace as epochs, and scores forecasters on what they have not seen: each response occurs once. A
 * fifth of the prompts is new in the second epoch. Responses of a round end in the order of their lengths.
 */
import { shuffled } from '../../src/sim/workload/random.ts';
import type { Forecaster } from './forecasters.ts';

/** A prompt, with its responses. */
export interface EpochPrompt {
  readonly prompt: string;
  readonly task?: string | undefined;
  readonly responses: readonly { readonly tokens: number }[];
}

/** Size of the epochs. */
export interface EpochShape {
  readonly epochs: number;
  readonly responsesPerPrompt: number;
  readonly promptsPerRound: number;
  readonly seed: number;
}

/** Levels at which quantiles are scored. */
export const levels = [0.5, 0.9, 0.99] as const;
/** Rounds of a window that is composed by rank. */
const windowRounds = 10;

/** How well a forecaster did on some responses. */
export class Score {
  responses = 0;
  /** Sums of the pinball loss at each level, in tokens, and in doublings of the length. */
  readonly tokens = levels.map(() => 0);
  readonly doublings = levels.map(() => 0);
  /** Responses that were not longer than the quantile. */
  readonly covered = levels.map(() => 0);
  /** Ranks of prompts, and what they were to rank. */
  readonly ranks: number[] = [];
  readonly longest: number[] = [];
  /** Tokens of the longest response of each round, summed, if rounds are composed by rank. */
  composed = 0;

  add(length: number, quantiles: readonly number[]): void {
    this.responses += 1;
    for (const [at, level] of levels.entries()) {
      const quantile = quantiles[at]!;
      this.tokens[at]! += pinball(length, quantile, level);
      this.doublings[at]! += pinball(Math.log2(length + 1), Math.log2(quantile + 1), level);
      if (length <= quantile) this.covered[at]! += 1;
    }
  }

  rank(rank: number, longest: number): void {
    this.ranks.push(rank);
    this.longest.push(longest);
  }
}

const pinball = (value: number, quantile: number, level: number): number =>
  value >= quantile ? level * (value - quantile) : (1 - level) * (quantile - value);

/** Scores by what was predicted, and by forecaster. */
export type Scores = Map<string, Map<string, Score>>;

/** Adds the scores of one run; prompts with too few responses are left out. */
export function play(
  trace: readonly EpochPrompt[],
  { epochs, responsesPerPrompt, promptsPerRound, seed }: EpochShape,
  forecasters: readonly Forecaster[],
  scores: Scores = new Map(),
): Scores {
  const prompts = trace.filter((one) => one.responses.length >= epochs * responsesPerPrompt);
  const isNew = new Set(shuffled(prompts.length, seed, 0).slice(0, Math.floor(prompts.length / 5)));
  const drawn = prompts.map(({ responses }, index) =>
    shuffled(responses.length, seed, 1, index).map((at) => Math.max(1, responses[at]!.tokens)),
  );
  const scoreOf = (what: string, who: string): Score => {
    let rows = scores.get(what);
    if (rows === undefined) scores.set(what, (rows = new Map()));
    let score = rows.get(who);
    if (score === undefined) rows.set(who, (score = new Score()));
    return score;
  };
  let round = 0;
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    const order = shuffled(prompts.length, seed, 2, epoch).filter((one) => epoch > 0 || !isNew.has(one));
    const lengthsOf = (one: number): readonly number[] =>
      drawn[one]!.slice(epoch * responsesPerPrompt, (epoch + 1) * responsesPerPrompt);
    const asked = (one: number) => ({ promptId: prompts[one]!.prompt, domain: prompts[one]!.task, round });
    const roundSize = promptsPerRound * responsesPerPrompt;
    for (let at = 0; at < order.length; at += promptsPerRound) {
      const started = at / promptsPerRound >= 2;
      round += 1;
      for (const one of forecasters) one.begin?.(round);
      if (epoch > 0 && at % (windowRounds * promptsPerRound) === 0) {
        const window = order.slice(at, at + windowRounds * promptsPerRound);
        const longest = (one: number): number => Math.max(...lengthsOf(one));
        const compose = (who: string, rank: (one: number) => number): void => {
          const ranked = window.map((one, place) => ({ one, place, rank: rank(one) }));
          ranked.sort((a, b) => a.rank - b.rank || a.place - b.place);
          for (let from = 0; from < ranked.length; from += promptsPerRound)
            scoreOf('composed', who).composed += Math.max(
              ...ranked.slice(from, from + promptsPerRound).map(({ one }) => longest(one)),
            );
        };
        compose('order of the data', () => 0);
        compose('known lengths', longest);
        // What no history can beat by much: all responses to the prompt but these, later ones too.
        compose('all other responses', (one) => {
          const isOther = (at: number): boolean => Math.floor(at / responsesPerPrompt) !== epoch;
          return Math.max(...drawn[one]!.slice(0, epochs * responsesPerPrompt).filter((_, at) => isOther(at)));
        });
        for (const one of forecasters) compose(one.name, (prompt) => one.rank(asked(prompt), roundSize));
      }
      const batch = order.slice(at, at + promptsPerRound);
      for (const forecaster of forecasters) {
        for (const one of batch) {
          if (epoch === 0 && !started) continue;
          let what = epoch === 0 ? 'first epoch' : epoch === 1 ? 'second epoch' : 'later epochs';
          if (epoch === 1 && isNew.has(one)) what = 'new prompts';
          else if (epoch === 1 && !started) what = 'second epoch begins';
          const score = scoreOf(what, forecaster.name);
          const quantiles = forecaster.quantiles(asked(one), levels);
          const lengths = lengthsOf(one);
          for (const length of lengths) score.add(length, quantiles);
          score.rank(forecaster.rank(asked(one), roundSize), Math.max(...lengths));
        }
      }
      const ends = batch.flatMap((one) => lengthsOf(one).map((tokens) => ({ one, tokens })));
      ends.sort((a, b) => a.tokens - b.tokens || a.one - b.one);
      const ended = new Map<number, number>();
      for (const { one, tokens } of ends) {
        for (const forecaster of forecasters) forecaster.observe({ ...asked(one), tokens });
        const count = (ended.get(one) ?? 0) + 1;
        ended.set(one, count);
        // When half of a group has ended: what becomes of the others?
        if (count !== responsesPerPrompt >> 1 || !started) continue;
        const running = lengthsOf(one).filter((other) => other > tokens);
        for (const forecaster of forecasters) {
          const score = scoreOf(epoch === 0 ? 'in flight, first epoch' : 'in flight, later', forecaster.name);
          const quantiles = forecaster.quantiles({ ...asked(one), generatedTokens: tokens }, levels);
          for (const other of running) score.add(other, quantiles);
        }
      }
    }
  }
  return scores;
}

/** Spearman's rank correlation; 0 where one side is constant. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranksOf(a), ranksOf(b)];
  const middle = (a.length - 1) / 2;
  let [xy, xx, yy] = [0, 0, 0];
  for (const [at, one] of x.entries()) {
    xy += (one - middle) * (y[at]! - middle);
    xx += (one - middle) ** 2;
    yy += (y[at]! - middle) ** 2;
  }
  return xx === 0 || yy === 0 ? 0 : xy / Math.sqrt(xx * yy);
}

function ranksOf(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((a, b) => values[a]! - values[b]!);
  const ranks: number[] = Array(values.length);
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && !(values[order[to]!]! > values[order[from]!]!)) to += 1;
    for (let at = from; at < to; at += 1) ranks[order[at]!] = (from + to - 1) / 2;
  }
  return ranks;
}
