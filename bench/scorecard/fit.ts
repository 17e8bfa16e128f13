/**
 * How the lengths and the engines of the presets are fitted: `npx tsx bench/scorecard/fit.ts [rounds] [seeds]`. It
 * reads the fitted rows of Figures 2 and 12 and of §3 and §6.3, and no others: coordinate descent from the constants of
 * today, the host's seconds of each job following from its baseline. docs/calibration.md has what it prints.
 */
import { simulate } from '../../src/sim/colocated/driver.ts';
import { type BatchShape, synchronousBaseline, tailBatchingScheduler } from '../../src/sim/colocated/scheduler.ts';
import { type JobPresetId, jobPreset, rollpackerLengths, rollpackerWorkload } from '../../src/sim/models/presets.ts';
import { mean } from '../support.ts';
import { errorOf, type Row } from './row.ts';
import { rows } from './rows.ts';

const fitted = new Map(
  rows.filter(({ use, paper }) => use === 'fitted' && paper === 'RollPacker').map((row) => [row.id, row]),
);
/** Throws for a row that is not fitted: nobody may look at it here. */
function target(id: string): Row {
  const row = fitted.get(id);
  if (row === undefined) throw new Error(`${id} is not fitted`);
  return row;
}

const rounds = Number(process.argv[2] ?? 45);
const seeds = Array.from({ length: Number(process.argv[3] ?? 2) }, (_, index) => index + 1);
const models = { '7b': 'qwen2.5-7b-8k', '14b': 'qwen2.5-14b-16k', '32b': 'qwen2.5-32b-32k' } as const;
type Model = keyof typeof models;

/** What is fitted. */
interface Constants {
  readonly lengths: typeof rollpackerLengths;
  readonly fixedRolloutSeconds: number;
}

/** A rollout with factors: mean seconds over whole periods; and 10 rounds of the baseline. */
function rollout(model: Model, [p, r]: readonly [number, number], constants: Constants, overhead: number): number {
  const { job: preset, capTokens } = jobPreset(models[model] satisfies JobPresetId);
  const { fixedRolloutSeconds, lengths } = constants;
  const overheadSeconds = preset.cost.overheadSeconds + overhead;
  const job = { ...preset, cost: { ...preset.cost, overheadSeconds, fixedRolloutSeconds } };
  const isBaseline = p === 1 && r === 1;
  const shape: BatchShape = job;
  const scheduler = isBaseline
    ? synchronousBaseline(shape)
    : tailBatchingScheduler(shape, { promptSpeculation: p, responseSpeculation: r });
  const runs = seeds.map((seed) => {
    const prompts = (isBaseline ? 10 : rounds) * job.promptsPerRound;
    return simulate(job, scheduler, rollpackerWorkload(capTokens, seed, lengths), { prompts, seed, timeline: false });
  });
  return mean(runs.flatMap(({ steps }) => steps.map((step) => step.rolloutSeconds)));
}

interface Fit {
  readonly constants: Constants;
  /** Seconds a decode step, to be added to the host's of each job. */
  readonly overheads: Readonly<Record<Model, number>>;
  readonly errors: readonly (readonly [id: string, error: number])[];
  readonly loss: number;
}

const step = 1e-3;
const factors = [1.125, 1.25, 1.5] as const;

function fitOf(constants: Constants): Fit {
  const overheads = {} as Record<Model, number>;
  for (const model of Object.keys(models) as Model[]) {
    // The rollout of the baseline grows in proportion to the overhead.
    const [at0, at1] = [0, step].map((overhead) => rollout(model, [1, 1], constants, overhead)) as [number, number];
    overheads[model] = (step * ((target(`rollout-${model}`).printed as number) - at0)) / (at1 - at0);
  }
  const of = (model: Model, p: number, r: number): number => rollout(model, [p, r], constants, overheads[model]);
  const values: [string, number][] = [];
  for (const model of ['7b', '14b'] as const) {
    for (const factor of factors) {
      values.push(
        [`rollout-${model}-r${factor}`, of(model, 1, factor)],
        [`rollout-${model}-p${factor}`, of(model, factor, 1)],
      );
    }
  }
  const best = (letter: 'r' | 'p'): number =>
    Math.min(...factors.map((factor) => values.find(([id]) => id === `rollout-7b-${letter}${factor}`)![1]));
  const joint = of('7b', 1.25, 1.25);
  values.push(['joint-over-r', best('r') / joint], ['joint-over-p', best('p') / joint], ...lengthsOf(constants));
  const errors = values.map(([id, value]) => [id, errorOf(target(id), value)] as const);
  return { constants, overheads, errors, loss: mean(errors.map(([, error]) => Math.abs(error))) };
}

function lengthsOf({ lengths }: Constants): [string, number][] {
  const workload = rollpackerWorkload(16_384, 1, lengths);
  const sorted = Float64Array.from(
    { length: 20_000 },
    (_, at) => workload.prompt(at >> 3).sample(at & 7).tokens,
  ).sort();
  const over = (tokens: number): number => sorted.filter((one) => one > tokens).length / sorted.length;
  return [
    ['lengths-p75', sorted[15_000]!],
    ['lengths-longest', sorted.at(-1)! / sorted[10_000]!],
    ['lengths-over-2k', over(2000)],
    ['lengths-over-4k', over(4000)],
  ];
}

const say = ({ constants, overheads, loss }: Fit): void =>
  console.log(`${(100 * loss).toFixed(2)} %`, JSON.stringify(constants), JSON.stringify(overheads));

let best = fitOf({
  lengths: rollpackerLengths,
  fixedRolloutSeconds: jobPreset(models['7b']).job.cost.fixedRolloutSeconds,
});
say(best);
const moves: readonly ((constants: Constants, by: 1 | -1) => Constants)[] = [
  ({ lengths, ...rest }, by) => ({ ...rest, lengths: { ...lengths, sigma: lengths.sigma + 0.03 * by } }),
  ({ lengths, ...rest }, by) => ({ ...rest, lengths: { ...lengths, correlation: lengths.correlation + 0.02 * by } }),
  ({ lengths, ...rest }, by) => ({ ...rest, lengths: { ...lengths, medianTokens: lengths.medianTokens + 15 * by } }),
  ({ lengths, ...rest }, by) => ({ ...rest, lengths: { ...lengths, tailWeight: lengths.tailWeight + 0.004 * by } }),
  ({ lengths, ...rest }, by) => ({ ...rest, lengths: { ...lengths, tailExponent: lengths.tailExponent + 0.03 * by } }),
  ({ fixedRolloutSeconds, ...rest }, by) => ({ ...rest, fixedRolloutSeconds: fixedRolloutSeconds + by }),
];
for (const move of moves) {
  for (const by of [1, -1] as const) {
    const tried = fitOf(move(best.constants, by));
    if (tried.loss >= best.loss) continue;
    best = tried;
    say(best);
  }
}
for (const [id, error] of best.errors) console.log(id, `${(100 * error).toFixed(1)} %`);
