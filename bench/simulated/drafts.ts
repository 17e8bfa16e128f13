/**
 * Shows what the planner draft-budget is worth in the simulator, against no drafts and drafts of 2, 4 and 8 tokens: on single engines
 * over a grid of batches, acceptance, hardware and beliefs that are wrong (`grid`); on jobs with the traces that are shipped, for the
 * synchronous baseline, tail batching and the lossless tail (`tail`), and on an H20 (`h20`); with a budget for each sequence (`classes`); and the model
 * against published points (`points`). Prints the tables of src/planners/draft-budget/README.md.
 * `npx tsx bench/simulated/drafts.ts [seeds] [part] [job]`, by default 5, every part, and jobs by a part of their name.
 */
import { readTraceFile } from '../../src/cli/files/traces.ts';
import { draftBudget, runPlanner } from '../../src/index.ts';
import type { Job } from '../../src/sim/colocated/job.ts';
import {
  losslessTailScheduler,
  synchronousBaseline,
  tailBatchingScheduler,
} from '../../src/sim/colocated/scheduler.ts';
import { compare } from '../../src/sim/comparison/compare.ts';
import { DecodeEngine } from '../../src/sim/engine/decode-engine.ts';
import { type CostModel, deriveCostModel } from '../../src/sim/models/cost-model.ts';
import { eagleDrafts, expectedTokens } from '../../src/sim/models/draft-settings.ts';
import { jobPreset, jobPresetIds, rollpackerWorkload } from '../../src/sim/models/presets.ts';
import { inEpochs } from '../../src/sim/workload/epochs.ts';
import { marginalWorkload, pooledQuantile } from '../../src/sim/workload/marginal.ts';
import { tracedWorkload } from '../../src/sim/workload/traced.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';

const [seedCount = '5', chosen = 'all', only = ''] = process.argv.slice(2);
const seeds = Array.from({ length: Number(seedCount) }, (_, index) => index + 1);
type Drafts = NonNullable<CostModel['drafts']>;

/**
 * EAGLE on Llama-3.1-8B, one request on an H100 (vllm-project/vllm, pull request 16937): 133 tokens a second without, 201.69, 198 and
 * 169.92 with 2, 4 and 7 drafted tokens. Three numbers give acceptance, and the seconds of a pass and of a step.
 */
const published = { plain: 133, 2: 201.69, 4: 198, 7: 169.92 };

function fitted(): { acceptance: number; passShare: number; stepShare: number } {
  const secondsAt = (acceptance: number, tokens: 2 | 4 | 7) => expectedTokens(acceptance, tokens) / published[tokens];
  let [low, high] = [0.3, 0.62];
  for (let round = 0; round < 60; round += 1) {
    const acceptance = (low + high) / 2;
    const early = (secondsAt(acceptance, 4) - secondsAt(acceptance, 2)) / 2;
    const late = (secondsAt(acceptance, 7) - secondsAt(acceptance, 4)) / 3;
    if (early < late) low = acceptance;
    else high = acceptance;
  }
  const pass = (secondsAt(low, 7) - secondsAt(low, 2)) / 5;
  const step = 1 / published.plain;
  return { acceptance: low, passShare: pass / step, stepShare: (secondsAt(low, 2) - 2 * pass) / step - 1 };
}
const eagle = fitted();

/** The drafts of the cost model, which are rounded from that fit. */
function withDrafts(cost: CostModel, given: { acceptance: number } & Partial<Drafts>): CostModel {
  return { ...cost, drafts: eagleDrafts(cost, given) };
}
const drafter = (cost: CostModel) => {
  const { passSeconds, stepSeconds } = eagleDrafts(cost, { acceptance: 0 });
  return { passSeconds, stepSeconds };
};

const h20 = { memoryGb: 96, bandwidthGbps: 4000, tflops: 148 };
const qwen7b = { billionParameters: 7.6, layers: 28, kvHeads: 4, headDimension: 128 };
const onH20 = deriveCostModel({ ...qwen7b, tensorParallel: 1, hostSeconds: 1.96e-3, gpu: h20 });
const costs: readonly (readonly [string, CostModel])[] = [
  ...jobPresetIds.map((id) => [id, jobPreset(id).job.cost] as const),
  ['qwen2.5-7b on H20', onH20],
];

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
const percent = (ratio: number): string =>
  Math.abs(ratio - 1) < 0.0005 ? '0.0 %' : `${ratio > 1 ? '+' : '−'} ${Math.abs(100 * (ratio - 1)).toFixed(1)} %`;
