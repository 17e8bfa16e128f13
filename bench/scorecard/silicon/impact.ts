/**
 * Shows what the time model changes in the answers of the simulator, against the one before it (`former-model.ts`). Nothing is
 * validated: no rollout here was measured. Dense models on eight H100, at each TP that fits, with lengths of five kinds that chose
 * no constant: the synchronous baseline and tail batching. `npx tsx bench/scorecard/silicon/impact.ts [--write]`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mean } from 'simple-statistics';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { defineJob } from '../../../src/sim/colocated/job.ts';
import { synchronousBaseline, tailBatchingScheduler } from '../../../src/sim/colocated/scheduler.ts';
import { quantileOf } from '../../../src/sim/comparison/metrics.ts';
import { type CostModel, costModelOf, memoryUtilization } from '../../../src/sim/models/cost-model.ts';
import { gpuOf } from '../../../src/sim/silicon/gpus.ts';
import { modelOf } from '../../../src/sim/silicon/models/model-names.ts';
import { engineCosts } from '../../../src/sim/silicon/served-model.ts';
import { longTailQuantile, marginalWorkload, type Quantile } from '../../../src/sim/workload/marginal.ts';
import type { Workload } from '../../../src/sim/workload/workload.ts';
import { formerCosts } from './former-model.ts';
import { groupedBy } from './points.ts';
import { tauB } from './tau.ts';

const kept = new URL('./impact.json', import.meta.url);
const models = ['Qwen2.5-7B', 'Qwen2.5-14B', 'Qwen2.5-32B', 'Qwen2.5-72B'];
const degrees = [1, 2, 4, 8];
const seeds = [1, 2, 3, 4];
const gpu = gpuOf('h100-sxm');
const gpus = 8;
const batch = { promptsPerRound: 32, responsesPerPrompt: 8 };
const prompts = 8 * batch.promptsPerRound;
const capTokens = 8192;
/** Seconds of the host in the former model: without a calibration, what its pools and drafts had. */
const hostSeconds = 0.002;
/** Longest responses that fit at once, by both models; else a TP is left out. */
const fewestResponses = 4;

const lognormal = (medianTokens: number, sigma: number): Quantile =>
  longTailQuantile({ medianTokens, sigma, tailWeight: 0, tailStartTokens: 1000, tailExponent: 1 });
const [brief, wordy] = [lognormal(400, 0.4), lognormal(4000, 0.3)];

/** Lengths by kind, which chose no constant. */
export const lengths: Readonly<Record<string, Quantile>> = {
  lognormal: lognormal(1200, 0.7),
  'long tail': longTailQuantile({
    medianTokens: 600,
    sigma: 0.7,
    tailWeight: 0.08,
    tailStartTokens: 2000,
    tailExponent: 0.8,
  }),
  bimodal: (share) => (share < 0.7 ? brief(share / 0.7) : wordy((share - 0.7) / 0.3)),
  uniform: (share) => 100 + 5900 * share,
  capped: lognormal(6000, 0.9),
};

/** Returns a workload with lengths of a kind. */
export const workloadOf = (kind: string, seed: number): Workload =>
  marginalWorkload({
    name: kind,
    responseTokens: lengths[kind]!,
    promptTokens: (share) => 100 + 400 * share,
    correlation: 0.3,
    capTokens,
    seed,
  });

/** One rollout by both models: seconds of all steps. */
interface Rollout {
  readonly model: string;
  readonly tp: number;
  readonly lengths: string;
  readonly seed: number;
  readonly now: Seconds;
  readonly former: Seconds;
}
interface Seconds {
  readonly synchronous: number;
  readonly tail: number;
}

/** What is kept. */
export interface Impact {
  readonly rollouts: number;
  /** Share of the rollouts in which the same scheduler is the faster. */
  readonly sameScheduler: number;
  /** The same, of those in which one model or the other has a difference of 5 % at least; and their number. */
  readonly clear: number;
  readonly sameOfClear: number;
  /** Share of the groups of TPs with the same fastest TP, for the baseline, and tau-b over all TPs of a group. */
  readonly tpGroups: number;
  readonly sameBestTp: number;
  readonly tauTp: number | null;
  /** By kind of lengths, and of all: the gain of tail batching by both models. */
  readonly gains: readonly Gain[];
  /** Seconds of the baseline, now ÷ before. */
  readonly slower: readonly [low: number, median: number, high: number];
}
interface Gain {
  readonly lengths: string;
  readonly former: number;
  readonly now: number;
  /** Now ÷ before: mean, and quantiles at 5, 50 and 95 %. */
  readonly moved: readonly [mean: number, low: number, median: number, high: number];
}

