/**
 * Shows what program-scheduling, with one default setting, is worth on agentic rollouts, against the best static rule of each
 * workload, the worst one, and ThunderAgent's rule: the named workloads and the trace tau-airline, with the KV cache that they
 * state, and with one that has room for a part of the contexts; and workloads whose numbers are drawn at random. Prints the tables
 * of docs/agentic.md. `npx tsx bench/simulated/agentic.ts [seeds] [room,...] [workload...]`: seeds `5` are 1 to 5, `101-105`
 * those; by default 5 seeds, `stated,0.25`, and all named workloads. `drawn` are twenty drawn ones.
 */
import { readTraceFile } from '../../src/cli/files/traces.ts';
import {
  type AgenticJob,
  type AgenticRun,
  type AgenticScheduler,
  type AgenticShape,
  type AgenticWorkload,
  agenticPreset,
  agenticPresetIds,
  agenticWorkload,
  bootstrap,
  consistentHash,
  defineAgenticJob,
  dualThreshold,
  type Interval,
  jobPreset,
  leastInFlight,
  margin,
  presetWorkload,
  programScheduler,
  simulateAgentic,
  tauAirlineJob,
  tauAirlineSeconds,
  thunderAgent,
  tracedAgenticWorkload,
} from '../../src/sim/index.ts';
import { uniform } from '../../src/sim/workload/random.ts';

const [seedCount = '5', rooms = 'stated,0.25', ...chosen] = process.argv.slice(2);
const [firstSeed, lastSeed] = seedCount.includes('-') ? seedCount.split('-').map(Number) : [1, Number(seedCount)];
const seeds = Array.from({ length: lastSeed! - firstSeed! + 1 }, (_, index) => firstSeed! + index);

/** Rules without memory of what they held back; margins are tuned for each workload. */
const statics: readonly AgenticScheduler[] = [
  leastInFlight,
  consistentHash,
  dualThreshold(4, 1.1),
  dualThreshold(32, 1.5),
  ...[1, 2, 4, 8, 16, 32].map(margin),
];
const thunders = [thunderAgent(), thunderAgent({ decays: false })];

interface Case {
  readonly id: string;
  readonly job: AgenticJob;
  /** One for each seed. */
  readonly workloads: readonly AgenticWorkload[];
}

function tauAirline(): Case {
  const name = 'tau-airline';
  const { trace } = readTraceFile(`examples/traces/${name}-gpt4o.jsonl`);
  if (trace.kind !== 'prompts') throw new Error('expected a trace of prompts');
  const { prompts } = trace;
  const toolSeconds = tauAirlineSeconds;
  const workloads = seeds.map((seed) => tracedAgenticWorkload({ name, prompts, toolSeconds, seed }));
  return { id: name, job: tauAirlineJob, workloads };
}
const cases: readonly (() => Case)[] = [
  ...agenticPresetIds.map((id) => (): Case => {
    const preset = agenticPreset(id);
    return { id, job: preset.job, workloads: seeds.map((seed) => presetWorkload(preset, seed)) };
  }),
  tauAirline,
];

/** A number between two, its logarithm equally likely everywhere: the same for a key and a number of a workload. */
function drawn(index: number, key: number, low: number, high: number): number {
  return low * (high / low) ** uniform(20_261_126, index, key);
}

/** Twenty workloads of which every number is drawn, so that nobody has chosen them. */
const drawnCases = Array.from({ length: 20 }, (_, index) => (): Case => {
  const of = (key: number, low: number, high: number): number => drawn(index, key, low, high);
  const whole = (key: number, low: number, high: number): number => Math.round(of(key, low, high));
  const spread = (key: number, low: number, high: number, widest: number) => ({
    median: of(key, low, high),
    sigma: of(key + 1, widest / 3, widest),
  });
  const samples = whole(0, 4, 16);
  const shape: AgenticShape = {
    environment: 'drawn',
    prompts: Math.max(1, Math.round(whole(1, 100, 800) / samples)),
    samples,
    sharedTokens: whole(2, 200, 3000),
    promptTokens: spread(3, 50, 10_000, 0.8),
    turns: spread(5, 3, 40, 0.9),
    correlation: 0.3,
    generatedTokens: spread(7, 40, 2000, 1),
    tools: [{ tool: 'tool', share: 1, seconds: spread(9, 0.1, 30, 1.5), tokens: spread(11, 20, 2000, 1) }],
    longestContext: 65_536,
  };
  const { cost } = jobPreset(of(13, 1, 4) < 2 ? 'qwen2.5-7b-8k' : 'qwen2.5-32b-32k').job;
  const id = `drawn-${index + 1}`;
  const job = defineAgenticJob({ name: id, engines: whole(14, 2, 12), cost });
  const workloads = seeds.map((seed) => agenticWorkload([shape], { name: id, source: 'drawn', seed }));
  const one = { id, job, workloads };
  return { ...one, job: withRoom(one, of(15, 0.15, 2)) };
});

