/**
 * The answer for a job that sees its prompts several times: the lossless tail beside what the search has chosen, on the same
 * prompts and samples. Only what the trainer can carry out, and what keeps enough tokens, is offered.
 */
import type { Interval } from '../comparison/result.ts';
import { keptSlack } from '../sweep/limits.ts';
import type { FrontierRow, SweepAdvice } from '../sweep/result.ts';
import { keyOf, type SynchronousSettings } from '../sweep/settings/settings.ts';
import type { TrainerFacts } from './trainers.ts';

/** Settings must surely save this share of the time: for less, nobody changes a trainer. */
export const leastWorth = 0.01;

/**
 * - `best`: the settings that the search chose are not faster, or it chose none, and every response is kept;
 * - `option`: it keeps every response, and the settings that the search chose are faster;
 * - `unsure`: it does not surely save 1 % of the time;
 * - `assumed`, `unknown`: the trace does not say how much the lengths of a prompt have in common.
 */
export type ReturningVerdict = 'best' | 'option' | 'unsure' | 'assumed' | 'unknown';

/** What a job gains whose prompts come several times. */
export interface Returning {
  /** What the lossless tail is worth. */
  readonly verdict: ReturningVerdict;
  /** The job without changes, the settings that the search chose, and the lossless tail, as far as they were measured. */
  readonly rows: {
    readonly baseline: FrontierRow;
    /** Absent if the search chose none, or if they keep too few tokens where prompts come several times. */
    readonly settings?: FrontierRow;
    /** The fastest of the measured windows; absent if the correlation is unknown. */
    readonly lossless?: FrontierRow;
  };
  /** W of the lossless tail; null unless the verdict is `best` or `option`. */
  readonly windowRounds: number | null;
  /** About the seconds of the first epoch of the simulated job, in which lengths are learnt. */
  readonly firstEpochSeconds: number;
  /** The lines of code that switch the lossless tail on; empty unless the verdict is `best` or `option`. */
  readonly paste: readonly string[];
}

const rounding = 1e-9;

/** Returns the answer for prompts that come back; undefined if the search has not measured that. */
export function returningOf(
  sweep: SweepAdvice,
  trainer: TrainerFacts,
  settings: SynchronousSettings | null,
): Returning | undefined {
  const { frontier, objective, simulated } = sweep;
  if (frontier === undefined) return undefined;
  const { leastKeptTokenRatio, given } = objective;
  const least = leastKeptTokenRatio * (1 - (given ? rounding : keptSlack.confirmation));
  const baseline = frontier.rows.find((row) => row.settings === 'baseline')!;
  const rows = frontier.rows.filter(({ keptTokenRatio }) => keptTokenRatio >= least);
  const chosen = settings === null ? undefined : rows.find((row) => sameSettings(row, settings));
  const lossless = rows.find((row) => windowOf(row) !== undefined);
  const verdict = verdictOf(frontier, lossless?.gain ?? null, {
    isFaster: chosen !== undefined && lossless !== undefined && chosen.secondsPerPrompt < lossless.secondsPerPrompt,
  });
  const windowRounds = verdict === 'best' || verdict === 'option' ? windowOf(lossless!)! : null;
  const chosenTail = windowRounds === null ? undefined : (lossless!.settings as SynchronousSettings);
  const responsesPerPrompt = Number(simulated.responsesPerPrompt);
  return {
    verdict,
    rows: {
      baseline,
      ...(chosen === undefined ? undefined : { settings: chosen }),
      ...(lossless === undefined ? undefined : { lossless }),
    },
    windowRounds,
    firstEpochSeconds: frontier.dataSetPrompts * baseline.secondsPerPrompt,
    paste:
      chosenTail === undefined
        ? []
        : trainer.pasteLossless({ ...chosenTail, windowRounds: windowRounds!, responsesPerPrompt }),
  };
}

function verdictOf(
  { correlationIs, lossless }: NonNullable<SweepAdvice['frontier']>,
  gain: Interval | null,
  { isFaster }: { readonly isFaster: boolean },
): ReturningVerdict {
  if (correlationIs !== 'measured') return correlationIs;
  if (lossless === null || gain === null || gain.low < leastWorth) return 'unsure';
  return isFaster ? 'option' : 'best';
}

const windowOf = ({ settings }: FrontierRow): number | undefined =>
  settings === 'baseline' ? undefined : settings.windowRounds;

/** Whether a row has these settings. */
const sameSettings = ({ settings }: FrontierRow, other: SynchronousSettings): boolean =>
  settings !== 'baseline' && keyOf(settings) === keyOf(other);
