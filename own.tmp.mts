import { compare, jobPreset, policyScheduler, rollpackerWorkload, withPredictions, simulate, tailBatchingScheduler } from './src/sim/index.ts';
import { create } from './src/core/machine/start.ts';
import { shortestFirst } from './examples/15-own-policy/shortest-first.ts';
const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
const job = { ...preset, promptsPerRound: 16 };
const { promptsPerRound, responsesPerPrompt } = job;
const own = policyScheduler(shortestFirst, { promptsPerRound, responsesPerPrompt, inFlight: 64 });
for (const predict of ['none', 'noisy', 'oracle'] as const) {
const r = compare({ job, workload: (seed) => withPredictions(rollpackerWorkload(capTokens, seed), { predict, responsesPerPrompt, seed }), steps: 5, seeds: [1, 2], schedulers: [own, tailBatchingScheduler(job)], timeline: false });
for (const s of r.schedulers) console.log(predict, s.label, s.speedup.value.toFixed(3), s.keptTokenRatio.toFixed(2), JSON.stringify(s.runs[0]!.unmet));
console.log(r.notes.filter((n) => /acme|redict/.test(n)), r.workload.predict);
}
