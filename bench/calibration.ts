/**
 * Calibration against Figure 12 of RollPacker: rollout seconds a round, mean over full periods of short and long
 * rounds, with over-provisioning of responses or of prompts alone. Run: `npx tsx bench/calibration.ts [rounds] [seeds]`.
 */
import { pathToFileURL } from 'node:url';
import Table from 'cli-table3';
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

function main(): void {
  const rounds = Number(process.argv[2] ?? wholePeriods);
  const seeds = Array.from({ length: Number(process.argv[3] ?? 4) }, (_, index) => index + 1);
  const fits = bars.map((one) => fitBar(one, rounds, seeds));
  const table = new Table({ head: ['job', 'η_P', 'η_R', 'paper s', 'ours s', 'error %'], style: { head: [] } });
  for (const fit of fits) {
    const error = `${fit.error > 0 ? '+' : ''}${(100 * fit.error).toFixed(1)}`;
    table.push([
      fit.preset,
      fit.promptSpeculation,
      fit.responseSpeculation,
      fit.paperSeconds,
      fit.seconds.toFixed(1),
      error,
    ]);
  }
  const { mean, largest } = errorsOf(fits);
  process.stdout.write(`${table.toString()}\n`);
  process.stdout.write(`mean ${(100 * mean).toFixed(1)} %, largest ${(100 * largest).toFixed(1)} %\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
