/** What a recommendation says, in sentences. */
import type { Interval } from '../result.ts';
import { cautionShare } from './floor.ts';
import type { SweepAdvice } from './result.ts';
import { provisionOf, type SweepSettings } from './settings.ts';

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const between = ({ low, high }: Interval): string => `${percent(low)} to ${percent(high)}`;

/** Share of the baseline's time: who sees less of a difference does not ask. */
const worthNaming = 0.01;

/** The facts that sentences are made of. */
export type SweepFacts = Pick<
  SweepAdvice,
  | 'verdict'
  | 'job'
  | 'recommended'
  | 'gainOverPublished'
  | 'gainOfTailBatching'
  | 'published'
  | 'baseline'
  | 'clairvoyant'
  | 'objective'
  | 'tried'
>;

/** Sentences, the verdict first. */
export function meaningOf(facts: SweepFacts): string[] {
  const { verdict, recommended, gainOverPublished, gainOfTailBatching, baseline, clairvoyant, objective } = facts;
  const saves = `${percent(recommended.gain.value)} less time a trained prompt than ${baseline.label} (${between(recommended.gain)})`;
  const sentences: string[] = [];
  if (verdict === 'tuned') {
    sentences.push(
      `${recommended.label}: ${saves}, and ${percent(gainOverPublished.value)} less than the papers' fixed settings (${between(gainOverPublished)}).`,
    );
  } else if (verdict === 'published') {
    sentences.push(`Nothing beats the papers' fixed settings here, ${recommended.label}: ${saves}.`);
  } else if (verdict === 'unspeculative') {
    sentences.push(
      `The papers' fixed settings keep fewer tokens than asked for, and nothing that keeps enough beats them without tail batching, ${recommended.label}: ${saves}.`,
    );
  } else {
    const { gain } = facts.published;
    sentences.push(
      `None of it pays here: the papers' fixed settings save ${percent(gain.value)} (${between(gain)}) of the time of ${baseline.label}, and it is faster than anything that was tried. Stay with ${baseline.label}.`,
    );
  }
  if (verdict !== 'baseline' && recommended.gain.low <= 0) {
    sentences.push(
      `It may be no faster than ${baseline.label} at all: the interval reaches below 0. Give it more steps.`,
    );
  }
  sentences.push(...tailSentence(facts, gainOfTailBatching), ...passedOver(facts));
  const floor = objective.given
    ? `at least ${objective.leastKeptTokenRatio.toFixed(2)}, as asked for`
    : `no lower than with the papers' settings, ${objective.leastKeptTokenRatio.toFixed(2)}`;
  sentences.push(
    `The objective is time a trained prompt, with a kept-token ratio ${floor}: it is ${recommended.keptTokenRatio.value.toFixed(2)}, and ${percent(recommended.cappedShare)} of the responses are at the cap instead of ${percent(baseline.cappedShare)}.`,
  );
  sentences.push(
    `The clairvoyant bound is ${percent(clairvoyant.gain)} less, for a scheduler that knows all lengths and trains the same responses as ${baseline.label}.`,
  );
  return sentences;
}

function tailSentence({ verdict, job }: SweepFacts, tail: Interval | undefined): string[] {
  if (verdict === 'baseline') return [];
  if (tail === undefined) {
    const where = job === 'pools' ? 'keeps too few tokens for it, or does not pay' : 'does not pay';
    const more =
      job === 'pools' ? ' With a lower least kept-token ratio (--min-kept, `minKept`) it would be a candidate.' : '';
    return [`Tail batching ${where} on this trace: the recommendation has none.${more}`];
  }
  if (tail.low > 0)
    return [`Tail batching saves ${percent(tail.value)} of what the same settings take without it (${between(tail)}).`];
  return [
    `Tail batching does not pay on this trace: it saves ${percent(tail.value)} of what the same settings take without it (${between(tail)}). It stays, since a trace may lack the longest responses: settings that speculate less than the papers' must be ${percent(cautionShare)} faster for sure.`,
  ];
}

/** Why what looked faster in the search, and keeps enough, is not what is recommended. */
function passedOver({ verdict, recommended, published, tried }: SweepFacts): string[] {
  const best = tried.find((one) => one.admissible);
  if (verdict === 'baseline' || best === undefined || best.gain < recommended.gain.value + worthNaming) return [];
  const isLess = provisionOf(best.settings) < provisionOf(published.settings as SweepSettings);
  const why = isLess
    ? `it speculates less than the papers', and must then be ${percent(cautionShare)} faster for sure, since a trace may lack the longest responses`
    : 'it was not faster for sure on the seeds that the search had not seen';
  return [`In the search ${best.label} saved ${percent(best.gain)}. It is not recommended: ${why}.`];
}
