/**
 * Shows the simulator of VLM steps, against the figures of FlexRL: attention and all-to-all (Tables 3 and 5), steps by
 * stage (Table 2), and the ratios of Figures 5 to 7. docs/calibration.md says what was fitted, and what does not fit.
 */
import { pathToFileURL } from 'node:url';
import Table from 'cli-table3';
import { bundledVisionSources } from '../../src/cli/files/traces.ts';
import { compareVlm } from '../../src/sim/vlm-formulas/compare.ts';
import type { VlmGpuId } from '../../src/sim/vlm-formulas/models.ts';
import type { VlmComparison } from '../../src/sim/vlm-formulas/result.ts';
import {
  fixedUlysses,
  flexrlScheduler,
  type VlmScheduler,
  verlBucketing,
  vlmSchedulers,
} from '../../src/sim/vlm-formulas/scheduler.ts';
import { defineVlmJob } from '../../src/sim/vlm-formulas/settings.ts';
import { allToAllSeconds, attentionSeconds } from '../../src/sim/vlm-formulas/timing.ts';
import { mixtureWorkload } from '../../src/sim/vlm-formulas/workload/mixtures.ts';
import { type StepRow, table2, table3, table5 } from './flexrl-tables.ts';

const steps = 6;
const sources = bundledVisionSources();
/** Rows that constants were fitted to; the others are predicted. */
export const fittedRows = ['CR-05', 'CR-06', 'CR-12', 'CR-13'];

type Setting = Pick<StepRow, 'model' | 'gpus' | 'mixture' | 'sequences' | 'frames'>;

function simulated(setting: Setting, schedulers: readonly VlmScheduler[]): VlmComparison {
  const { model, gpus, mixture, sequences, frames } = setting;
  const job = defineVlmJob({ model, gpus, batchSequences: sequences });
  const workload = mixtureWorkload(mixture, { sources, maxFrames: frames, capTokens: 1024, seed: 1 });
  return compareVlm({ job, workload, steps, schedulers });
}

const schedulers = { flexrl: flexrlScheduler, 'ulysses-4': fixedUlysses(4), 'verl-bucketing': verlBucketing };

/** Columns of Table 2 that are simulated. */
export const columns = ['tokens', 'load', 'rollout', 'old', 'reference', 'update', 'step'] as const;
/** A number for each column. */
export type Columns = Readonly<Record<(typeof columns)[number], number>>;

/** A row of Table 2 beside ours. */
export function stepOf(row: StepRow): { readonly paper: Columns; readonly ours: Columns } {
  const { workload, schedulers: results } = simulated(row, [schedulers[row.scheduler]]);
  const one = results[0]!;
  return {
    // Tokens of a sequence: what a throughput is of.
    paper: { ...row, tokens: (row.throughput * row.step * row.gpus) / row.sequences },
    ours: {
      tokens: workload.meanTokens,
      load: one.loadSeconds,
      rollout: one.rolloutSeconds,
      old: one.oldSeconds,
      reference: one.referenceSeconds,
      update: one.updateSeconds,
      step: one.gpuSeconds,
    },
  };
}

/** Every row of Table 2, and how far off each column is, relative. */
export function stepErrors(): { readonly row: StepRow; readonly errors: Columns }[] {
  return table2.map((row) => {
    const { paper, ours } = stepOf(row);
    const errors = Object.fromEntries(columns.map((name) => [name, ours[name] / paper[name] - 1]));
    return { row, errors: errors as unknown as Columns };
  });
}

/** Mean of the absolute errors of a column. */
export function meanError(rows: ReturnType<typeof stepErrors>, column: keyof Columns): number {
  return rows.reduce((sum, { errors }) => sum + Math.abs(errors[column]), 0) / rows.length;
}

/** Relative errors of the attention law. */
export function attentionErrors(): number[] {
  const tokens = 65_536;
  return table3.map(([n, paper]) => (1e3 * attentionSeconds(64, tokens ** 2 / n, tokens)) / paper - 1);
}

/** Relative errors of the all-to-all law. */
export function allToAllErrors(gpu: VlmGpuId): number[] {
  return table5.map(([degree, tokens, h200, h800]) => {
    const paper = gpu === 'h200' ? h200 : h800;
    return (1e3 * allToAllSeconds(tokens, degree, { gpu })) / paper - 1;
  });
}

