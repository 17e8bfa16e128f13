/**
 * Calibration against Figure 12 of RollPacker: rollout seconds a round, mean over full periods of short and long
 * rounds, with over-provisioning of responses or of prompts alone. Run: `npx tsx bench/calibration.ts [rounds] [seeds]`.
 */
import { pathToFileURL } from 'node:url';
import Table from 'cli-table3';
import { compare } from '../src/sim/compare.ts';
import { simulate } from '../src/sim/host/driver.ts';
import { synchronousBaseline, tailBatchingScheduler } from '../src/sim/host/scheduler.ts';
import { type JobPresetId, jobPreset, rollpackerLengths, rollpackerWorkload } from '../src/sim/presets.ts';

/** A labelled bar of Figure 12. */
export interface Bar {
  readonly preset: JobPresetId;
  readonly promptSpeculation: number;
  readonly responseSpeculation: number;
  readonly paperSeconds: number;
}

const small = 'qwen2.5-7b-8k';
const middle = 'qwen2.5-14b-16k';
const large = 'qwen2.5-32b-32k';

const bar = (
  preset: JobPresetId,
  promptSpeculation: number,
  responseSpeculation: number,
  paperSeconds: number,
): Bar => ({ preset, promptSpeculation, responseSpeculation, paperSeconds });

/** The bars that were fitted. */
export const bars: readonly Bar[] = [
  bar(small, 1, 1, 82),
  bar(small, 1, 1.125, 77),
  bar(small, 1, 1.25, 71),
  bar(small, 1, 1.5, 54),
  bar(small, 1.125, 1, 77),
  bar(small, 1.25, 1, 72),
  bar(small, 1.5, 1, 60),
  bar(middle, 1, 1, 277),
  bar(middle, 1, 1.125, 260),
  bar(middle, 1, 1.25, 232),
  bar(middle, 1, 1.5, 115),
  bar(middle, 1.125, 1, 244),
  bar(middle, 1.25, 1, 169),
  bar(middle, 1.5, 1, 143),
  bar(large, 1, 1, 673),
];

/** A bar beside what the simulator gives. */
export interface Fit extends Bar {
  readonly seconds: number;
  /** (simulated − paper) ÷ paper. */
  readonly error: number;
}

/** Rounds after which 1, 1.125, 1.25 and 1.5 have all gone through whole periods of short and long rounds. */
export const wholePeriods = 45;

/** Simulates a bar: mean rollout seconds over `rounds` rounds for each seed. */
export function fitBar(one: Bar, rounds: number, seeds: readonly number[], lengths = rollpackerLengths): Fit {
  const { job, capTokens } = jobPreset(one.preset);
  const { promptSpeculation, responseSpeculation } = one;
  const isBaseline = promptSpeculation === 1 && responseSpeculation === 1;
  const scheduler = isBaseline
    ? synchronousBaseline(job)
    : tailBatchingScheduler(job, { promptSpeculation, responseSpeculation });
  const prompts = rounds * job.promptsPerRound;
  let total = 0;
  let steps = 0;
  for (const seed of seeds) {
    const workload = rollpackerWorkload(capTokens, seed, lengths);
    const run = simulate(job, scheduler, workload, { prompts, seed, timeline: false });
    total += run.rolloutSeconds;
    steps += run.steps.length;
  }
  const seconds = total / steps;
  return { ...one, seconds, error: seconds / one.paperSeconds - 1 };
}

/** Mean and largest absolute error. */
export function errorsOf(fits: readonly Fit[]): { mean: number; largest: number } {
  const sizes = fits.map((fit) => Math.abs(fit.error));
  return { mean: sizes.reduce((sum, one) => sum + one, 0) / sizes.length, largest: Math.max(...sizes) };
}

/** A claim of the paper that was not fitted, or only with constants around the rollout. */
const claims: readonly { readonly preset: JobPresetId; readonly speedup: number; readonly rollout?: number }[] = [
  { preset: small, speedup: 1.3 },
  { preset: middle, speedup: 1.48 },
  { preset: large, speedup: 2.21, rollout: 3.9 },
];

const percent = (error: number): string => `${error > 0 ? '+' : ''}${(100 * error).toFixed(1)}`;
const tableOf = (head: string[], rows: (string | number)[][]): string => {
  const table = new Table({ head, style: { head: [], border: [] } });
  table.push(...rows);
  return `${table.toString()}\n`;
};

function main(): void {
  const rounds = Number(process.argv[2] ?? wholePeriods);
  const seeds = Array.from({ length: Number(process.argv[3] ?? 16) }, (_, index) => index + 1);
  const fits = bars.map((one) => fitBar(one, rounds, seeds));
  const { mean, largest } = errorsOf(fits);
  process.stdout.write('Rollout seconds a round (RollPacker Figure 12)\n');
  process.stdout.write(
    tableOf(
      ['job', 'η_P', 'η_R', 'paper s', 'ours s', 'error %'],
      fits.map((fit) => [
        fit.preset,
        fit.promptSpeculation,
        fit.responseSpeculation,
        fit.paperSeconds,
        fit.seconds.toFixed(1),
        percent(fit.error),
      ]),
    ),
  );
  process.stdout.write(`mean ${(100 * mean).toFixed(1)} %, largest ${(100 * largest).toFixed(1)} %\n\n`);
  process.stdout.write('Tail batching, both factors 1.25 (RollPacker Table 2 and §6.3)\n');
  const rows = claims.map((claim) => {
    const { job, capTokens } = jobPreset(claim.preset);
    const workload = (seed: number) => rollpackerWorkload(capTokens, seed);
    const tail = compare({ job, workload, steps: 20, seeds, timeline: false }).schedulers[1]!;
    return [
      claim.preset,
      claim.speedup,
      tail.speedup.value.toFixed(2),
      claim.rollout ?? '',
      tail.rolloutSpeedup.value.toFixed(2),
      tail.keptTokenRatio.toFixed(2),
    ];
  });
  process.stdout.write(
    tableOf(['job', 'paper step ×', 'ours step ×', 'paper rollout ×', 'ours rollout ×', 'kept tokens'], rows),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
