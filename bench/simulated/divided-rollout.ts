/**
 * Shows what divided rollout is worth where KV caches are scarce, and where they are ample: seconds of rollouts against the synchronous
 * baseline, against that baseline with the best of several limits of requests on an engine, and with a KV cache that engines share.
 * `of possible` is the time of an oracle that knows all lengths ÷ that of divided rollout, and `at most` that of a bound.
 * Rounds are in the order of the data, so that all train the same responses. Prints the table of the policy's README.
 * `npx tsx bench/simulated/divided-rollout.ts [seeds] [rounds] [trace...]`, by default 5, 2, and the shipped traces.
 */
import { basename } from 'node:path';
import { readTraceFile } from '../../src/cli/files/traces.ts';
import { create } from '../../src/core/machine/start.ts';
import { speculativeAdmission } from '../../src/policies/speculative-admission/index.ts';
import { simulate } from '../../src/sim/colocated/driver.ts';
import type { Job } from '../../src/sim/colocated/job.ts';
import {
  dividedSettingsOf,
  losslessTailScheduler,
  type Scheduler,
  synchronousBaseline,
} from '../../src/sim/colocated/scheduler.ts';
import { type JobPresetId, jobPreset } from '../../src/sim/models/presets.ts';
import { marginalWorkload, pooledQuantile } from '../../src/sim/workload/marginal.ts';
import { tracedWorkload } from '../../src/sim/workload/traced.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import { dividedBound, dividedOracle, leastChunks } from './oracles/divided-rollout.ts';

const [seedCount = '5', roundCount = '2', ...given] = process.argv.slice(2);
const seeds = Array.from({ length: Number(seedCount) }, (_, index) => index + 1);
const rounds = Number(roundCount);
/** Requests on an engine at once, of which the best counts. */
const limits = [4, 8, 16, 32];
const poolTokensPerSecond = 200_000;
const shipped = ['castillo-qwen2.5-32b-instruct', 'servegen-deepseek-r1'];
const paths = given.length > 0 ? given : shipped.map((name) => `examples/traces/${name}.jsonl`);

function jobOf(id: JobPresetId, prompts: number, responses: number, engines: number, kv: number) {
  const { job, capTokens } = jobPreset(id);
  const { hardware: _, rewards: _rewards, ...plain } = job;
  const kvCapacityTokens = Math.min(kv, plain.cost.kvCapacityTokens);
  const shape = { promptsPerRound: prompts, responsesPerPrompt: responses, engines };
  const sized: Job = { ...plain, ...shape, cost: { ...plain.cost, kvCapacityTokens } };
  return { job: sized, capTokens: Math.min(capTokens, Math.floor(kvCapacityTokens / 3)) };
}

function workloadOf(path: string, capTokens: number): (seed: number) => Workload {
  const { trace } = readTraceFile(path);
  const name = basename(path, '.jsonl');
  if (trace.kind === 'prompts') return (seed) => tracedWorkload({ name, prompts: trace.prompts, capTokens, seed });
  if (trace.kind !== 'quantiles') throw new Error(`${path}: expected prompts or quantiles`);
  const promptTokens = pooledQuantile(trace.rows, 'inputTokens');
  const responseTokens = pooledQuantile(trace.rows, 'outputTokens');
  const lengths = { name, promptTokens, responseTokens, capTokens, correlation: 0.5 };
  return (seed) => marginalWorkload({ ...lengths, seed });
}

function limited(job: Job, maxInFlightPerEngine: number): Scheduler {
  const { promptsPerRound, responsesPerPrompt } = job;
  const config = { promptsPerRound, responsesPerPrompt, placement: 'policy', maxInFlightPerEngine } as const;
  const baseline = synchronousBaseline(job);
  return { ...baseline, create: (options) => create(speculativeAdmission, config, options) as never };
}