/** A ratio of a figure beside ours. */
export interface Ratio {
  readonly what: string;
  readonly paper: number;
  readonly ours: number;
}

function rowsOf(id: string, ...wanted: string[]): StepRow[] {
  return wanted.map((name) => table2.find((one) => one.id === id && one.scheduler === name)!);
}

/** Speedups without data loading that Figure 5 and the text print. */
export function figure5(): Ratio[] {
  return (['CR-13', 'CR-02', 'CR-12'] as const).map((id) => {
    const [ours, theirs] = rowsOf(id, 'flexrl', 'verl-bucketing') as [StepRow, StepRow];
    const { schedulers: results } = simulated(ours, [verlBucketing, flexrlScheduler]);
    const what = `Figure 5, ${ours.mixture}: FlexRL ÷ veRL bucketing`;
    return { what, paper: ours.throughput / theirs.throughput, ours: results[1]!.speedupWithoutLoading };
  });
}

const ablationSetting: Setting = {
  model: 'mimo-vl-7b',
  gpus: 128,
  mixture: 'image-heavy',
  sequences: 256,
  frames: 128,
};

/** Table 1 and Figure 6: steps with data loading; batch and frames are not printed, CR-13's are taken where no others are given. */
export function figure6(other: Partial<Setting> = {}): Ratio[] {
  const { schedulers: results } = simulated({ ...ablationSetting, ...other }, vlmSchedulers);
  const speedup = (id: string): number => results.find((one) => one.scheduler === id)!.speedup;
  return [
    { what: 'Table 1, + ShadowLoader', paper: 5.35, ours: speedup('verl-shadow') },
    { what: 'Table 1, + FlexUlysses', paper: 1.17, ours: speedup('verl-flex-ulysses') },
    { what: 'Table 1, both', paper: 7.66, ours: speedup('flexrl') },
  ];
}

/** Figure 7: balance and throughput of fixed degrees and FlexRL, all with ShadowLoader, 7B on 32 GPUs, image-heavy. */
export function figure7(): VlmComparison {
  return simulated({ ...ablationSetting, gpus: 32, sequences: 64 }, [
    verlBucketing,
    ...[2, 4, 8].map((degree) => fixedUlysses(degree, 'shadow-loader')),
    flexrlScheduler,
  ]);
}

const percent = (share: number): string => `${share > 0 ? '+' : ''}${(100 * share).toFixed(0)} %`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const rows = stepErrors();
  const table = new Table({ head: ['row', 'scheduler', 'frames', 'fitted', ...columns] });
  for (const { row, errors } of rows) {
    const fitted = fittedRows.includes(row.id) ? 'yes' : '';
    table.push([row.id, row.scheduler, row.frames, fitted, ...columns.map((name) => percent(errors[name]))]);
  }
  for (const [name, wanted] of [
    ['fitted', true],
    ['predicted', false],
  ] as const) {
    const some = rows.filter(({ row }) => fittedRows.includes(row.id) === wanted);
    table.push([name, 'mean', '', '', ...columns.map((column) => `${(100 * meanError(some, column)).toFixed(1)} %`)]);
  }
  console.log(table.toString());
  console.log('Table 3:', attentionErrors().map(percent).join(', '));
  for (const gpu of ['h200', 'h800'] as const) {
    const errors = allToAllErrors(gpu).map(Math.abs);
    const mean = errors.reduce((sum, one) => sum + one, 0) / errors.length;
    console.log(`Table 5, ${gpu}: mean ${(100 * mean).toFixed(1)} %, most ${(100 * Math.max(...errors)).toFixed(0)} %`);
  }
  for (const { what, paper, ours } of [...figure5(), ...figure6()]) {
    console.log(`${what}: ${paper.toFixed(2)} in the paper, ${ours.toFixed(2)} here, ${percent(ours / paper - 1)}`);
  }
  for (const one of figure7().schedulers) {
    console.log(`Figure 7, ${one.label}: balance ${one.balance.toFixed(2)}, ${one.throughput.toFixed(0)} tokens/s/GPU`);
  }
}
