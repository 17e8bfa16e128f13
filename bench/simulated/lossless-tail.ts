/**
 * Shows what the lossless tail is worth, against the synchronous baseline, tail batching (both factors 1.25) and the oracle schedule:
 * traces whose prompts come back, for 85 rounds; then, with each recorded response drawn once, as many epochs as there are responses
 * for; then ServeGen, which has no prompts, over assumed correlations. Seconds for a prompt are those from the first window on that
 * begins in the second epoch; the oracle, whose windows are others, has the share of the baseline's time that it takes in all. Prints the tables of docs/simulator.md.
 * `npx tsx bench/simulated/lossless-tail.ts [seeds] [part] [trace...]`, by default 5, every part, and the traces that are shipped.
 */
import { basename } from 'node:path';
import { readTraceFile } from '../../src/cli/files.ts';
import type { Job } from '../../src/sim/colocated/job.ts';
import {
  losslessTailScheduler,
  synchronousBaseline,
  tailBatchingScheduler,
} from '../../src/sim/colocated/scheduler.ts';
import { compare } from '../../src/sim/compare.ts';
import { type JobPresetId, jobPreset } from '../../src/sim/presets.ts';
import type { SchedulerResult } from '../../src/sim/result.ts';
import type { TracePrompt } from '../../src/sim/trace/format.ts';
import { inEpochs } from '../../src/sim/workload/epochs.ts';
import { marginalWorkload, pooledQuantile } from '../../src/sim/workload/marginal.ts';
import { type Resampling, tracedWorkload } from '../../src/sim/workload/traced.ts';
import { capped, type Workload } from '../../src/sim/workload/workload.ts';

const rounds = 85;
const windowRounds = 10;
const shipped = ['castillo-qwen2.5-7b-instruct-1m', 'castillo-qwen2.5-32b-instruct'];
const [seedCount = '5', chosen = 'all', ...given] = process.argv.slice(2);
const seeds = Array.from({ length: Number(seedCount) }, (_, index) => index + 1);
const paths = given.length > 0 ? given : shipped.map((name) => `examples/traces/${name}.jsonl`);

/** A preset without reward workers; its engines are as many as the smaller batch needs. */
function jobOf(id: JobPresetId, promptsPerRound: number, responsesPerPrompt: number): { job: Job; capTokens: number } {
  const { job, capTokens } = jobPreset(id);
  const { hardware: _, rewards: _rewards, ...plain } = job;
  const share = (promptsPerRound * responsesPerPrompt) / (job.promptsPerRound * job.responsesPerPrompt);
  const engines = Math.max(1, Math.round(job.engines * share));
  return { job: { ...plain, promptsPerRound, responsesPerPrompt, engines }, capTokens };
}

/** Seconds for each prompt that is trained after the first `from`, and before `to`. */
function secondsPerPrompt({ runs }: SchedulerResult, from: number, to = Number.POSITIVE_INFINITY): number {
  let [seconds, prompts] = [0, 0];
  for (const { steps } of runs) {
    let trained = 0;
    for (const step of steps) {
      if (trained >= from && trained < to) {
        seconds += step.endSeconds - step.startSeconds;
        prompts += step.prompts;
      }
      trained += step.prompts;
    }
  }
  return seconds / prompts;
}

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

interface Trace {
  readonly name: string;
  readonly prompts: readonly TracePrompt[];
}
const traces = paths.map((path): Trace => {
  const { trace } = readTraceFile(path);
  if (trace.kind !== 'prompts') throw new Error(`${path}: expected a trace of prompts`);
  return { name: basename(path, '.jsonl'), prompts: trace.prompts };
});

/** The preset for the longest response, and a batch of which the data set has many. */
function shapeOf({ prompts }: Trace, responsesPerPrompt: number): { job: Job; capTokens: number } {
  const longest = Math.max(...prompts.flatMap(({ responses }) => responses.map(({ tokens }) => tokens)));
  const id = longest > 16_384 ? 'qwen2.5-32b-32k' : 'qwen2.5-14b-16k';
  return jobOf(id, prompts.length > 2000 ? 128 : 16, responsesPerPrompt);
}

/** Every recorded response is drawn at most once: each epoch has responses of its own. */
function heldOut({ name, prompts }: Trace, responses: number, capTokens: number, seed: number): Workload {
  const order = tracedWorkload({ name, prompts, capTokens, seed });
  const byId = new Map(prompts.map((one) => [one.prompt, one.responses]));
  return {
    ...order,
    prompt: (index) => {
      const epoch = Math.floor(index / prompts.length);
      const one = order.prompt(index);
      const id = one.firstId ?? one.promptId;
      const sample = (k: number) => {
        const recorded = byId.get(id)!;
        // Only tail batching draws more than its epoch has.
        return capped(recorded[(epoch * responses + k) % recorded.length]!.tokens, capTokens);
      };
      return { ...one, ...(epoch === 0 ? {} : { comesBack: id }), sample };
    },
  };
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
    // Two epochs at least.
    const least = Math.min(...trace.prompts.map(({ responses }) => responses.length));
    const responses = Math.max(1, Math.floor(least / 2));
    const epochs = Math.floor(least / responses);
    if (epochs < 2) continue;
    const { job, capTokens } = shapeOf(trace, responses);
    const dataSet = trace.prompts.length;
    const steps = Math.floor((epochs * dataSet) / job.promptsPerRound);
    row(trace.name, job, steps, dataSet, (seed) => heldOut(trace, responses, capTokens, seed));
  }
}

function serveGen(): void {
  const { trace } = readTraceFile('examples/traces/servegen-deepseek-r1.jsonl');
  if (trace.kind !== 'quantiles') throw new Error('expected quantiles');
  const { job, capTokens } = jobOf('qwen2.5-14b-16k', 128, 8);
  const lengths = {
    name: 'ServeGen R1',
    responseTokens: pooledQuantile(trace.rows, 'outputTokens'),
    promptTokens: pooledQuantile(trace.rows, 'inputTokens'),
    capTokens,
  };
  const dataSet = 25 * job.promptsPerRound;
  begin(`ServeGen DeepSeek-R1, assumed correlations, ${rounds} rounds, ${seeds.length} seeds`);
  for (const correlation of [0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]) {
    row('ServeGen R1', job, rounds, dataSet, (seed) =>
      inEpochs(marginalWorkload({ ...lengths, correlation, seed }), dataSet, seed),
    );
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
