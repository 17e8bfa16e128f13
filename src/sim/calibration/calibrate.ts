/**
 * Calibrates a job with two measured rollouts: it fits the overhead of a decode step and the fixed seconds of a rollout. The shapes
 * of model and GPU give the rest of the cost model well; these two numbers depend on the software.
 */
import { refuse } from '../../errors.ts';
import type { FixedPrompt } from '../bounds/lower-bound.ts';
import { simulate } from '../colocated/driver.ts';
import type { Job } from '../colocated/job.ts';
import { synchronousBaseline } from '../colocated/scheduler.ts';
import { capped, type Workload } from '../workload/workload.ts';

/** A measured rollout without over-provisioning. */
export interface MeasuredRollout {
  /** Seconds from its start until the last response was complete. */
  readonly seconds: number;
  /** Its prompts, each with the same number of responses. */
  readonly prompts: readonly FixedPrompt[];
  /** Number of its engines, a whole number >= 1; by default that of the job. */
  readonly engines?: number;
}

const mostRounds = 60;
const relativeTolerance = 1e-9;

/**
 * Fits `cost.overheadSeconds` and `cost.fixedRolloutSeconds`, so that both rollouts take as long as measured.
 *
 * @param measured - two rollouts whose longest responses differ much; the order does not matter
 * @throws PolicyError `invalid_input` for rollouts without usable data; `infeasible` if no overhead and fixed time >= 0 fit: then
 *   another part of the cost model is too slow
 */
export function calibrateJob(job: Job, measured: readonly [MeasuredRollout, MeasuredRollout]): Job {
  for (const [index, one] of measured.entries()) checkMeasured(one, `measured[${index}]`);
  const [short, long] = [...measured].sort((a, b) => longestTokens(a) - longestTokens(b)) as [
    MeasuredRollout,
    MeasuredRollout,
  ];
  if (longestTokens(short) === longestTokens(long)) {
    refuse('invalid_input', 'measured', 'rollouts with longest responses that differ', longestTokens(long));
  }
  const generating = (rollout: MeasuredRollout, overheadSeconds: number): number => {
    const cost = { ...job.cost, overheadSeconds, fixedRolloutSeconds: 0 };
    return simulatedSeconds({ ...job, cost }, rollout);
  };
  // The difference does not contain the fixed seconds, and grows nearly in proportion to the overhead.
  const wanted = long.seconds - short.seconds;
  const missing = (overhead: number): number => generating(long, overhead) - generating(short, overhead) - wanted;
  const overheadSeconds = rootOf(missing, wanted / longestTokens(long), wanted * relativeTolerance);
  if (overheadSeconds < 0) {
    const apart = `${wanted.toFixed(2)} s between the two, and ${(wanted + missing(0)).toFixed(2)} s in the model without any overhead`;
    refuse('infeasible', 'cost.overheadSeconds', `a fit >= 0${tooSlow}`, apart);
  }
  const fixedRolloutSeconds = settled(long.seconds - generating(long, overheadSeconds), long.seconds);
  if (fixedRolloutSeconds < 0) {
    const path = 'cost.fixedRolloutSeconds';
    refuse('infeasible', path, `a fit >= 0${tooSlow}`, fixedRolloutSeconds);
  }
  return { ...job, cost: { ...job.cost, overheadSeconds, fixedRolloutSeconds } };
}

const tooSlow = ': the rest of the cost model, or the number of engines, is slower than what was measured';

/** Returns 0 for a negative value within the precision of the fit, and otherwise the value. */
const settled = (value: number, seconds: number): number =>
  value < 0 && value > -10 * relativeTolerance * seconds ? 0 : value;

/** Returns a root >= 0 of an increasing function by regula falsi (Illinois); a negative number if the function is above 0 at 0. */
function rootOf(value: (x: number) => number, step: number, tolerance: number): number {
  let [low, atLow] = [0, value(0)];
  if (Math.abs(atLow) <= tolerance) return 0;
  if (atLow > 0) return -1;
  let [high, atHigh] = [step, value(step)];
  for (let round = 0; atHigh < 0 && round < mostRounds; round += 1) {
    [low, atLow] = [high, atHigh];
    high *= 2;
    atHigh = value(high);
  }
  for (let round = 0; round < mostRounds; round += 1) {
    const x = (low * atHigh - high * atLow) / (atHigh - atLow);
    const at = value(x);
    if (Math.abs(at) <= tolerance || high - low <= relativeTolerance * high) return x;
    if (at > 0) {
      [high, atHigh] = [x, at];
      atLow /= 2;
    } else {
      [low, atLow] = [x, at];
      atHigh /= 2;
    }
  }
  return (low + high) / 2;
}

/** Returns the tokens of the longest response of a rollout. */
export function longestTokens({ prompts }: MeasuredRollout): number {
  return prompts.reduce((most, one) => one.responseTokens.reduce((a, b) => Math.max(a, b), most), 0);
}

/** Refuses a rollout without data. Throws `invalid_input`, with a path below the given one. */
export function checkMeasured({ seconds, prompts, engines = 1 }: MeasuredRollout, at: string): void {
  if (!(seconds > 0 && Number.isFinite(seconds))) refuse('invalid_input', `${at}.seconds`, 'a number > 0', seconds);
  if (!(Number.isSafeInteger(engines) && engines >= 1))
    refuse('invalid_input', `${at}.engines`, 'a whole number >= 1', engines);
  const responses = prompts[0]?.responseTokens.length ?? 0;
  if (responses === 0) refuse('invalid_input', `${at}.prompts`, 'a prompt with a response', prompts);
  for (const { responseTokens } of prompts) {
    if (responseTokens.length !== responses)
      refuse('invalid_input', `${at}.prompts`, `${responses} responses each`, responseTokens.length);
  }
}

/** Returns the simulated seconds of the rollout. */
export function simulatedSeconds(job: Job, { prompts, engines = job.engines }: MeasuredRollout): number {
  const workload: Workload = {
    name: 'measured',
    source: 'measured rollout',
    resampling: 'none',
    correlation: 0,
    capTokens: Number.MAX_SAFE_INTEGER,
    distinctPrompts: prompts.length,
    prompt: (index) => ({
      promptId: `m${index}`,
      promptTokens: prompts[index]!.promptTokens,
      sample: (k) => capped(prompts[index]!.responseTokens[k]!, Number.MAX_SAFE_INTEGER),
    }),
  };
  const shape = { promptsPerRound: prompts.length, responsesPerPrompt: prompts[0]!.responseTokens.length };
  const scheduler = synchronousBaseline(shape);
  const options = { prompts: prompts.length, seed: 0, timeline: false };
  return simulate({ ...job, engines }, scheduler, workload, options).rolloutSeconds;
}
