/**
 * Shows what tail batching is worth for a token that is trained on, against the baseline: the three presets, with both
 * factors 1.25, and with prompts alone over-provisioned, where drawing deferred prompts again is all that makes
 * responses shorter. Prints the table of docs/metrics.md. `npx tsx bench/simulated/equal-tokens.ts [seeds]`
 */

import { rollpackerScheduler, variants } from '../../src/sim/colocated/ablation.ts';
import { compare } from '../../src/sim/comparison/compare.ts';
import { jobPresets, rollpackerWorkload } from '../../src/sim/models/presets.ts';

const switches = variants.find((one) => one.id === 'tail-batching')!.switches;
const [first] = variants;
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const rows = jobPresets.flatMap(({ id, job, capTokens }) => {
  const { schedulers } = compare({
    job,
    workload: (seed) => rollpackerWorkload(capTokens, seed),
    steps: 40,
    seeds: Array.from({ length: Number(process.argv[2] ?? 3) }, (_, index) => index + 1),
    baseline: rollpackerScheduler(job, first.id, first.switches),
    schedulers: [
      rollpackerScheduler(job, 'both', switches, '1.25, 1.25'),
      rollpackerScheduler(job, 'prompts', { ...switches, responseSpeculation: 1 }, '1.25, 1'),
    ],
    timeline: false,
  });
  return schedulers.slice(1).map((one) => {
    const { low, value, high } = one.equalTokenSpeedup;
    const equal = `${value.toFixed(2)} × (${low.toFixed(2)} to ${high.toFixed(2)})`;
    const long = `${percent(one.longestKeptShare)}, ${percent(one.longestTrainedRatio)}`;
    const kept = [one.keptTokenRatio.toFixed(2), long, percent(one.redrawnShare), percent(one.redrawnLoss)];
    return [id, one.label, `${one.speedup.value.toFixed(2)} ×`, equal, percent(one.ofOracle!), ...kept];
  });
});
const head = [
  'job',
  'η_P, η_R',
  'speedup',
  'at equal tokens',
  'of the oracle',
  'kept tokens',
  'longest 1 %',
  'drawn again',
  'lost by that',
];
for (const cells of [head, head.map(() => '---'), ...rows]) console.log(`| ${cells.join(' | ')} |`);
