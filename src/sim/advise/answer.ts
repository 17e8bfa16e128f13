/** Turns a search and a comparison into the answer for a trainer: waiting times, settings, their gain and their cost. */
import type { Job } from '../colocated/job.ts';
import { ratio, sumOf } from '../comparison/metrics.ts';
import type { ComparisonResult, Interval, RunResult, SchedulerResult } from '../comparison/result.ts';
import { pairedStatistics } from '../comparison/statistics.ts';
import type { RoundRates } from '../sweep/measure.ts';
import type { SweepAdvice } from '../sweep/result.ts';
import type { SynchronousSettings } from '../sweep/settings/settings.ts';
import { leastWorth, type Returning, returningOf } from './returning.ts';
import type { Selecting } from './selecting.ts';
import type { TrainerFacts } from './trainers.ts';

/** Shares of the time of all GPUs in which they wait, in the job without changes: 0 to 1 each. */
export interface WaitingShares {
  /** Sum of the shares below. */
  readonly all: number;
  /** Engines without requests, while other engines finish the rollout. */
  readonly engines: number;
  /** The rollout is over, and rewards are missing. */
  readonly rewards: number;
  /** The engines receive new weights. */
  readonly sync: number;
}

/** Gain and cost of settings, as the simulator estimates them for a long job. */
export interface Paid {
  /**
   * Share of the time per trained prompt that the settings save. Of the settings to switch on, the interval covers the machine too:
   * how far engines and training may be from what is known of them.
   */
  readonly gain: Interval;
  /** Mean length of the responses trained on ÷ the baseline's. */
  readonly keptTokenRatio: number;
  /** Seconds of the baseline for a kept token ÷ seconds of the settings for one. */
  readonly equalTokenSpeedup: number;
}

/** The answer to a question about a trainer. */
export interface Answer {
  /** What nobody said about the cluster and was assumed, as phrases. */
  readonly assumed: readonly string[];
  /** What lies outside of the measurements that the time model was fitted to, as phrases. */
  readonly outside: readonly string[];
  /** The trainer, with the levers of its adapter. */
  readonly trainer: Omit<TrainerFacts, 'paste' | 'pasteLossless'>;
  /** `nothing`: no settings surely save 1 % of the time. */
  readonly verdict: 'saves' | 'nothing';
  /** Seconds of a step, in the job without changes. */
  readonly stepSeconds: Interval;
  /** Shares of the time in which GPUs wait. */
  readonly waits: WaitingShares;
  /** The settings to switch on; null if no settings save time. */
  readonly settings: SynchronousSettings | null;
  /** Gain and cost of the settings, on seeds that the search has not used. */
  readonly paid: Paid;
  /** Measured points of engines that their costs rest on: 0 if nobody has measured them. */
  readonly measuredPoints: number;
  /** The gain on engines that are exactly as assumed: its interval is that of runs alone. */
  readonly sampling: Interval;
  /** Trained responses at least as long as the longest 1 % of the baseline's responses ÷ number of those. */
  readonly longestTrainedRatio: number;
  /** The gain with your own host and full RollPacker at the papers' settings; absent if the trainer is your own host. */
  readonly own?: Paid;
  /** The lines of code that switch the settings on. */
  readonly paste: readonly string[];
  /** The answer for prompts that come several times; absent if that was not asked. */
  readonly returning?: Returning;
  /** What a selection of prompts would have saved; absent without rewards, or where too few prompts come again. */
  readonly selecting?: Selecting;
  /** The full result of the search: `policy` and `config` are the arguments of `registry.create`. */
  readonly sweep: SweepAdvice;
}

/** Returns the shares of the time in which GPUs wait. */
function waitingShares(runs: readonly RunResult[]): WaitingShares {
  const steps = runs.flatMap((run) => run.steps);
  const total = sumOf(steps, (step) => step.endSeconds - step.startSeconds);
  const idle = sumOf(steps, (step) => step.bubbleRatio * step.rolloutSeconds);
  const [engines, rewards, sync] = [
    ratio(idle, total),
    ratio(sumOf(steps, 'rewardSeconds'), total),
    ratio(sumOf(steps, 'syncSeconds'), total),
  ] as const;
  return { all: engines + rewards + sync, engines, rewards, sync };
}

/** The rates that gain and cost need: seconds per prompt, and tokens per response. */
type Rates = Pick<RoundRates, 'secondsPerPrompt' | 'tokensPerResponse'>;

/** Returns gain and cost, from pairs of runs: each run is paired with the run of the baseline on the same seed. */
export function paidOf(pairs: readonly { readonly one: Rates; readonly baseline: Rates }[]): Paid {
  const [ours, theirs] = [pairs.map(({ one }) => one), pairs.map(({ baseline }) => baseline)];
  const quotient = (rate: keyof Rates): number => ratio(sumOf(ours, rate), sumOf(theirs, rate));
  const keptTokenRatio = quotient('tokensPerResponse');
  const gain = pairedStatistics(ours, theirs).saved('secondsPerPrompt');
  return { gain, keptTokenRatio, equalTokenSpeedup: keptTokenRatio / quotient('secondsPerPrompt') };
}

/** The parts of an answer. */
export interface AnswerParts {
  readonly trainer: TrainerFacts;
  readonly job: Job;
  readonly sweep: SweepAdvice;
  /** The baseline and the recommendation. */
  readonly comparison: ComparisonResult;
  /** The gain of the recommendation over the machines that the job may turn out to run on. */
  readonly gain: Interval;
  readonly own?: Paid;
}

/** Makes the answer. */
export function answerOf({
  trainer,
  job: { promptsPerRound, machine },
  sweep,
  comparison,
  gain,
  own,
}: AnswerParts): Answer {
  const { assumed, outside } = comparison.basis;
  const { paste, pasteLossless: _, ...facts } = trainer;
  const [baseline, recommended] = comparison.schedulers as [SchedulerResult, SchedulerResult];
  const { settings, keptTokenRatio, secondsPerPrompt } = sweep.recommended;
  const saves = settings !== 'baseline' && gain.low >= leastWorth;
  const chosen = saves ? (settings as SynchronousSettings) : null;
  const faster = ratio(sweep.baseline.secondsPerPrompt.value, secondsPerPrompt.value);
  const equalTokenSpeedup = keptTokenRatio.value * faster;
  const returning = returningOf(sweep, trainer, chosen);
  return {
    assumed,
    outside,
    trainer: facts,
    verdict: saves ? 'saves' : 'nothing',
    stepSeconds: baseline.stepSeconds,
    waits: waitingShares(baseline.runs),
    settings: chosen,
    paid: { gain, keptTokenRatio: keptTokenRatio.value, equalTokenSpeedup },
    measuredPoints: machine?.points ?? 0,
    sampling: sweep.recommended.gain,
    longestTrainedRatio: recommended.longestTrainedRatio,
    ...(own === undefined ? undefined : { own }),
    paste: chosen === null ? [] : paste({ ...chosen, promptsPerRound }),
    ...(returning === undefined ? undefined : { returning }),
    sweep,
  };
}