function costsAt(name: string, tp: number): { readonly now: CostModel; readonly former: CostModel } | undefined {
  const model = modelOf(name);
  if (model.heads % tp !== 0) return undefined;
  const { layers, kvHeads, headDimension } = model;
  const billionParameters = model.totalParameters / 1e9;
  const shape = { billionParameters, layers, kvHeads, headDimension, tensorParallel: tp, gpu, hostSeconds };
  const former = formerCosts(shape);
  try {
    const now = costModelOf(engineCosts({ model, gpu, precision: 'bf16', gpus: tp, memoryUtilization }));
    const least = Math.min(now.kvCapacityTokens, former?.kvCapacityTokens ?? 0);
    return former === undefined || least < fewestResponses * capTokens ? undefined : { now, former };
  } catch {
    return undefined;
  }
}

function secondsOf(cost: CostModel, tp: number, kind: string, seed: number): Seconds {
  const job = defineJob({ name: 'impact', engines: gpus / tp, ...batch, cost });
  const workload = workloadOf(kind, seed);
  const run = (scheduler: Parameters<typeof simulate>[1]) =>
    simulate(job, scheduler, workload, { prompts, seed, timeline: false }).totalSeconds;
  return { synchronous: run(synchronousBaseline(job)), tail: run(tailBatchingScheduler(job)) };
}

function rollouts(): Rollout[] {
  const list: Rollout[] = [];
  for (const model of models) {
    for (const tp of degrees) {
      const costs = costsAt(model, tp);
      if (costs === undefined) continue;
      for (const kind of Object.keys(lengths)) {
        for (const seed of seeds) {
          const [now, former] = [costs.now, costs.former].map((cost) => secondsOf(cost, tp, kind, seed));
          list.push({ model, tp, lengths: kind, seed, now: now!, former: former! });
        }
      }
    }
  }
  return list;
}

const gainOf = ({ synchronous, tail }: Seconds): number => synchronous / tail;
const quantiles = (values: readonly number[]): [number, number, number] => {
  const sorted = [...values].sort((a, b) => a - b);
  return [quantileOf(sorted, 0.05), quantileOf(sorted, 0.5), quantileOf(sorted, 0.95)];
};

function gainRow(name: string, some: readonly Rollout[]): Gain {
  const moved = some.map(({ now, former }) => gainOf(now) / gainOf(former));
  return {
    lengths: name,
    former: mean(some.map(({ former }) => gainOf(former))),
    now: mean(some.map(({ now }) => gainOf(now))),
    moved: [mean(moved), ...quantiles(moved)],
  };
}

function impactOf(list: readonly Rollout[]): Impact {
  const groups = [...groupedBy(list, (one) => `${one.model} ${one.lengths} ${one.seed}`).values()];
  const best = (group: readonly Rollout[], of: (one: Rollout) => number): number =>
    group.reduce((a, b) => (of(b) < of(a) ? b : a)).tp;
  const isSame = (group: readonly Rollout[]): boolean =>
    best(group, ({ now }) => now.synchronous) === best(group, ({ former }) => former.synchronous);
  const agrees = ({ now, former }: Rollout): boolean => gainOf(now) > 1 === gainOf(former) > 1;
  const clear = list.filter(({ now, former }) => [now, former].some((one) => Math.abs(gainOf(one) - 1) >= 0.05));
  return {
    rollouts: list.length,
    sameScheduler: list.filter(agrees).length / list.length,
    clear: clear.length,
    sameOfClear: clear.filter(agrees).length / clear.length,
    tpGroups: groups.length,
    sameBestTp: groups.filter(isSame).length / groups.length,
    // All TPs have the same GPUs, so that seconds order them as throughput per GPU does.
    tauTp: tauB(groups.map((group) => group.map(({ now, former, tp }) => [now.synchronous, former.synchronous, tp]))),
    gains: [
      ...[...groupedBy(list, (one) => one.lengths)].map(([name, some]) => gainRow(name, some)),
      gainRow('all', list),
    ],
    slower: quantiles(list.map(({ now, former }) => now.synchronous / former.synchronous)),
  };
}

/** The impact that was kept. */
export const keptImpact = (): Impact => JSON.parse(readFileSync(kept, 'utf8')) as Impact;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const impact = impactOf(rollouts());
  const text = JSON.stringify(impact, (_, one) => (typeof one === 'number' ? Number(one.toPrecision(4)) : one), 1);
  console.log(text);
  if (process.argv.includes('--write')) writeFileSync(kept, `${text}\n`);
}