const line = (cells: readonly (string | number)[]): void => console.log(`| ${cells.join(' | ')} |`);
function begin(title: string, head: readonly string[]): void {
  console.log(`\n${title}\n`);
  line(head);
  line(head.map(() => '---'));
}

/** Seconds of an engine for each of several rollouts, one after the other: what it learns of acceptance stays. */
function rolloutSeconds(cost: CostModel, rollouts: readonly (readonly number[])[]): number[] {
  const engine = new DecodeEngine('e', cost);
  let now = 0;
  return rollouts.map((lengths, round) => {
    const start = now;
    for (const [index, responseTokens] of lengths.entries()) {
      engine.add({ requestId: `${round}/${index}`, promptTokens: 200, responseTokens }, start);
    }
    for (let at = engine.nextEventAt(); at < Number.POSITIVE_INFINITY; at = engine.nextEventAt()) {
      engine.advanceTo(at);
      now = at;
    }
    return now - start;
  });
}

const batches = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const acceptances = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.58, 0.7, 0.8, 0.9];
const beliefs = [0, 0.25, 0.5, 0.75, 0.95];
const rounds = 10;

function grid(): void {
  const title = `single engines, ${rounds} rollouts in a row, ${seeds.length} seeds: time against no drafts`;
  const fixed = [2, 4, 8].flatMap((tokens) => [`k = ${tokens}, worst`, `k = ${tokens}, best`]);
  begin(title, ['engine', 'cells', 'planned, worst', 'planned, best', 'its first rollout, worst', ...fixed]);
  for (const [name, cost] of costs) {
    const planned: number[] = [];
    const first: number[] = [];
    const ratios: Record<number, number[]> = { 2: [], 4: [], 8: [] };
    let what = '';
    for (const seed of seeds) {
      const workload = rollpackerWorkload(8192, seed);
      for (const size of batches) {
        const rollouts = Array.from({ length: rounds }, (_, round) =>
          Array.from({ length: size }, (_, index) => workload.prompt(round * size + index).sample(0).tokens),
        );
        const seconds = (drafts?: { acceptance: number } & Partial<Drafts>) =>
          rolloutSeconds(drafts === undefined ? cost : withDrafts(cost, drafts), rollouts);
        const none = seconds();
        for (const acceptance of acceptances) {
          for (const tokens of [2, 4, 8]) ratios[tokens]!.push(sum(seconds({ tokens, acceptance })) / sum(none));
          for (const belief of beliefs) {
            const believed = { acceptance: belief, tokens: 20 };
            const own = seconds({ tokens: 'planned', acceptance, believed });
            if (planned.every((one) => one < sum(own) / sum(none))) {
              what = `${size} sequences, acceptance ${acceptance}, believed ${belief}`;
            }
            planned.push(sum(own) / sum(none));
            first.push(own[0]! / none[0]!);
          }
        }
      }
    }
    const [worst, best] = [Math.max, Math.min].map((of) => (all: readonly number[]) => percent(of(...all)));
    const others = [2, 4, 8].flatMap((tokens) => [worst!(ratios[tokens]!), best!(ratios[tokens]!)]);
    line([name, planned.length, `${worst!(planned)} (${what})`, best!(planned), worst!(first), ...others]);
  }
}
interface Case {
  readonly name: string;
  readonly job: Job;
  readonly workload: (seed: number) => Workload;
}

/** A preset without reward workers; its engines are as many as the smaller batch needs. */
function jobOf(id: (typeof jobPresetIds)[number], promptsPerRound: number): { job: Job; capTokens: number } {
  const { job, capTokens } = jobPreset(id);
  const { hardware: _, rewards: _rewards, ...plain } = job;
  const engines = Math.max(1, Math.round((job.engines * promptsPerRound) / job.promptsPerRound));
  return { job: { ...plain, promptsPerRound, engines }, capTokens };
}

