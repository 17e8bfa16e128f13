/** Explains a recommendation in sentences. */
import type { Interval } from '../../comparison/result.ts';
import { isTie } from '../../comparison/tie.ts';
import { factorText, fasterText, plainSigns, speedupOf, timesOf } from '../../report/faster.ts';
import { areGiven, cautionShare } from '../limits.ts';
import type { SweepAdvice, SweepLimits } from '../result.ts';
import { isPartial, provisionOf, type SweepSettings } from '../settings/settings.ts';
import { independentSteps } from '../split.ts';

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
/** Returns what a share of the time that is saved makes of the speed. */
const fasterBy = (saved: Interval, than: string): string => fasterText(speedupOf(saved), plainSigns, than);

/** Differences below this share of the baseline's time are not mentioned. */
const worthNaming = 0.01;

/** The facts for the sentences. */
export interface SweepFacts extends SweepFigures {
  /** Whether the confirmation has run these settings. */
  isConfirmed(settings: SweepSettings): boolean;
}
type SweepFigures = Pick<
  SweepAdvice,
  | 'verdict'
  | 'job'
  | 'recommended'
  | 'gainOverPublished'
  | 'gainOfTailBatching'
  | 'published'
  | 'baseline'
  | 'oracle'
  | 'objective'
  | 'tried'
  | 'search'
>;

/** Returns the explanation in sentences, the verdict first. */
export function meaningOf(facts: SweepFacts): string[] {
  const { verdict, recommended, gainOverPublished, gainOfTailBatching, baseline, oracle, objective, search } = facts;
  const isFaster = fasterBy(recommended.gain, baseline.label);
  const sentences: string[] = [];
  if (verdict === 'tuned') {
    const tie = isTie(gainOverPublished) ? ': a tie' : '';
    sentences.push(
      `${recommended.label}: ${isFaster}, and ${fasterBy(gainOverPublished, "the papers' fixed settings")}${tie}.`,
    );
  } else if (verdict === 'published') {
    sentences.push(`Nothing beats the papers' fixed settings here, ${recommended.label}: ${isFaster}.`);
  } else if (verdict === 'unspeculative') {
    sentences.push(
      `The papers' fixed settings are not within the limits, and nothing that is beats them without tail batching, ${recommended.label}: ${isFaster}.`,
    );
  } else if (areGiven(objective.limits)) {
    sentences.push(
      `Nothing within the limits (${limitsText(objective.limits)}) beats ${baseline.label} for sure. Stay with ${baseline.label}.`,
    );
  } else {
    const { gain } = facts.published;
    sentences.push(
      `None of it pays here: the papers' fixed settings are ${fasterBy(gain, baseline.label)}, which is faster than anything that was tried. Stay with ${baseline.label}.`,
    );
  }
  if (verdict !== 'baseline' && recommended.gain.low <= 0) {
    sentences.push(
      `A tie with ${baseline.label}: it may be no faster at all, since the interval reaches below 1. Give it more steps.`,
    );
  }
  sentences.push(...tailSentence(facts, gainOfTailBatching), ...passedOver(facts));
  const floor = objective.given
    ? `at least ${objective.leastKeptTokenRatio.toFixed(2)}, as asked for`
    : `no lower than with the papers' settings, ${objective.leastKeptTokenRatio.toFixed(2)}`;
  sentences.push(
    `The objective is time a trained prompt, with a kept-token ratio ${floor}: it is ${recommended.keptTokenRatio.value.toFixed(2)}, and ${percent(recommended.cappedShare)} of the responses are at the cap instead of ${percent(baseline.cappedShare)}.`,
  );
  if (verdict !== 'baseline') sentences.push(costSentence(facts));
  if (oracle !== undefined) {
    sentences.push(
      `An oracle that knows all lengths and keeps every response is ${fasterText(timesOf(oracle.gain), plainSigns, baseline.label)}; at equal tokens the recommendation has ${percent(recommended.ofOracle ?? 0)} of its speed.`,
    );
  }
  sentences.push(seenSentence(search));
  return sentences;
}

function limitsText({ minKept, minTop1, maxLag }: SweepLimits): string {
  return [
    ...(minKept === undefined ? [] : [`kept tokens at least ${minKept}`]),
    ...(minTop1 === undefined ? [] : [`longest 1 % trained at least ${minTop1}`]),
    ...(maxLag === undefined ? [] : [`lag at most ${maxLag}`]),
  ].join(', ');
}

