/** What a reader of a comparison of disaggregated pools must know. */
import type { PoolsSchedulerResult } from './result.ts';
import type { PoolsJob } from './settings.ts';

const whole = (value: number): string => value.toFixed(0);

/** Notes, most important first. */
export function notesOnPools(job: PoolsJob, results: readonly PoolsSchedulerResult[]): string[] {
  const [baseline, ...others] = results;
  const notes: string[] = [];
  if (baseline === undefined) return notes;
  for (const { label, reduction, width } of others) {
    if (reduction.value >= 0 || typeof width !== 'number') continue;
    const requests = width * job.responsesPerPrompt;
    notes.push(
      `${label} is slower than ${baseline.label}: at most ${requests} requests run at once, which leaves the engines idle.`,
    );
  }
  const starved = others.filter((one) => one.starvedRounds > 0);
  if (starved.length > 0) {
    notes.push(`The frontier says that it starves the trainer: ${starved.map((one) => one.label).join(', ')}.`);
  }
  const { rolloutSeconds, computeSeconds } = baseline;
  if (computeSeconds < 0.5 * rolloutSeconds) {
    notes.push(
      `Training takes ${whole(computeSeconds)} s and the rollout ${whole(rolloutSeconds)} s: pipelining cannot save more than the training.`,
    );
  }
  notes.push('All groups and tokens are trained on, by every scheduler: a shorter time is not fewer tokens.');
  return notes;
}