function traced(name: string, id: (typeof jobPresetIds)[number]): Case {
  const { trace } = readTraceFile(`examples/traces/${name}.jsonl`);
  if (trace.kind !== 'prompts') throw new Error('expected a trace of prompts');
  const { prompts } = trace;
  const { job, capTokens } = jobOf(id, prompts.length > 2000 ? 128 : 16);
  const draws = { name, prompts, resampling: 'copula', capTokens } as const;
  return { name, job, workload: (seed) => inEpochs(tracedWorkload({ ...draws, seed }), prompts.length, seed) };
}

function serveGen(correlation: number): Case {
  const { trace } = readTraceFile('examples/traces/servegen-deepseek-r1.jsonl');
  if (trace.kind !== 'quantiles') throw new Error('expected quantiles');
  const { job, capTokens } = jobOf('qwen2.5-14b-16k', 32);
  const name = `ServeGen R1, ρ ${correlation}`;
  const responseTokens = pooledQuantile(trace.rows, 'outputTokens');
  const promptTokens = pooledQuantile(trace.rows, 'inputTokens');
  const lengths = { name, responseTokens, promptTokens, capTokens, correlation };
  const dataSet = 10 * job.promptsPerRound;
  return { name, job, workload: (seed) => inEpochs(marginalWorkload({ ...lengths, seed }), dataSet, seed) };
}

/** 64 responses on each engine, whose compute is a sixth; training takes what the preset says. */
function onH20Job(): Case {
  const { job, capTokens } = jobOf('qwen2.5-7b-8k', 16);
  const name = 'RollPacker, 7B on H20';
  const { memoryBoundSeconds, computeSecondsPerSequence, secondsPerContextToken } = onH20;
  const { prefillSecondsPerToken, kvCapacityTokens } = onH20;
  const engine = { memoryBoundSeconds, computeSecondsPerSequence, secondsPerContextToken, prefillSecondsPerToken };
  const cost = { ...job.cost, ...engine, kvCapacityTokens };
  return { name, job: { ...job, cost }, workload: (seed) => rollpackerWorkload(capTokens, seed) };
}

const steps = 40;

function inJobs(cases: readonly Case[]): void {
  const title = `jobs, ${steps} steps, ${seeds.length} seeds: acceptance ${eagle.acceptance.toFixed(2)}: seconds a step without drafts, and what drafts change`;
  const head = ['lengths', 'scheduler', 'no drafts', 'k = 2', 'k = 4', 'k = 8', 'planned'];
  begin(title, [...head, 'rollout alone, planned']);
  for (const { name, job, workload } of cases.filter((one) => one.name.includes(only))) {
    const runsOf = (cost: CostModel) => {
      const own = { ...job, cost };
      const schedulers = [tailBatchingScheduler(own), losslessTailScheduler(own)];
      const baseline = synchronousBaseline(own);
      const given = { job: own, workload, steps, seeds, baseline, schedulers, timeline: false, oracle: false };
      return compare(given).schedulers.map(({ scheduler: id, runs }) => {
        const all = runs.flatMap((run) => run.steps);
        const prompts = sum(all.map((one) => one.prompts));
        const per = (seconds: number[]) => (sum(seconds) / prompts) * job.promptsPerRound;
        return {
          id,
          step: per(all.map((one) => one.endSeconds - one.startSeconds)),
          rollout: per(all.map((one) => one.rolloutSeconds)),
        };
      });
    };
    const none = runsOf(job.cost);
    const [two, four, eight, planned] = ([2, 4, 8, 'planned'] as const).map((tokens) =>
      runsOf(withDrafts(job.cost, { tokens, acceptance: eagle.acceptance })),
    );
    for (const [at, { id, step, rollout }] of none.entries()) {
      const changes = [two, four, eight, planned].map((runs) => percent(runs![at]!.step / step));
      line([name, id, step.toFixed(1), ...changes, percent(planned![at]!.rollout / rollout)]);
    }
  }
}