/** Returns a sentence about the cost of the gain. */
function costSentence({ recommended, baseline }: SweepFacts): string {
  const { equalTokenSpeedup: speedup, longestTrainedRatio, staleShare, maxLag } = recommended;
  const times = `${factorText(speedup, plainSigns)} as fast as ${baseline.label}`;
  const stale =
    maxLag === 0
      ? 'no token is stale'
      : `${percent(staleShare)} of the tokens are stale, by up to ${maxLag} version${maxLag === 1 ? '' : 's'}`;
  return `At equal tokens it is ${times}. Of responses as long as the longest 1 % of the baseline's it trains ${percent(longestTrainedRatio)} as many; ${stale}.`;
}

/** Returns a sentence about the interval that covers the machine. */
export function machineSentence({ gain, measuredPoints: points }: NonNullable<SweepAdvice['overMachines']>): string {
  const on =
    points === 0 ? 'engines that nobody has measured (--calibrate)' : `engines as ${points} points measured them`;
  const tie = isTie(gain) ? ': a tie with the job as it is' : '';
  return `All of these intervals are of runs alone, on engines as they are modelled. On ${on} it is ${fasterText(speedupOf(gain), plainSigns)}${tie}.`;
}

/** Returns a sentence about the basis of the intervals. */
function seenSentence({ prompts, confirmationSteps, confirmationSeeds }: SweepFacts['search']): string {
  const runs = `${confirmationSeeds.length} runs of ${confirmationSteps} steps on seeds that the search has not seen`;
  const on = {
    halves: `${runs}, and on the ${prompts.confirmation} prompts that it has not seen either (the search had the other ${prompts.search})`,
    same: `${runs}, but on the same ${prompts.confirmation} prompts: the trace has too few to keep some from the search`,
    generated: `${runs}; each seed generates prompts of its own`,
  };
  return `Intervals are for an independent run of ${Math.max(independentSteps, confirmationSteps)} steps, nominally 95 %: they come from ${on[prompts.kind]}.`;
}

function tailSentence({ verdict, job, recommended: { settings } }: SweepFacts, tail: Interval | undefined): string[] {
  if (verdict === 'baseline') return [];
  if (tail === undefined) {
    const where = job === 'pools' ? 'keeps too few tokens for it, or does not pay' : 'does not pay';
    const more =
      job === 'pools' ? ' With a lower least kept-token ratio (--min-kept, `minKept`) it would be a candidate.' : '';
    return [`Tail batching ${where} on this trace: the recommendation has none.${more}`];
  }
  const what = settings !== 'baseline' && isPartial(settings) ? 'partial rollout' : 'tail batching';
  const isFaster = `it is ${fasterBy(tail, 'the same settings without it')}`;
  if (tail.low > 0) return [`With ${what} ${isFaster}.`];
  return [
    `That ${what} pays on this trace is not ${tail.value > 0 ? 'sure' : 'so'}: with it, ${isFaster}${isTie(tail) ? ': a tie' : ''}. It stays, since a trace may lack the longest responses: settings that speculate less than the papers' must be ${percent(cautionShare)} faster for sure.`,
  ];
}

/** Returns the reason why faster settings of the search are not recommended, although they keep enough tokens. */
function passedOver({ verdict, recommended, baseline, published, tried, isConfirmed }: SweepFacts): string[] {
  // Of many settings that ran a few times, the fastest one is mostly lucky: only those that the confirmation has seen are named.
  const best = tried.find((one) => one.admissible && isConfirmed(one.settings));
  if (verdict === 'baseline' || best === undefined || best.gain < recommended.gain.value + worthNaming) return [];
  const isLess = provisionOf(best.settings) < provisionOf(published.settings as SweepSettings);
  const why = isLess
    ? `it speculates less than the papers', and must then be ${percent(cautionShare)} faster for sure, since a trace may lack the longest responses`
    : 'in the confirmation it was a tie, not faster for sure';
  const runs = best.seeds === 1 ? 'one run' : `${best.seeds} runs`;
  const speed = fasterText(timesOf(best.gain), plainSigns, baseline.label);
  return [`In ${runs} of the search ${best.label} was ${speed}. It is not recommended: ${why}.`];
}
