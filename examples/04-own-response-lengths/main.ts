/** Simulates a job on response lengths of one's own, with several factors of speculation. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { compare, defineJob, jobPreset, readTrace, tailBatchingScheduler, tracedWorkload } from 'rollflex/sim';

const file = new URL('./lengths.jsonl', import.meta.url);
const trace = readTrace(readFileSync(file, 'utf8'), 'lengths.jsonl');
assert(trace.kind === 'prompts');

// The model and the GPUs of a preset, with a batch of one's own.
const job = defineJob({
  ...jobPreset('qwen2.5-14b-16k').job,
  name: 'my job',
  engines: 8,
  promptsPerRound: 16,
  responsesPerPrompt: 8,
});
const schedulers = [1.125, 1.25, 1.5].map((eta) => ({
  ...tailBatchingScheduler(job, { promptSpeculation: eta, responseSpeculation: eta }),
  id: `tail-batching-${eta}`,
  label: `tail batching, eta ${eta}`,
}));

const result = compare({
  job,
  // Responses beyond those recorded are drawn from the trace, with the correlation that it has within prompts.
  workload: (seed) =>
    tracedWorkload({ name: 'mine', prompts: trace.prompts, resampling: 'copula', capTokens: 8192, seed }),
  steps: 20,
  seeds: [1, 2, 3],
  schedulers,
  timeline: false,
});

for (const { label, rolloutSpeedup, keptTokenRatio, bubbleRatio } of result.schedulers) {
  const { value, low, high } = rolloutSpeedup;
  console.log(
    `${label.padEnd(24)} rollout ${value.toFixed(2)}x (${low.toFixed(2)} to ${high.toFixed(2)}), ` +
      `bubbles ${(100 * bubbleRatio).toFixed(0)} %, kept tokens ${keptTokenRatio.toFixed(2)}`,
  );
}
for (const note of result.notes) console.log(`- ${note}`);

const [baseline, ...tails] = result.schedulers;
assert.equal(baseline!.rolloutSpeedup.value, 1);
for (const { runs, rolloutSpeedup, keptTokenRatio } of tails) {
  assert(rolloutSpeedup.low > 1, 'tail batching is faster on a long tail');
  assert(keptTokenRatio < 1, 'and keeps the shorter responses');
  for (const run of runs) assert.equal(run.trainedPrompts, 20 * 16, 'every prompt is trained on once');
}