/** What a batch takes until its last response ends, if every sequence may have a budget of its own. */
function untilDone(cost: CostModel, lengths: readonly number[], acceptance: number, mode: string): number {
  const left = [...lengths];
  const { passSeconds, stepSeconds } = drafter(cost);
  const roofline = (tokens: number) =>
    Math.max(cost.memoryBoundSeconds, tokens * cost.computeSecondsPerSequence) +
    (cost.overheadSeconds + tokens * cost.secondsPerSequence);
  const knee = Math.floor(cost.memoryBoundSeconds / cost.computeSecondsPerSequence);
  const points = [1, knee, knee + 1, 9 * lengths.length].filter((one, at, all) => at === 0 || one > all[at - 1]!);
  let seconds = 0;
  while (left.length > 0) {
    const plan = runPlanner(draftBudget, {
      groups: left.map((tokens) => ({
        sequences: 1,
        remainingTokens: Math.ceil(tokens),
        ...(mode === 'by length' ? { weight: tokens } : {}),
      })),
      prior: { acceptance, tokens: 1 },
      passSeconds: points.map((tokens) => ({ tokens, seconds: roofline(tokens) })),
      drafter: { passSeconds, stepSeconds },
      maxDraftTokens: mode === 'none' ? 0 : 8,
      perSequence: mode !== 'one for all',
    });
    const gains = plan.groups.map(({ draftTokens, deeper }) => expectedTokens(acceptance, draftTokens + deeper));
    const soon = Math.min(16, ...left.map((tokens, at) => Math.max(1, Math.ceil(tokens / gains[at]! - 1e-9))));
    seconds += soon * plan.stepSeconds;
    for (const [at, gain] of gains.entries()) left[at]! -= soon * gain;
    for (let at = left.length - 1; at >= 0; at -= 1) if (left[at]! <= 1e-6) left.splice(at, 1);
  }
  return seconds;
}

function classes(): void {
  const modes = ['one for all', 'for each', 'by length'];
  begin(`budgets for each sequence, lengths known, ${seeds.length} seeds: time of a rollout against no drafts`, [
    ...['engine', 'sequences', 'acceptance'],
    ...modes,
  ]);
  for (const [name, cost] of [costs[0]!, costs[3]!]) {
    for (const size of [16, 64, 256]) {
      for (const acceptance of [0.4, eagle.acceptance, 0.75]) {
        const totals = ['none', ...modes].map((mode) =>
          sum(
            seeds.map((seed) => {
              const workload = rollpackerWorkload(8192, seed);
              const lengths = Array.from({ length: size }, (_, index) => workload.prompt(index).sample(0).tokens);
              return untilDone(cost, lengths, acceptance, mode);
            }),
          ),
        );
        line([name, size, acceptance.toFixed(2), ...totals.slice(1).map((one) => percent(one / totals[0]!))]);
      }
    }
  }
}

/** An engine that generates without end: tokens a second against no drafts. */
function rateOf(cost: CostModel, sequences: number, tokens: number, acceptance: number): number {
  const { passSeconds, stepSeconds } = drafter(cost);
  const base = (all: number) =>
    Math.max(cost.memoryBoundSeconds, all * cost.computeSecondsPerSequence) +
    (cost.overheadSeconds + all * cost.secondsPerSequence);
  const drafted = base(sequences * (tokens + 1)) + stepSeconds + tokens * passSeconds;
  return (expectedTokens(acceptance, tokens) * base(sequences)) / drafted;
}