/** Tokens that a program has at its end. */
const longest = ({ contextTokens, turns }: AgenticWorkload['programs'][number]): number =>
  turns.reduce((sum, { generatedTokens, toolTokens = 0 }) => sum + generatedTokens + toolTokens, contextTokens);

/** The job with room for a part of what all programs have at their ends, and for the longest one on each engine. */
function withRoom({ job, workloads }: Case, share: number): AgenticJob {
  const ends = workloads.flatMap(({ programs }) => programs.map(longest));
  const all = ends.reduce((sum, one) => sum + one, 0) / seeds.length;
  const most = ends.reduce((one, other) => Math.max(one, other), 0);
  const kvCapacityTokens = Math.max(Math.ceil(most / 0.95), Math.round((share * all) / job.engines));
  return { ...job, cost: { ...job.cost, kvCapacityTokens } };
}

const meanOf = (runs: readonly AgenticRun[], value: (run: AgenticRun) => number): number =>
  runs.reduce((sum, run) => sum + value(run), 0) / runs.length;
const makespan = (run: AgenticRun): number => run.makespanSeconds;

/** Mean makespan of `runs` ÷ that of `base`, on the same programs. */
function times(runs: readonly AgenticRun[], base: readonly AgenticRun[]): Interval {
  const pairs = runs.map((run, index) => ({ run, base: base[index]! }));
  const sum = (list: readonly (typeof pairs)[number][], of: 'run' | 'base'): number =>
    list.reduce((all, one) => all + makespan(one[of]), 0);
  return bootstrap(pairs, (list) => sum(list, 'run') / sum(list, 'base'), { seed: 1 });
}
const shown = ({ value, low, high }: Interval): string => `${value.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

const head = ['workload', 'KV room', 'ours s', 'best static s', 'best ÷ ours', 'wrong ÷ ours', 'ThunderAgent ÷ ours'];
const more = ['without decay ÷ ours', 'hits ours, best', 'idle ours, best', 'p99 turn s ours, best', 'longest pause s'];

function row({ id, workloads }: Case, job: AgenticJob): void {
  const run = (scheduler: AgenticScheduler): AgenticRun[] =>
    workloads.map((workload) => simulateAgentic(job, scheduler, workload));
  const ours = run(programScheduler());
  const rules = statics.map((rule) => ({ rule, runs: run(rule) }));
  rules.sort((a, b) => meanOf(a.runs, makespan) - meanOf(b.runs, makespan));
  const [best, worst] = [rules[0]!, rules[rules.length - 1]!];
  const ends = workloads.flatMap(({ programs }) => programs.map(longest)).reduce((sum, end) => sum + end, 0);
  const room = (job.engines * job.cost.kvCapacityTokens * workloads.length) / ends;
  const both = (value: (run: AgenticRun) => number, digits = 0): string =>
    [ours, best.runs].map((runs) => meanOf(runs, value).toFixed(digits)).join(', ');
  const cells = [
    id,
    room.toFixed(2),
    meanOf(ours, makespan).toFixed(0),
    `${meanOf(best.runs, makespan).toFixed(0)} (${best.rule.label})`,
    shown(times(best.runs, ours)),
    `${times(worst.runs, ours).value.toFixed(2)} (${worst.rule.label})`,
    ...thunders.map((rule) => shown(times(run(rule), ours))),
    both((each) => 100 * each.prefixHitRate),
    both((each) => 100 * each.idleShare),
    both((each) => each.turnSeconds.p99, 1),
    ours.reduce((most, each) => Math.max(most, each.longestPauseSeconds), 0).toFixed(0),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

for (const room of rooms.split(',')) {
  console.log(`\nKV cache: ${room}, ${seeds.length} seeds\n`);
  for (const cells of [[...head, ...more], [...head, ...more].map(() => '---')])
    console.log(`| ${cells.join(' | ')} |`);
  for (const make of chosen.includes('drawn') ? drawnCases : cases) {
    const one = make();
    if (chosen.length > 0 && !chosen.includes('drawn') && !chosen.includes(one.id)) continue;
    row(one, room === 'stated' ? one.job : withRoom(one, Number(room)));
  }
}
