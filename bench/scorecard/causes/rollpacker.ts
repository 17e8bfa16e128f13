/** Causes of rows of RollPacker. */
import type { Job } from '../../../src/sim/colocated/job.ts';
import type { CostModel } from '../../../src/sim/models/cost-model.ts';
import { jobPreset, rollpackerLengths, rollpackerWorkload } from '../../../src/sim/models/presets.ts';
import { meanStep, preset, rolloutSeconds, runOf, type Setting, stepSeconds, variant } from '../runs.ts';
import { eight } from '../settings.ts';
import { type CauseTest, shown } from './cause.ts';
import { farthest, keptRaises, type Raises } from './raises-kept.ts';

const seed = 1;
const [off, tail, planner, all, rlhfuse] = (
  ['baseline', 'tail-batching', 'adaptive-tp', 'stream-training', 'rlhfuse'] as const
).map(variant);

function withCosts(setting: Setting, change: (cost: CostModel) => CostModel): Setting {
  const { job } = setting;
  const costs = job.hardware!.costs.map(({ tp, cost }) => ({ tp, cost: change(cost) }));
  const changed: Job = { ...job, cost: change(job.cost), hardware: { ...job.hardware!, costs } };
  return { ...setting, job: changed };
}
const added = (setting: Setting, seconds: number): Setting =>
  withCosts(setting, (cost) => ({ ...cost, overheadSeconds: cost.overheadSeconds + seconds }));
const baseline = (setting: Setting): number => meanStep(runOf(setting, off!, seed), rolloutSeconds);

/** The same with the host's seconds of a decode step such that the baseline rolls out in what Figure 12 prints. */
function refitted(setting: Setting, seconds: number): Setting {
  const [at0, at1] = [baseline(setting), baseline(added(setting, 1e-3))];
  return added(setting, (1e-3 * (seconds - at0)) / (at1 - at0));
}

const large = preset('qwen2.5-32b-32k');
const allReduce = (setting: Setting): Setting =>
  withCosts(setting, (cost) => ({
    ...cost,
    overheadSeconds: cost.overheadSeconds + 64 * 75e-6 * Math.log2(cost.gpus / 2),
  }));
const longer = (setting: Setting, by: number): Setting => {
  const lengths = {
    ...rollpackerLengths,
    medianTokens: rollpackerLengths.medianTokens * by,
    tailStartTokens: rollpackerLengths.tailStartTokens * by,
  };
  return { ...setting, workload: (one) => rollpackerWorkload(jobPreset('qwen2.5-32b-32k').capTokens, one, lengths) };
};

/** Rows of the 32B job: the ladder from tail batching on, and short rounds. */
function ladder(setting: Setting): string {
  const run = (switches: typeof off) => runOf(setting, switches!, seed);
  const ratio = (a: typeof off, b: typeof off): number => run(a).totalSeconds / run(b).totalSeconds;
  const short = meanStep(run(all), stepSeconds, 'short');
  const parts = [
    ['planner', ratio(off, planner)],
    ['stream trainer', ratio(off, all)],
    ['over RLHFuse', ratio(rlhfuse, all)],
    ['short steps over veRL', meanStep(run(off), stepSeconds) / short],
    ['over RLHFuse', meanStep(run(rlhfuse), stepSeconds) / short],
    ['short rollouts', baseline(setting) / meanStep(run(tail), rolloutSeconds, 'short')],
  ] as const;
  return parts.map(([what, value]) => `${what} ${shown(value)}`).join(', ');
}

const raised = ({ first, second, gain }: Raises): string => `raises at ${first} and ${second}, gain ${gain}`;

export function* rollpackerCauses(): Generator<CauseTest> {
  const raises = ['planner-first-raise', 'planner-second-raise'];
  const kept = keptRaises();
  const nearest = kept.rows.filter(({ terms }) => terms.length === 3).sort((a, b) => farthest(a) - farthest(b))[0]!;
  yield {
    rows: raises,
    cause: 'reading of the paper',
    changed: nearest.terms.join(', '),
    became: raised(nearest),
  };

  const rows = ['planner-32b', 'streaming-32b', 'over-rlhfuse-32b', 'short-over-verl-32b', 'short-over-rlhfuse-32b'];
  const both = [...rows, 'short-rollout-32b'];
  const cause = 'reading of the paper';
  yield { rows: both, cause, changed: 'nothing (one seed)', became: ladder(large) };
  yield {
    rows: rows.slice(0, 2),
    cause: 'constant',
    changed: '75 µs more a layer beyond TP 2',
    became: ladder(allReduce(large)),
  };
  for (const by of [2, 3]) {
    const setting = refitted(longer(large, by), 673);
    yield {
      rows: both,
      cause,
      changed: `lengths ${by} times those of Figure 2, baseline refitted`,
      became: ladder(setting),
    };
  }
  const last = allReduce(refitted(longer(large, 3), 673));
  yield {
    rows: both,
    cause,
    changed: 'lengths 3 times as long, and 75 µs more a layer beyond TP 2',
    became: ladder(last),
  };

  const code = preset('qwen2.5-14b-16k');
  const trained = (by: number): Setting =>
    withCosts(code, (cost) => ({
      ...cost,
      trainBaseSeconds: by * cost.trainBaseSeconds,
      trainSecondsPerResponse: by * cost.trainSecondsPerResponse,
      trainSecondsPerToken: by * cost.trainSecondsPerToken,
    }));
  const speedup = (by: number): number =>
    runOf(trained(by), off!, seed).totalSeconds / runOf(trained(by), tail!, seed).totalSeconds;
  let [low, high] = [1, 8];
  for (let round = 0; round < 8; round += 1) {
    const middle = (low + high) / 2;
    if (speedup(middle) > 1.48) low = middle;
    else high = middle;
  }
  const run = runOf(trained(low), off!, seed);
  const training = meanStep(run, (step) => step.trainSeconds + step.referenceSeconds) / meanStep(run, stepSeconds);
  yield {
    rows: ['tail-14b'],
    cause: 'contradiction in the paper',
    changed: `training ${shown(low)} times as long, until Table 2's 1.48 is reached`,
    became: `training has ${(100 * training).toFixed(0)} % of a step, where Table 1 prints 21 to 23 %`,
  };

  const long = ['preemptions-tp2-long'];
  const preempted = (change: (cost: CostModel) => CostModel): string => {
    const at = (tp: number): number =>
      meanStep(runOf(withCosts(eight(tp), change), tail!, seed), (step) => step.preemptions, 'long');
    return shown(at(2) / at(1));
  };
  for (const [changed, change] of [
    ['nothing (one seed)', (cost) => cost],
    ['10 % of the KV cache kept free', (cost) => ({ ...cost, watermark: 0.1 })],
    ['64 running sequences at most', (cost) => ({ ...cost, maxRunningSequences: 64 })],
    ['a quarter less KV cache', (cost) => ({ ...cost, kvCapacityTokens: Math.floor(0.75 * cost.kvCapacityTokens) })],
  ] as readonly (readonly [string, (cost: CostModel) => CostModel])[]) {
    yield { rows: long, cause: 'not found', changed, became: preempted(change) };
  }
}
