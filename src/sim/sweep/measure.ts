/**
 * Estimates the rates of a long job from a short run. A short run ends in the middle of a cycle of short and long rounds, and its
 * last round is smaller, because it empties the queue. So full rounds are averaged by kind, and the kinds are weighted as in a job
 * without end: every short round defers d prompts, which take d ÷ P0 long rounds.
 */
import { scaledCount } from '../../core/rollout/prompts.ts';
import { meanOf, mostOf, ratioOf, sumOf } from '../comparison/metrics.ts';

/** A round in either kind of job. */
export interface MeasuredRound {
  readonly kind: 'short' | 'long';
  /** Seconds from the start of the round until the next round can start. */
  readonly seconds: number;
  readonly prompts: number;
  readonly responses: number;
  /** Trained tokens. */
  readonly tokens: number;
  /** Trained responses that reached the length cap. */
  readonly capped: number;
  /** Trained tokens that older weights generated. */
  readonly staleTokens: number;
  /** Largest number of versions by which a token is behind the weights it trains. */
  readonly lag: number;
}

/** Rates of a run, averaged over its rounds. */
export interface RoundRates {
  /** Seconds of the job per trained prompt. */
  readonly secondsPerPrompt: number;
  /** Variance of `secondsPerPrompt` ÷ its square, as far as it comes from the differences between rounds of a kind. */
  readonly roundVariance: number;
  /** Mean tokens per trained response. */
  readonly tokensPerResponse: number;
  /** Share of the trained responses at the length cap: 0 to 1. */
  readonly cappedShare: number;
  /** Share of the trained tokens that older weights generated: 0 to 1. */
  readonly staleShare: number;
  /** Largest number of versions by which a token is behind. */
  readonly maxLag: number;
}

/** Returns the number of prompts that a short round defers. */
export function deferredPerRound(promptsPerRound: number, promptSpeculation: number): number {
  return scaledCount(promptSpeculation, promptsPerRound) - promptsPerRound;
}

/** Returns the least number of rounds for a run with a full long round. */
export function roundsNeeded(least: number, promptsPerRound: number, promptSpeculation: number): number {
  const deferred = deferredPerRound(promptsPerRound, promptSpeculation);
  if (deferred === 0) return least;
  const shortRounds = Math.ceil(promptsPerRound / deferred);
  return Math.max(least, Math.ceil((shortRounds * (promptsPerRound + deferred)) / promptsPerRound));
}

/**
 * Returns the rates of a job without end.
 *
 * @param deferred - prompts that a short round defers, 0 without speculation
 */
export function ratesOf(rounds: readonly MeasuredRound[], promptsPerRound: number, deferred: number): RoundRates {
  const full = rounds.filter(({ prompts }) => prompts >= promptsPerRound);
  // Without a queue, no round empties one, so a smaller round counts like the others.
  const used = deferred > 0 && full.length > 0 ? full : rounds;
  const short = used.filter(({ kind }) => kind === 'short').length;
  const long = used.length - short;
  const isMixed = deferred > 0 && short > 0 && long > 0;
  const weight = ({ kind }: MeasuredRound): number => {
    if (!isMixed) return 1;
    return kind === 'short' ? 1 / short : deferred / promptsPerRound / long;
  };
  type Counted = 'seconds' | 'prompts' | 'tokens' | 'responses' | 'capped' | 'staleTokens';
  const weighted = (part: Counted, whole: Counted): number =>
    ratioOf(
      used,
      (round) => weight(round) * round[part],
      (round) => weight(round) * round[whole],
    );
  return {
    secondsPerPrompt: weighted('seconds', 'prompts'),
    roundVariance: roundVariance(used, weight),
    tokensPerResponse: weighted('tokens', 'responses'),
    cappedShare: weighted('capped', 'responses'),
    staleShare: weighted('staleTokens', 'tokens'),
    maxLag: mostOf(rounds, 'lag'),
  };
}

/**
 * Returns the variance of the weighted seconds ÷ the square of their sum. Differences between neighbours give the variance of a
 * round, so that what changes slowly, as what a policy learns, does not count.
 */
function roundVariance(rounds: readonly MeasuredRound[], weight: (round: MeasuredRound) => number): number {
  const total = sumOf(rounds, (round) => weight(round) * round.seconds);
  const kinds = (['short', 'long'] as const).map((kind) => rounds.filter((round) => round.kind === kind));
  const variances = kinds.map((ofKind) => {
    const pace = ratioOf(ofKind, 'seconds', 'prompts');
    const errors = ofKind.map(({ seconds, prompts }) => seconds - pace * prompts);
    const differences = errors.slice(1).map((error, at) => (error - errors[at]!) ** 2 / 2);
    const mean = meanOf(differences);
    return ofKind.length === 0 ? 0 : ofKind.length * (weight(ofKind[0]!) / total) ** 2 * mean;
  });
  return sumOf(variances, (one) => one);
}
