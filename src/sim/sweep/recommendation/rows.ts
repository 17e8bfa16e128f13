/** Turns runs into the rows of a result, with gains and costs of settings. */
import { ratio, sumOf } from '../../comparison/metrics.ts';
import { type Book, type Candidate, gain, gainInterval, keptRatio, longestRatio, type Pair } from '../book.ts';
import { ofMean, predicted, type Spread } from '../interval.ts';
import type { ConfirmedSettings, TriedSettings } from '../result.ts';
import type { Rules } from '../search/rules.ts';
import { labelOf, type SweepSettings } from '../settings/settings.ts';

/** Returns the mean of a number over pairs. */
export const mean = (pairs: readonly Pair[], value: (pair: Pair) => number): number =>
  ratio(sumOf(pairs, value), pairs.length);

/** Returns the figures without an interval. */
const costs = (pairs: readonly Pair[]) => ({
  longestTrainedRatio: longestRatio(pairs),
  cappedShare: mean(pairs, ({ one }) => one.cappedShare),
  staleShare: mean(pairs, ({ one }) => one.staleShare),
  maxLag: pairs.reduce((most, { one }) => Math.max(most, one.maxLag), 0),
});

const equalTokens = [
  [({ other }: Pair) => other.secondsPerPrompt, ({ one }: Pair) => one.secondsPerPrompt],
  [({ one }: Pair) => one.tokensPerResponse, ({ other }: Pair) => other.tokensPerResponse],
] as const;

/** Returns the speedup at equal tokens: first over second of each pair. */
export const speedupOf = (pairs: readonly Pair[]): number => predicted(pairs, equalTokens, ofMean).value;

/** Returns the results of a candidate on the seeds of the confirmation. */
export function confirmedRow(
  book: Book,
  one: Candidate,
  { label, seeds, spread }: { readonly label: string; readonly seeds: readonly number[]; readonly spread: Spread },
): ConfirmedSettings {
  const pairs = book.pairs(one, book.baseline, seeds);
  const beside = book.pairs(book.oracle, one, seeds);
  return {
    settings: one.settings as SweepSettings | 'baseline',
    label,
    secondsPerPrompt: predicted(
      pairs,
      [[(pair) => pair.one.secondsPerPrompt, () => 1]],
      spread,
      (pair) => pair.one.roundVariance,
    ),
    gain: gainInterval(pairs, spread),
    equalTokenSpeedup: predicted(pairs, equalTokens, spread),
    keptTokenRatio: predicted(
      pairs,
      [[(pair) => pair.one.tokensPerResponse, (pair) => pair.other.tokensPerResponse]],
      spread,
    ),
    ...costs(pairs),
    ...(beside.length === 0 ? {} : { ofOracle: 1 / speedupOf(beside) }),
  };
}

/** Returns the results of all candidates on the seeds of the search, largest savings first, and the settings that could not run. */
export function triedRows(
  book: Book,
  rules: Rules,
  searchSeeds: readonly number[],
): { readonly tried: TriedSettings[]; readonly infeasible: { settings: SweepSettings; why: string }[] } {
  const tried: TriedSettings[] = [];
  const infeasible: { settings: SweepSettings; why: string }[] = [];
  for (const one of book.all) {
    const settings = one.settings as SweepSettings;
    if (one.infeasible !== undefined) {
      infeasible.push({ settings, why: one.infeasible });
      continue;
    }
    const pairs = book.pairs(one, book.baseline, searchSeeds);
    if (pairs.length === 0) continue;
    const seen = searchSeeds.filter((seed) => one.runs.has(seed));
    tried.push({
      settings,
      label: labelOf(settings),
      seeds: pairs.length,
      secondsPerPrompt: mean(pairs, (pair) => pair.one.secondsPerPrompt),
      gain: gain(pairs),
      equalTokenSpeedup: speedupOf(pairs),
      keptTokenRatio: keptRatio(pairs),
      ...costs(pairs),
      admissible: rules.isWithin(one, seen, 'search'),
    });
  }
  return { tried: tried.sort((a, b) => b.gain - a.gain), infeasible };
}
