/** Notes that readers of a comparison of disaggregated pools need. */
import { mostOf } from '../comparison/metrics.ts';
import type { PoolsSchedulerResult } from './result.ts';
import type { PoolsJob } from './settings.ts';

const whole = (value: number): string => value.toFixed(0);

/** Returns notes, most important first. */
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
  const ofRolloutPipe = others.filter((one) => one.pipelining && !one.tailBatching);
  const alone = ofRolloutPipe.find((one) => one.width === 'all');
  const both = ofRolloutPipe.filter((one) => one.width !== 'all');
  if (alone !== undefined && both.length > 0 && both.every((one) => one.reduction.value <= alone.reduction.value)) {
    notes.push(
      'A frontier adds nothing here: it makes the rollout longer, and the rollout decides the end of the round.',
    );
  }
  for (const { label, starvedRounds, runs } of both) {
    if (starvedRounds === 0) continue;
    const rounds = runs.reduce((sum, run) => sum + run.rounds.length, 0);
    notes.push(`In ${starvedRounds} of ${rounds} rounds the frontier of ${label} says that it starves the trainer.`);
  }
  const { rolloutSeconds, computeSeconds } = baseline;
  if (computeSeconds < 0.5 * rolloutSeconds) {
    notes.push(
      `Training takes ${whole(computeSeconds)} s and the rollout ${whole(rolloutSeconds)} s: pipelining cannot save more than the training.`,
    );
  }
  const tails = others.filter((one) => one.tailBatching);
  if (tails.length > 0) {
    const kept = tails.map((one) => whole(100 * one.keptTokenRatio)).sort((a, b) => Number(a) - Number(b));
    const share = [...new Set([kept[0], kept.at(-1)])].join(' to ');
    const redrawn = mostOf(tails, 'redrawnShare');
    notes.push(
      `Tail batching trains on as many groups, and on ${share} % of the tokens: shorter responses are kept. Compare the speedups at equal tokens.`,
    );
    if (redrawn > 0) {
      notes.push(
        `Deferred prompts are drawn again, so that bad luck is thrown away: up to ${whole(100 * redrawn)} % of the responses trained on.`,
      );
    }
    return notes;
  }
  notes.push('All groups and tokens are trained on, by every scheduler: a shorter time is not fewer tokens.');
  return notes;
}
