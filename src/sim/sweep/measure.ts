/**
 * Rates of a long job, from a short run. A short run ends in the middle of a cycle of short and long rounds, and flushes its
 * queue in a last, smaller round; so full rounds are averaged by kind, and the kinds are weighted as a job without end has
 * them: every short round defers d prompts, which is d ÷ P0 long rounds.
 */
import { scaledCount } from '../../schemas/units.ts';
import { ratio, sumOf } from '../metrics.ts';

/** A round, of either kind of job. */
export interface MeasuredRound {
  readonly kind: 'short' | 'long';
  /** Seconds from its start until the next round can start. */
  readonly seconds: number;
  readonly prompts: number;
  readonly responses: number;
  /** Tokens that are trained on. */
  readonly tokens: number;
  /** Responses trained on that ran into the length cap. */
  readonly capped: number;
  /** Versions by which the generating weights are behind the trained ones. */
  readonly lag: number;
}

/** Rates of a run, averaged over its rounds. */
export interface RoundRates {
  /** Seconds of the job for each prompt that is trained on. */
  readonly secondsPerPrompt: number;
  /** Mean tokens of the responses that are trained on. */
  readonly tokensPerResponse: number;
  /** Share of them at the length cap: 0 to 1. */
  readonly cappedShare: number;
  /** Share of their tokens that weights of an older version generated: 0 to 1. */
  readonly staleShare: number;
  /** Most versions that any of them is behind. */
  readonly maxLag: number;
}

/** Returns the number of prompts that a short round defers. */
export function deferredPerRound(promptsPerRound: number, promptSpeculation: number): number {
  return scaledCount(promptSpeculation, promptsPerRound) - promptsPerRound;
}

/** Rounds that a run needs to have a full long round in it, at least. */
export function roundsNeeded(least: number, promptsPerRound: number, promptSpeculation: number): number {
  const deferred = deferredPerRound(promptsPerRound, promptSpeculation);
  if (deferred === 0) return least;
  const shortRounds = Math.ceil(promptsPerRound / deferred);
  return Math.max(least, Math.ceil((shortRounds * (promptsPerRound + deferred)) / promptsPerRound));
}

/**
 * Rates of a job that goes on for ever.
 *
 * @param deferred - prompts that a short round defers, 0 without speculation
 */
export function ratesOf(rounds: readonly MeasuredRound[], promptsPerRound: number, deferred: number): RoundRates {
  const full = rounds.filter(({ prompts }) => prompts >= promptsPerRound);
  const used = full.length > 0 ? full : rounds;
  const short = used.filter(({ kind }) => kind === 'short').length;
  const long = used.length - short;
  const isMixed = deferred > 0 && short > 0 && long > 0;
  const weight = ({ kind }: MeasuredRound): number => {
    if (!isMixed) return 1;
    return kind === 'short' ? 1 / short : deferred / promptsPerRound / long;
  };
  const sum = (value: (round: MeasuredRound) => number): number => sumOf(used, (round) => weight(round) * value(round));
  const responses = sum((round) => round.responses);
  return {
    secondsPerPrompt: ratio(
      sum((round) => round.seconds),
      sum((round) => round.prompts),
    ),
    tokensPerResponse: ratio(
      sum((round) => round.tokens),
      responses,
    ),
    cappedShare: ratio(
      sum((round) => round.capped),
      responses,
    ),
    staleShare: ratio(
      sum((round) => (round.lag > 0 ? round.tokens : 0)),
      sum((round) => round.tokens),
    ),
    maxLag: rounds.reduce((most, { lag }) => Math.max(most, lag), 0),
  };
}
