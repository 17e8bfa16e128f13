/**
 * Shows a judge in different places beside the actor, against RollPacker §4.3 (Figures 14a and 14b): Qwen2.5-7B/8k with
 * a judge for every response and all of RollPacker, and passes of the judge with pipelined transfers against those
 * without.
 * `npx tsx bench/papers/judge.ts [seeds]`. docs/calibration.md says what fits.
 */
import Table from 'cli-table3';
import { judgeOffload, runPlanner } from '../../src/index.ts';
import { type RollpackerSwitches, rollpackerScheduler, variants } from '../../src/sim/colocated/ablation.ts';
import { simulate } from '../../src/sim/colocated/driver.ts';
import type { Job } from '../../src/sim/colocated/job.ts';
import type { RunResult } from '../../src/sim/comparison/result.ts';
import { judge7b, withJudge } from '../../src/sim/models/judge-preset.ts';
import { jobPreset, rollpackerWorkload } from '../../src/sim/models/presets.ts';

const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
const seeds = Array.from({ length: Number(process.argv[2] ?? 3) }, (_, index) => index + 1);
const steps = 20;
const switchesOf = (id: string): RollpackerSwitches => variants.find((one) => one.id === id)!.switches;
const on = switchesOf('stream-training');
const judged: Job = { ...preset, rewards: { ...preset.rewards!, shares: { rule: 0, sandbox: 0, judge: 1 } } };
const beside = withJudge(judged, 'colocated', capTokens);

const settings: readonly (readonly [name: string, job: Job, switches: RollpackerSwitches])[] = [
  ['synchronous, loaded after the rollout', beside, switchesOf('baseline')],
  ['RollPacker, loaded after the rollout', beside, { ...on, judgeOffload: false }],
  ['RollPacker, on a quarter of the GPUs', withJudge(judged, 'dedicated', capTokens), on],
  [
    'RollPacker, beside the actor without MPS',
    withJudge(judged, 'colocated', capTokens, { withoutOffload: 'resident' }),
    { ...on, judgeOffload: false },
  ],
  ['RollPacker, beside the actor, not pipelined', withJudge(judged, 'colocated', capTokens, { pipelined: false }), on],
  ['RollPacker, beside the actor', beside, on],
];

const runs = settings.map(([name, job, switches]) => {
  const results = seeds.map((seed) =>
    simulate(job, rollpackerScheduler(job, 'x', switches), rollpackerWorkload(capTokens, seed), {
      prompts: steps * job.promptsPerRound,
      seed,
      timeline: false,
    }),
  );
  return { name, results };
});
const mean = (results: readonly RunResult[], kind: 'short' | 'long', part: 'step' | 'rollout' | 'reward'): number => {
  const chosen = results.flatMap((one) => one.steps.filter((step) => step.kind === kind));
  const seconds = chosen.reduce((sum, step) => {
    if (part === 'step') return sum + step.endSeconds - step.startSeconds;
    return sum + (part === 'rollout' ? step.rolloutSeconds : step.rewardSeconds);
  }, 0);
  return seconds / chosen.length;
};
const cell = (value: number): string => (Number.isNaN(value) ? '' : value.toFixed(1));
const columns = ['step', 'rollout', 'reward'] as const;
const places = new Table({
  head: ['judge', 'total, s', ...columns.map((one) => `short: ${one}`), ...columns.map((one) => `long: ${one}`)],
});
for (const { name, results } of runs) {
  const total = results.reduce((sum, one) => sum + one.totalSeconds, 0) / results.length;
  const parts = (['short', 'long'] as const).flatMap((kind) => columns.map((part) => cell(mean(results, kind, part))));
  places.push([name, total.toFixed(0), ...parts]);
}
console.log(places.toString());

const of = (name: string) => runs.find((one) => one.name === name)!.results;
const [without, withMps] = [of('RollPacker, beside the actor without MPS'), of('RollPacker, beside the actor')];
for (const kind of ['short', 'long'] as const) {
  const ratio = mean(without, kind, 'step') / mean(withMps, kind, 'step');
  console.log(`Figure 14a, ${kind} steps without MPS / with it: ${ratio.toFixed(2)} (paper: up to 1.25)`);
}

const passes = new Table({ head: ['Figure 14b: tokens', '16 GB', 'resident', '12 GB', 'resident'] });
for (const tokens of [1024, 2048, 4096, 8192, 16_384, 32_768]) {
  const cells = [16e9, 12e9].flatMap((memoryBytes) => {
    const { sequentialSeconds, pipelinedSeconds, residentLayers } = runPlanner(judgeOffload, {
      ...judge7b(tokens),
      memoryBytes,
    });
    return [(sequentialSeconds / pipelinedSeconds).toFixed(2), `${residentLayers} of 28`];
  });
  passes.push([tokens, ...cells]);
}
console.log(passes.toString());
console.log('sequential / pipelined seconds of a pass by the memory that the actor leaves (paper: up to 1.4 at 32k)');
