/**
 * Does advice hold on prompts that it has not seen? Every workload is split by prompt into halves (a hash of the prompt's
 * id); what `sweep` recommends on one half is simulated on the other, beside the papers' fixed settings, on the same seeds.
 * A line says `holds` where the lower end of the paired 95 % interval of the gain over each of them is −1 % or more. Run:
 *
 *     npx tsx bench/advice.ts [--workload castillo-7b,…] [--effort fast] [--direction 0|1] [--seeds 12] [--steps 10]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot, readTraceFile } from '../src/cli/files.ts';
import { withRealCode } from '../src/cli/simulate.ts';
import {
  definePoolsSettings,
  defineSynchronousSettings,
  jobPreset,
  marginalWorkload,
  type PoolsTaskId,
  pooledQuantile,
  rolloutpipeJob,
  rolloutpipeWorkload,
  type SweepEffortId,
  type SweepProblem,
  type SweepSettings,
  sweep,
  sweepEvaluator,
  tracedWorkload,
  type Workload,
} from '../src/sim/index.ts';
import { gainInterval, keptRatio, type Measured } from '../src/sim/sweep/book.ts';
import { halfOf, halfOfWorkload, halvesOf } from '../src/sim/sweep/halves.ts';
import { labelOf } from '../src/sim/sweep/settings.ts';

const { values } = parseArgs({
  options: {
    workload: { type: 'string' },
    effort: { type: 'string', default: 'default' },
    direction: { type: 'string' },
    seeds: { type: 'string', default: '12' },
    steps: { type: 'string' },
  },
});

type Half = 0 | 1;
type Halved = (half: Half) => (seed: number) => Workload;

/** A bundled trace: single responses by prompt; of quantiles the prompts that are drawn, or the clients. */
function traced(file: string, capTokens: number, byClient = false): Halved {
  const { name, trace } = readTraceFile(join(packageRoot(), 'examples', 'traces', `${file}.jsonl`));
  if (trace.kind === 'prompts') {
    const halves = halvesOf(trace.prompts, ({ prompt }) => prompt);
    return (half) => (seed) => tracedWorkload({ name, prompts: halves[half], resampling: 'copula', capTokens, seed });
  }
  const quantiles = (half: Half) => {
    const rows = byClient ? trace.rows.filter((_, index) => halfOf(`client ${index}`) === half) : trace.rows;
    return {
      responseTokens: pooledQuantile(rows, 'outputTokens'),
      promptTokens: pooledQuantile(rows, 'inputTokens'),
    };
  };
  const both = [quantiles(0), quantiles(1)] as const;
  return (half) => (seed) => {
    const whole = marginalWorkload({ name, ...both[half], correlation: 0.3, capTokens, seed });
    return byClient ? whole : halfOfWorkload(whole, half);
  };
}

const tasked =
  (task: PoolsTaskId): Halved =>
  (half) =>
  (seed) =>
    halfOfWorkload(rolloutpipeWorkload(task, seed), half);

const synchronous =
  (preset: string, file: string, byClient = false) =>
  (half: Half): SweepProblem => {
    const { job, capTokens } = jobPreset(preset);
    const workload = traced(file, capTokens, byClient)(half);
    return { kind: 'synchronous', job: withRealCode(job), workload, steps: Number(values.steps ?? 10) };
  };
const pools =
  (halved: Halved) =>
  (half: Half): SweepProblem => {
    return { kind: 'pools', job: rolloutpipeJob(), workload: halved(half), steps: Number(values.steps ?? 12) };
  };

const castillo7 = 'castillo-qwen2.5-7b-instruct-1m';
const castillo32 = 'castillo-qwen2.5-32b-instruct';
const servegen = 'servegen-deepseek-r1';
const workloads: Readonly<Record<string, (half: Half) => SweepProblem>> = {
  'castillo-7b': synchronous('qwen2.5-14b-16k', castillo7),
  'castillo-32b': synchronous('qwen2.5-32b-32k', castillo32),
  servegen: synchronous('qwen2.5-14b-16k', servegen),
  'servegen-by-client': synchronous('qwen2.5-14b-16k', servegen, true),
  'pools-castillo-7b': pools(traced(castillo7, 16_384)),
  'pools-castillo-32b': pools(traced(castillo32, 16_384)),
  'pools-servegen': pools(traced(servegen, 16_384)),
  'pools-lsat-ar': pools(tasked('lsat-ar')),
};

/** What the papers fix: RollPacker's factors with each of its thresholds; RolloutPipe's F_w as it reproduces, and as it is printed. */
const fixedOf = (kind: SweepProblem['kind']): SweepSettings[] =>
  kind === 'pools'
    ? [definePoolsSettings({ width: 14 }), definePoolsSettings({ width: 2 })]
    : (['adaptive', 0.2, 0.3, 0.4] as const).map((threshold) => defineSynchronousSettings({ threshold }));

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
const firstSeed = 1_000_001;
let broken = 0;

function judge(name: string, half: Half): void {
  const problemOf = workloads[name];
  if (problemOf === undefined) throw new Error(`no workload ${name}: ${Object.keys(workloads).join(', ')}`);
  const begun = performance.now();
  const advice = sweep(problemOf(half), { effort: values.effort as SweepEffortId });
  const seconds = (performance.now() - begun) / 1000;
  const { settings } = advice.recommended;
  const other = problemOf((1 - half) as Half);
  const evaluate = sweepEvaluator(other);
  const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => firstSeed + index);
  const runsOf = (one: SweepSettings | 'baseline') =>
    seeds.map((seed) => evaluate({ settings: one, seed }) as Measured);
  const ours = runsOf(settings);
  const baseline = runsOf('baseline');
  const against = (theirs: readonly Measured[]) => ours.map((one, index) => ({ one, other: theirs[index]! }));
  const label = settings === 'baseline' ? 'baseline' : labelOf(settings);
  const kept = keptRatio(against(baseline));
  console.log(`${name}, half ${half} → ${1 - half}: ${advice.verdict}, ${label} (${seconds.toFixed(0)} s)`);
  const overBaseline = gainInterval(against(baseline));
  console.log(`  less than the baseline: ${percent(overBaseline.value)}, kept tokens ${kept.toFixed(3)} of its`);
  for (const fixed of fixedOf(other.kind)) {
    const theirs = runsOf(fixed);
    const { value, low, high } = gainInterval(against(theirs));
    const holds = low >= -0.01;
    if (!holds) broken += 1;
    const theirKept = kept / keptRatio(against(theirs));
    console.log(
      `  ${labelOf(fixed).padEnd(44)} gain ${percent(value).padStart(6)} (${percent(low)} to ${percent(high)}), ` +
        `kept ${kept.toFixed(3)} / ${theirKept.toFixed(3)}  ${holds ? 'holds' : 'DOES NOT HOLD'}`,
    );
  }
}

for (const name of values.workload?.split(',') ?? Object.keys(workloads)) {
  for (const half of values.direction === undefined ? ([0, 1] as const) : [Number(values.direction) as Half]) {
    judge(name, half);
  }
}
console.log(broken === 0 ? 'all hold' : `${broken} do not hold`);
process.exitCode = broken === 0 ? 0 : 1;
