/** A policy of one's own: the laws, what the simulator needs of it, and how it compares with what rollflex ships. */
import assert from 'node:assert/strict';
import {
  compare,
  jobPreset,
  policyScheduler,
  rollpackerWorkload,
  tailBatchingScheduler,
  withPredictions,
} from 'rollflex/sim';
import { checkLaws } from 'rollflex/testing';
import { likely } from './likely.ts';
import { longestFirst } from './longest-first.ts';

// Small numbers in every setting, so that its limits are reached.
const small = { promptsPerRound: 4, responsesPerPrompt: 2, inFlight: 3 };
const kept = checkLaws(
  { definition: longestFirst, arbitrary: likely },
  { config: small, runs: 5, events: 40, seed: 1 },
);
assert.deepEqual(kept.simulator.lacks, []);
console.log('keeps the laws; the simulator runs it');

const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
const job = { ...preset, promptsPerRound: 16 };
const { promptsPerRound, responsesPerPrompt } = job;
const own = policyScheduler(longestFirst, { promptsPerRound, responsesPerPrompt, inFlight: 64 });
for (const predict of ['none', 'noisy', 'oracle'] as const) {
  const { schedulers } = compare({
    job,
    workload: (seed) => withPredictions(rollpackerWorkload(capTokens, seed), { predict, responsesPerPrompt, seed }),
    steps: 5,
    seeds: [1, 2],
    schedulers: [own, tailBatchingScheduler(job)],
    timeline: false,
  });
  const mine = schedulers[1]!;
  const asks = mine.runs[0]?.unmet?.some(({ what }) => what === 'prediction');
  assert.equal(asks ?? false, predict === 'none');
  const said = asks ? ', asks for predicted lengths and gets none' : '';
  console.log(`${predict}: ${mine.equalTokenSpeedup.value.toFixed(2)}x at equal tokens${said}`);
}
