/** Costs and effects that a recommendation ignores. */
import type { SweepProblem } from '../run.ts';

const always = [
  'Learning: seconds a trained prompt are no measure of what the model learns; shorter kept responses may change it.',
  'The lengths as training goes on: responses grow or shrink with the weights, the trace does not.',
  'Your engine, GPUs and network beyond the cost model of the job, which is that of a preset unless it was calibrated.',
  'Faults, restarts, other jobs on the same GPUs, and the seconds of checkpoints and evaluations.',
  'Prefix caching across rounds, chunked prefill, speculative decoding, and multi-turn rollouts with tools.',
] as const;

const synchronous = [
  'Filters of prompts by their rewards (DAPO), and what stale tokens do to learning.',
  'Rewards beyond those of the preset: rules, sandboxes and judges at their recorded or assumed seconds.',
] as const;

const pools = [
  'Several sizes of the two pools: engines and trainer are given, and not chosen.',
  'The network between the pools, beyond a fixed number of seconds for new weights.',
] as const;

/** Returns sentences about the gaps of the model, the most important first. */
export function notModelled({ kind, workload, steps }: SweepProblem, seed: number, promptsPerRound: number): string[] {
  const { distinctPrompts } = workload(seed);
  const few = distinctPrompts < steps * promptsPerRound;
  const small = `More prompts than the trace has: its ${distinctPrompts} are used again with resampled responses, and intervals say nothing of other prompts.`;
  return [...(few ? [small] : []), ...always, ...(kind === 'pools' ? pools : synchronous)];
}
