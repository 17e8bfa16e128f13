/**
 * Shows what the lossless tail is worth, against the synchronous baseline, tail batching (both factors 1.25) and the oracle schedule:
 * traces whose prompts come back, for 85 rounds; then, with each recorded response drawn once, as many epochs as there are responses
 * for; then ServeGen, which has no prompts, over assumed correlations. Seconds for a prompt are those from the first window on that
 * begins in the second epoch; the oracle, whose windows are others, has the share of the baseline's time that it takes in all. Prints the tables of docs/simulator.md.
 * `npx tsx bench/simulated/lossless-tail.ts [seeds] [part] [trace...]`, by default 5, every part, and the traces that are shipped.
 */
import type { Job } from '../../src/sim/colocated/job.ts';
import {
  losslessTailScheduler,
  synchronousBaseline,
  tailBatchingScheduler,
} from '../../src/sim/colocated/scheduler.ts';
import { compare } from '../../src/sim/comparison/compare.ts';
import type { SchedulerResult } from '../../src/sim/comparison/result.ts';
import { inEpochs } from '../../src/sim/workload/epochs.ts';
import { type Resampling, tracedWorkload } from '../../src/sim/workload/traced.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import { heldOut, secondsPerPrompt, serveGenOf, shapeOf, tracesOf } from './returning-prompts.ts';

const rounds = 85;
const windowRounds = 10;
const [seedCount = '5', chosen = 'all', ...given] = process.argv.slice(2);
const seeds = Array.from({ length: Number(seedCount) }, (_, index) => index + 1);
const traces = tracesOf(given);

const head = [
  ...[
    'lengths',
    'ρ',
    'P0 × R0',
    'epochs',
    'synchronous',
    'tail batching',
    'its kept tokens',
    'lossless tail',
    'oracle',
  ],
  ...['of the oracle', 'before', 'in all'],
];

function row(name: string, job: Job, steps: number, dataSet: number, workload: (seed: number) => Workload): void {
  const options = { job, workload, steps, seeds, baseline: synchronousBaseline(job), timeline: false };
  const schedulers = [tailBatchingScheduler(job), losslessTailScheduler(job, { windowRounds })];
  const result = compare({ ...options, schedulers });
  const [synchronous, tail, lossless] = result.schedulers as [SchedulerResult, SchedulerResult, SchedulerResult];
  if (Math.abs(lossless.keptTokenRatio - 1) > 1e-12) throw new Error(`kept tokens ${lossless.keptTokenRatio}`);
  const { promptsPerRound: prompts, responsesPerPrompt: responses } = job;
  // At the end of an epoch, the same prompts have been trained as by the baseline; a round that has prompts of both is of the second.
  const ends = (epochs: number): number => Math.floor((epochs * dataSet) / prompts) * prompts;
  const from = ends(1);
  const to = ends(Math.floor(((steps + 1) * prompts) / dataSet));
  const later = (one: SchedulerResult): number => secondsPerPrompt(one, from, to);
  const change = (until?: number): string => {
    const more = secondsPerPrompt(lossless, 0, until) / secondsPerPrompt(synchronous, 0, until) - 1;
    return `${more > 0 ? '+' : '−'} ${Math.abs(100 * more).toFixed(1)} %`;
  };
  const oracle = (later(synchronous) * secondsPerPrompt(result.oracle!, 0)) / secondsPerPrompt(synchronous, 0);
  const seconds = [later(synchronous), later(tail), later(lossless), oracle].map((one) => one.toFixed(3));
  const cells = [
    ...[
      name,
      result.workload.correlation.toFixed(2),
      `${prompts} × ${responses}`,
      ((steps * prompts) / dataSet).toFixed(1),
    ],
    ...[...seconds.slice(0, 2), tail.keptTokenRatio.toFixed(2), ...seconds.slice(2)],
    ...[`${((100 * oracle) / later(lossless)).toFixed(0)} %`, change(from), change()],
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

const begin = (title: string): void => {
  console.log(`\n${title}\n`);
  for (const cells of [head, head.map(() => '---')]) console.log(`| ${cells.join(' | ')} |`);
};

function resampled(resampling: Resampling): void {
  begin(`${rounds} rounds, ${seeds.length} seeds, ${resampling}`);
  for (const trace of traces) {
    const { job, capTokens } = shapeOf(trace, 8);
    const { name, prompts } = trace;
    row(name, job, rounds, prompts.length, (seed) =>
      inEpochs(tracedWorkload({ name, prompts, resampling, capTokens, seed }), prompts.length, seed),
    );
  }
}

function once(): void {
  begin(`each recorded response once, ${seeds.length} seeds`);
  for (const trace of traces) {
    const held = heldOut(trace);
    if (held === undefined) continue;
    row(trace.name, held.job, held.steps, trace.prompts.length, held.workload);
  }
}

function serveGen(): void {
  const { job, dataSet, workload } = serveGenOf();
  begin(`ServeGen DeepSeek-R1, assumed correlations, ${rounds} rounds, ${seeds.length} seeds`);
  for (const correlation of [0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]) {
    row('ServeGen R1', job, rounds, dataSet, (seed) => workload(correlation, seed));
  }
}

const parts: Readonly<Record<string, () => void>> = {
  'within-prompt': () => resampled('within-prompt'),
  copula: () => resampled('copula'),
  once,
  servegen: serveGen,
};
if (chosen !== 'all' && !(chosen in parts))
  throw new Error(`expected all, ${Object.keys(parts).join(', ')}: ${chosen}`);
for (const [name, run] of Object.entries(parts)) if (chosen === 'all' || chosen === name) run();
