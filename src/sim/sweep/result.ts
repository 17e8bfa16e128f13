/** What a sweep says: plain data. Intervals are 95 % bootstrap intervals over the seeds of the confirmation. */
import type { Interval } from '../result.ts';
import type { SweepEffort, SweepEffortId } from './effort.ts';
import type { PolicyChoice } from './schedulers.ts';
import type { SweepSettings } from './settings.ts';

/**
 * What the recommendation is:
 *
 * - `tuned`: settings that are faster than the papers', and keep as many tokens;
 * - `published`: the papers' settings, since nothing is measurably better;
 * - `unspeculative`: the papers' settings without tail batching, since more tokens were asked for and nothing is better;
 * - `baseline`: none of it pays here, and the baseline is faster for sure.
 */
export type SweepVerdict = 'tuned' | 'published' | 'unspeculative' | 'baseline';

/** Settings and what was measured of them, on the seeds that they have in common with the baseline. */
export interface TriedSettings {
  /** The settings. */
  readonly settings: SweepSettings;
  /** The settings for people, short. */
  readonly label: string;
  /** Seeds that it has seen. */
  readonly seeds: number;
  /** Seconds of the job for each prompt that is trained on, mean over those seeds. */
  readonly secondsPerPrompt: number;
  /** Share of the baseline's time that it saves; below 0 where it takes longer. */
  readonly gain: number;
  /** Mean length of the responses trained on ÷ the baseline's. */
  readonly keptTokenRatio: number;
  /** Share of those responses at the length cap: 0 to 1. */
  readonly cappedShare: number;
  /** Whether it keeps as many tokens as the objective asks for. */
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
  /** Mean length of the responses trained on ÷ the baseline's. */
  readonly keptTokenRatio: Interval;
  /** Share of those responses at the length cap: 0 to 1. */
  readonly cappedShare: number;
}

/** A recommendation, and why. `policy` and `config` are the arguments of `createPolicy`. */
export type SweepAdvice = PolicyChoice & {
  readonly verdict: SweepVerdict;
  /** What it says, in sentences. */
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
  /** For a scheduler that knows all lengths and trains the same responses as the baseline; and the gain that is. */
  readonly clairvoyant: { readonly secondsPerPrompt: number; readonly gain: number };
  readonly objective: {
    readonly minimize: 'secondsPerPrompt';
    /** Least kept-token ratio: given, or that of the papers' settings. */
    readonly leastKeptTokenRatio: number;
    readonly given: boolean;
  };
  /** Everything that was tried, the fastest first. */
  readonly tried: readonly TriedSettings[];
  /** What could not run, and why. */
  readonly infeasible: readonly { readonly settings: SweepSettings; readonly why: string }[];
  readonly notModelled: readonly string[];
  readonly search: {
    readonly seed: number;
    readonly effort: SweepEffort;
    readonly steps: number;
    readonly runs: number;
    readonly searchSeeds: readonly number[];
    readonly confirmationSeeds: readonly number[];
  };
  /** The job that was simulated. */
  readonly simulated: Readonly<Record<string, number | string>>;
};

/** What a sweep is asked for. */
export interface SweepOptions {
  /** First seed (default 1). */
  readonly seed?: number;
  /** `fast`, `default`, `thorough`, or numbers of one's own. */
  readonly effort?: SweepEffortId | SweepEffort;
  /** Least kept-token ratio, above 0 and at most 1; that of the papers' settings if absent. */
  readonly minKept?: number;
}
