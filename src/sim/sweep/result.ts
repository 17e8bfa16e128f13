/**
 * The results of a sweep: plain data. Intervals are 95 % intervals for an independent run of 60 steps, with other seeds and other
 * prompts.
 */
import type { Interval } from '../result.ts';
import type { SweepEffort, SweepEffortId } from './effort.ts';
import type { PolicyChoice } from './schedulers.ts';
import type { SweepSettings } from './settings.ts';
import type { PromptSplit } from './split.ts';

/**
 * The kind of the recommendation:
 *
 * - `tuned`: settings that are faster than the papers', and keep as many tokens;
 * - `published`: the papers' settings, since nothing is measurably better;
 * - `unspeculative`: the papers' settings without tail batching, since more tokens were asked for and nothing is better;
 * - `baseline`: none of it pays here, and the baseline is faster for sure; or limits were given, and nothing within them is
 *   faster than the baseline for sure.
 */
export type SweepVerdict = 'tuned' | 'published' | 'unspeculative' | 'baseline';

/** Settings and their measurements, on the seeds that they share with the baseline. */
export interface TriedSettings {
  /** The settings that were measured. */
  readonly settings: SweepSettings;
  /** The settings for people, short. */
  readonly label: string;
  /** Number of its seeds. */
  readonly seeds: number;
  /** Seconds of the job for each prompt that is trained on, mean over its seeds. */
  readonly secondsPerPrompt: number;
  /** Share of the baseline's time that it saves; below 0 where it takes longer. */
  readonly gain: number;
  /** Seconds of the baseline for a kept token ÷ seconds of these settings for one. */
  readonly equalTokenSpeedup: number;
  /** Mean length of the responses trained on ÷ the baseline's. */
  readonly keptTokenRatio: number;
  /** Responses trained on that are as long as the longest 1 % of the baseline's ÷ number of those. */
  readonly longestTrainedRatio: number;
  /** Share of trained responses at the length cap: 0 to 1. */
  readonly cappedShare: number;
  /** Share of the kept tokens that weights of an older version generated than the ones that they train: 0 to 1. */
  readonly staleShare: number;
  /** Most versions that any of them is behind. */
  readonly maxLag: number;
  /** Whether it is within the limits, and keeps as many tokens as the objective asks for. */
  readonly admissible: boolean;
}

/** Measured on the seeds of the confirmation. */
export interface ConfirmedSettings {
  /** The settings, or the job without any of it. */
  readonly settings: SweepSettings | 'baseline';
  /** The settings for people, short. */
  readonly label: string;
  /** Seconds of the job for each prompt that is trained on. */
  readonly secondsPerPrompt: Interval;
  /** Share of the baseline's time a trained prompt that it saves: 0.3 is 30 % less. */
  readonly gain: Interval;
  /** Seconds of the baseline for a kept token ÷ seconds of these settings for one. */
  readonly equalTokenSpeedup: Interval;
  /** Mean length of the responses trained on ÷ the baseline's. */
  readonly keptTokenRatio: Interval;
  /** Responses trained on that are as long as the longest 1 % of the baseline's ÷ number of those. */
  readonly longestTrainedRatio: number;
  /** Share of trained responses at the length cap: 0 to 1. */
  readonly cappedShare: number;
  /** Share of the kept tokens that weights of an older version generated than the ones that they train: 0 to 1. */
  readonly staleShare: number;
  /** Most versions that any of them is behind. */
  readonly maxLag: number;
  /** Seconds of the oracle schedule for a kept token ÷ seconds of these settings; absent where there is no oracle. */
  readonly ofOracle?: number;
}

/** A recommendation, and why. `policy` and `config` are the arguments of `registry.create`. */
export type SweepAdvice = PolicyChoice & {
  readonly verdict: SweepVerdict;
  /** The recommendation in sentences. */
  readonly meaning: readonly string[];
  readonly job: 'synchronous' | 'pools';
  readonly workload: {
    readonly name: string;
    readonly source: string;
    readonly prompts: number | null;
    readonly resampling: string;
    readonly correlation: number;
    readonly capTokens: number;
  };
  readonly recommended: ConfirmedSettings;
  /** Share of the time of the papers' settings that it saves. */
  readonly gainOverPublished: Interval;
  /** Share of the time of the same settings without tail batching that it saves; absent where it has none. */
  readonly gainOfTailBatching?: Interval;
  readonly published: ConfirmedSettings;
  readonly baseline: ConfirmedSettings;
  /**
   * Seconds of a step of the baseline on all prompts of the trace, as in `compare` with its usual steps and seeds; for a
   * synchronous job only.
   */
  readonly stepSeconds?: Interval;
  /**
   * The oracle schedule: it knows all lengths, and keeps every response of the baseline; in the same simulator. Gains are over
   * the baseline, on the first seeds of the confirmation. Absent for pools.
   */
  readonly oracle?: { readonly secondsPerPrompt: number; readonly gain: number; readonly equalTokenSpeedup: number };
  readonly objective: {
    readonly minimize: 'secondsPerPrompt';
    /** Least kept-token ratio: given, or that of the papers' settings. */
    readonly leastKeptTokenRatio: number;
    /** Whether that was given. */
    readonly given: boolean;
    /** The limits that were asked for. */
    readonly limits: SweepLimits;
  };
  /** All settings that were tried, those that save most first. */
  readonly tried: readonly TriedSettings[];
  /** Settings that could not run, and the reasons. */
  readonly infeasible: readonly { readonly settings: SweepSettings; readonly why: string }[];
  readonly notModelled: readonly string[];
  readonly search: {
    readonly seed: number;
    readonly effort: SweepEffort;
    /** Steps of a run of the search. */
    readonly steps: number;
    /** Steps of a run of the confirmation. */
    readonly confirmationSteps: number;
    /** Whether the confirmation has prompts that the search has not seen. */
    readonly prompts: PromptSplit;
    readonly runs: number;
    readonly searchSeeds: readonly number[];
    readonly confirmationSeeds: readonly number[];
  };
  /** The job that was simulated. */
  readonly simulated: Readonly<Record<string, number | string>>;
};

/** Limits of a recommendation. */
export interface SweepLimits {
  /** Least kept-token ratio, above 0 and at most 1; that of the papers' settings if absent. */
  readonly minKept?: number | undefined;
  /** Least `longestTrainedRatio`, from 0 to 1. */
  readonly minTop1?: number | undefined;
  /** Most versions by which the weights that generated a kept token may be behind the trained ones, a whole number >= 0. */
  readonly maxLag?: number | undefined;
}

/** Options of a sweep. */
export interface SweepOptions extends SweepLimits {
  /** First seed (default 1). */
  readonly seed?: number;
  /** `fast`, `default`, `thorough`, or custom numbers. */
  readonly effort?: SweepEffortId | SweepEffort;
}
