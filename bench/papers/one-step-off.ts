/**
 * Shows a one-step off-policy pipeline, against RollPacker §6.7 (Figure 15a): Qwen2.5-7B/8k, 32 prompts a step, eight
 * GPUs that roll out and eight that train the round before. `npx tsx bench/papers/one-step-off.ts [seeds]`
 */

import { oneStepOffAblation, withOneStepOff } from '../../src/sim/colocated/one-step-off.ts';
import { compare } from '../../src/sim/comparison/compare.ts';
import { jobPreset, rollpackerWorkload } from '../../src/sim/models/presets.ts';

const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
const job = withOneStepOff({ ...preset, promptsPerRound: 32 });
const [baseline, ...rest] = oneStepOffAblation(job);
const { schedulers } = compare({
  job,
  workload: (seed) => rollpackerWorkload(capTokens, seed),
  steps: 40,
  seeds: Array.from({ length: Number(process.argv[2] ?? 5) }, (_, index) => index + 1),
  baseline: baseline!,
  schedulers: rest,
  timeline: false,
});
for (const { label, stepSeconds, speedup, runs } of schedulers) {
  const each = runs.map((run, index) => schedulers[0]!.runs[index]!.totalSeconds / run.totalSeconds);
  const range = `${Math.min(...each).toFixed(2)} to ${Math.max(...each).toFixed(2)}`;
  console.log(`${label.padEnd(16)} ${stepSeconds.value.toFixed(1)} s a step, ${speedup.value.toFixed(2)} × (${range})`);
}
console.log('paper: 1.71 × for all of RollPacker');