function row(path: string, id: JobPresetId, prompts: number, responses: number, engines: number, kv: number): void {
  const { job, capTokens } = jobOf(id, prompts, responses, engines, kv);
  const whole = workloadOf(path, capTokens);
  // Prompts are cut to an eighth of the KV cache, which some would not fit.
  const most = Math.floor(job.cost.kvCapacityTokens / 8);
  const workload = (seed: number): Workload => {
    const drawn = whole(seed);
    const prompt = (index: number) => {
      const one = drawn.prompt(index);
      return { ...one, promptTokens: Math.min(most, one.promptTokens) };
    };
    return { ...drawn, prompt };
  };
  const measure = (scheduler: (workload: Workload) => Scheduler) => {
    let [seconds, preemptions, tokens, count] = [0, 0, 0, 0];
    const each: number[] = [];
    for (const seed of seeds) {
      const drawn = workload(seed);
      const { steps } = simulate(job, scheduler(drawn), drawn, { prompts: prompts * rounds, seed, timeline: false });
      const own = steps.reduce((sum, step) => sum + step.rolloutSeconds, 0);
      each.push(own);
      seconds += own;
      for (const step of steps) {
        preemptions += step.preemptions;
        tokens += step.keptTokens;
        count += step.responses;
      }
    }
    return { seconds, each, preemptions: preemptions / count, tokens, mean: tokens / count };
  };
  const divided = dividedSettingsOf(job);
  const base = measure(() => synchronousBaseline(job));
  const bestLimit = limits
    .map((most) => ({ most, ...measure(() => limited(job, most)) }))
    .sort((a, b) => a.seconds - b.seconds)[0]!;
  const own = measure(() => losslessTailScheduler(job, { windowRounds: 1, dividedRollout: divided }));
  const pool = measure(() =>
    losslessTailScheduler(job, { windowRounds: 1, dividedRollout: { ...divided, poolTokensPerSecond } }),
  );
  const oracles = leastChunks.map((least) => measure((drawn) => dividedOracle(job, drawn, { least })));
  const bounds = seeds.map((seed) => dividedBound(job, workload(seed), rounds));
  const best = seeds.map((_, index) => Math.min(...oracles.map(({ each }) => each[index]!)));
  if (best.some((seconds, index) => seconds > own.each[index]! || seconds < bounds[index]!))
    throw new Error('expected the oracle between the policy and the bound');
  const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0);
  const share = (list: readonly number[]): string => `${((100 * sum(list)) / own.seconds).toFixed(0)} %`;
  if (own.tokens !== base.tokens || own.preemptions > 0)
    throw new Error('expected the same tokens, and no preemptions');
  const gain = (one: { seconds: number }) => (base.seconds / one.seconds).toFixed(2);
  const range = (one: { each: number[] }) => {
    const gains = one.each.map((seconds, index) => base.each[index]! / seconds);
    return `${Math.min(...gains).toFixed(2)} to ${Math.max(...gains).toFixed(2)}`;
  };
  const cells = [
    ...[
      basename(path, '.jsonl'),
      `${prompts} × ${responses}`,
      engines,
      job.cost.kvCapacityTokens,
      Math.round(base.mean),
    ],
    ...[base.preemptions.toFixed(1), `${gain(bestLimit)} (${bestLimit.most})`],
    ...[`${gain(own)} (${range(own)})`, gain(pool), (bestLimit.seconds / own.seconds).toFixed(2)],
    ...[(base.seconds / sum(best)).toFixed(2), share(best), (base.seconds / sum(bounds)).toFixed(2), share(bounds)],
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

const head = ['lengths', 'P0 × R0', 'engines', 'KV tokens', 'mean length', 'preemptions a response'];
head.push('best limit', 'divided', 'with a KV pool', 'against the best limit');
head.push('oracle', 'of possible', 'bound', 'of the bound');
for (const cells of [head, head.map(() => '---')]) console.log(`| ${cells.join(' | ')} |`);
for (const path of paths) {
  const id = 'qwen2.5-32b-32k';
  const mean = meanOf(workloadOf(path, jobPreset(id).capTokens)(1));
  // The KV cache of an engine holds so many responses of mean length.
  row(path, id, 64, 8, 16, Math.round(5 * mean));
  row(path, id, 64, 16, 16, Math.round(4 * mean));
  row(path, id, 64, 16, 16, Math.round(7 * mean));
  row(path, id, 64, 8, 16, Number.MAX_SAFE_INTEGER);
}

function meanOf({ prompt }: Workload): number {
  let tokens = 0;
  for (let index = 0; index < 8192; index += 1) tokens += prompt(index >> 3).sample(index & 7).tokens;
  return tokens / 8192;
}
