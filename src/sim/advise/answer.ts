/** Turns a search and a comparison into the answer for a trainer: waits, settings, their gain and their cost. */
import { ratio, sumOf } from '../metrics.ts';
import type { ComparisonResult, Interval, RunResult, SchedulerResult } from '../result.ts';
import { bootstrap } from '../statistics.ts';
import type { RoundRates } from '../sweep/measure.ts';
import type { SweepAdvice } from '../sweep/result.ts';
import type { SynchronousSettings } from '../sweep/settings.ts';
import type { TrainerFacts } from './trainers.ts';

/** Shares of the time of all GPUs in which they wait, as the job runs today: 0 to 1 each. */
export interface WaitingShares {
  /** Sum of the shares below. */
  readonly all: number;
  /** Engines have nothing to run, while others finish the rollout. */
  readonly engines: number;
  /** The rollout is over, and rewards are awaited. */
  readonly rewards: number;
  /** New weights are brought to the engines. */
  readonly sync: number;
}

/** Gain and cost of settings, estimated by the simulator for a job that goes on. */
export interface Paid {
  /** Share of the time a trained prompt that is saved. */
  readonly gain: Interval;
  /** Mean length of the responses trained on ÷ the baseline's. */
  readonly keptTokenRatio: number;
  /** Seconds of the baseline for a kept token ÷ seconds of this. */
  readonly equalTokenSpeedup: number;
}

/** Least share of the time that settings must save for sure: nobody changes a trainer for less. */
export const leastWorth = 0.01;

/** The answer to a question about a trainer. */
export interface Answer {
  /** The trainer, and the levers of its adapter. */
  readonly trainer: Omit<TrainerFacts, 'paste'>;
  /** `nothing`: there is nothing that would save {@link leastWorth} of the time for sure. */
  readonly verdict: 'saves' | 'nothing';
  /** Seconds of a step, as the job runs today. */
  readonly stepSeconds: Interval;
  /** Shares of the time in which GPUs wait. */
  readonly waits: WaitingShares;
  /** The settings to switch on; null where nothing saves time. */
  readonly settings: SynchronousSettings | null;
  /** Their gain on seeds that the search has not seen, and their cost. */
  readonly paid: Paid;
  /** Responses trained on that are as long as the longest 1 % of the baseline's ÷ number of those. */
  readonly longestTrainedRatio: number;
  /** The gain of a host of one's own, with all of RollPacker at the papers' settings; absent where the host is one. */
  readonly own?: Paid;
  /** The lines that switch it on. */
  readonly paste: readonly string[];
  /** The full result of the search: `policy` and `config` are for `registry.create`. */
  readonly sweep: SweepAdvice;
}

/** Returns the shares of the time in which GPUs wait. */
export function waitingShares(runs: readonly RunResult[]): WaitingShares {
  const steps = runs.flatMap((run) => run.steps);
  const total = sumOf(steps, (step) => step.endSeconds - step.startSeconds);
  const engines = ratio(
    sumOf(steps, (step) => step.bubbleRatio * step.rolloutSeconds),
    total,
  );
  const rewards = ratio(
    sumOf(steps, (step) => step.rewardSeconds),
    total,
  );
  const sync = ratio(
    sumOf(steps, (step) => step.syncSeconds),
    total,
  );
  return { all: engines + rewards + sync, engines, rewards, sync };
}

/** Rates of a run: seconds for each prompt, and tokens of each response. */
type Rates = Pick<RoundRates, 'secondsPerPrompt' | 'tokensPerResponse'>;

/** Returns gain and cost, from runs paired by seed with those of the baseline. */
export function paidOf(pairs: readonly { readonly one: Rates; readonly baseline: Rates }[]): Paid {
  const quotient = (list: typeof pairs, rate: (rates: Rates) => number): number =>
    ratio(
      sumOf(list, ({ one }) => rate(one)),
      sumOf(list, ({ baseline }) => rate(baseline)),
    );
  const seconds = (list: typeof pairs): number => quotient(list, (rates) => rates.secondsPerPrompt);
  const keptTokenRatio = quotient(pairs, (rates) => rates.tokensPerResponse);
  const gain = bootstrap(pairs, (list) => 1 - seconds(list), { seed: 1 });
  return { gain, keptTokenRatio, equalTokenSpeedup: keptTokenRatio / seconds(pairs) };
}

/** The parts of an answer. */
export interface AnswerParts {
  readonly trainer: TrainerFacts;
  readonly promptsPerRound: number;
  readonly sweep: SweepAdvice;
  /** The baseline, and the recommendation. */
  readonly comparison: ComparisonResult;
  readonly own?: Paid;
}

/** Makes the answer. */
export function answerOf({ trainer, promptsPerRound, sweep, comparison, own }: AnswerParts): Answer {
  const { paste, ...facts } = trainer;
  const [baseline, recommended] = comparison.schedulers as [SchedulerResult, SchedulerResult];
  const { settings, gain, keptTokenRatio, secondsPerPrompt } = sweep.recommended;
  const saves = settings !== 'baseline' && gain.low >= leastWorth;
  const chosen = saves ? (settings as SynchronousSettings) : null;
  const faster = ratio(sweep.baseline.secondsPerPrompt.value, secondsPerPrompt.value);
  const equalTokenSpeedup = keptTokenRatio.value * faster;
  return {
    trainer: facts,
    verdict: saves ? 'saves' : 'nothing',
    stepSeconds: baseline.stepSeconds,
    waits: waitingShares(baseline.runs),
    settings: chosen,
    paid: { gain, keptTokenRatio: keptTokenRatio.value, equalTokenSpeedup },
    longestTrainedRatio: recommended.longestTrainedRatio,
    ...(own === undefined ? undefined : { own }),
    paste: chosen === null ? [] : paste({ ...chosen, promptsPerRound }),
    sweep,
  };
}