function points(): void {
  const { acceptance, passShare, stepShare } = eagle;
  console.log(`\nEAGLE, fitted: acceptance ${acceptance.toFixed(3)}; of a step with one sequence, a pass is`);
  console.log(`${(100 * passShare).toFixed(1)} %, and what a step takes longer ${(100 * stepShare).toFixed(1)} %`);
  // Qwen3-8B with EAGLE-3 on one H100, vLLM 0.31 (vllm-project/vllm, pull request 62258): tokens a second without and with drafts.
  const measured = [
    { sequences: 1, tokens: 5, plain: 125, drafted: 355 },
    { sequences: 8, tokens: 3, plain: 898, drafted: 2148 },
    { sequences: 32, tokens: 5, plain: 2726, drafted: 7317 },
  ];
  begin('Qwen3-8B, EAGLE-3, H100: speedups', ['sequences', 'k', 'measured', 'model, acceptance from the first row']);
  const qwen3 = deriveCostModel({
    ...{ billionParameters: 8.2, layers: 36, kvHeads: 8, headDimension: 128, tensorParallel: 1 },
    ...{ gpu: { memoryGb: 80, bandwidthGbps: 3350, tflops: 989 }, hostSeconds: 1e-3 },
  });
  const [low, high] = [0, 1];
  let [least, most] = [low, high];
  for (let round = 0; round < 60; round += 1) {
    const middle = (least + most) / 2;
    if (rateOf(qwen3, 1, 5, middle) < measured[0]!.drafted / measured[0]!.plain) least = middle;
    else most = middle;
  }
  for (const { sequences, tokens, plain, drafted } of measured) {
    line([
      sequences,
      tokens,
      `${(drafted / plain).toFixed(2)} x`,
      `${rateOf(qwen3, sequences, tokens, least).toFixed(2)} x`,
    ]);
  }
  console.log(`acceptance ${least.toFixed(2)}`);

  // Qwen2.5-7B on two H20 with SGLang, two passes and two verified tokens (mit-han-lab/fastrl, issue 7).
  begin('Qwen2.5-7B, TP 2, H20: measured seconds of a step', [
    'sequences',
    'without',
    'with 1 drafted token',
    'best case',
    'planned, acceptance 1',
  ]);
  const steps20 = [
    { tokens: 1, seconds: 0.0039, drafted: 0.00845 },
    { tokens: 6, seconds: 0.0045, drafted: 0.00885 },
    { tokens: 12, seconds: 0.0049, drafted: 0.00899 },
  ];
  for (const { tokens, seconds, drafted } of steps20) {
    const plan = runPlanner(draftBudget, {
      groups: [{ sequences: tokens }],
      prior: { acceptance: eagle.acceptance, tokens: 1 },
      passSeconds: [{ tokens: tokens * 2, seconds }],
      drafter: { passSeconds: drafted - seconds },
      maxDraftTokens: 1,
    });
    const rates = [eagle.acceptance, 1].map((acceptance) =>
      percent((expectedTokens(acceptance, 1) * seconds) / drafted),
    );
    line([tokens, seconds, drafted, ...rates, plan.draftTokens]);
  }

  begin('7B on one H20, three drafted tokens (verl, docs/advance/mtp.md: about − 50 %): tokens a second', [
    'sequences',
    'acceptance 0.4',
    'acceptance 0.58',
    'planned, acceptance 0.58',
  ]);
  for (const sequences of [1, 4, 16, 32, 64, 128, 256]) {
    const knee = Math.floor(onH20.memoryBoundSeconds / onH20.computeSecondsPerSequence);
    const at = (tokens: number) => ({
      tokens,
      seconds:
        onH20.overheadSeconds +
        tokens * onH20.secondsPerSequence +
        Math.max(onH20.memoryBoundSeconds, tokens * onH20.computeSecondsPerSequence),
    });
    const { passSeconds, stepSeconds } = drafter(onH20);
    const plan = runPlanner(draftBudget, {
      groups: [{ sequences }],
      prior: { acceptance: eagle.acceptance, tokens: 1 },
      passSeconds: [1, knee, knee + 1, 5000].map(at),
      drafter: { passSeconds, stepSeconds },
      maxDraftTokens: 8,
    });
    line([
      sequences,
      ...[0.4, eagle.acceptance].map((one) => percent(rateOf(onH20, sequences, 3, one))),
      `k = ${plan.draftTokens}, ${percent(plan.speedup)}`,
    ]);
  }
}

const traces = (): Case[] => [
  traced('castillo-qwen2.5-7b-instruct-1m', 'qwen2.5-14b-16k'),
  traced('castillo-qwen2.5-32b-instruct', 'qwen2.5-14b-16k'),
  serveGen(0.3),
];
const parts: Readonly<Record<string, () => void>> = {
  points,
  grid,
  classes,
  tail: () => inJobs(traces()),
  h20: () => inJobs([onH20Job()]),
};
if (chosen !== 'all' && !(chosen in parts))
  throw new Error(`expected all, ${Object.keys(parts).join(', ')}: ${chosen}`);
for (const [name, run] of Object.entries(parts)) if (chosen === 'all' || chosen === name) run();
