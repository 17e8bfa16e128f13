/** Cases beside those of the paper: engines that differ in what more requests cost, five laws of lengths, three trainers. */
import { type CostModel, costModelSchema } from '../../src/sim/models/cost-model.ts';
import { normal, uniform } from '../../src/sim/workload/random.ts';
import { runRounds, type Setting } from './loop.ts';
import { type Case, paperSetting } from './work.ts';

const { responsesPerPrompt, groupsPerUpdate } = paperSetting;
const capTokens = 16_000;
const promptTokens = 300;

const base = { prefillSecondsPerToken: 2e-5, maxRunningSequences: 1024 };
/** What more requests cost: little, KV cache, slots, attention, compute; and four engines side by side. */
const engines: Readonly<Record<string, { readonly cost: CostModel; readonly engines?: number }>> = {
  flat: {
    cost: costModelSchema.parse({
      ...base,
      memoryBoundSeconds: 0.004,
      computeSecondsPerSequence: 8e-6,
      overheadSeconds: 0.004,
      secondsPerSequence: 5e-6,
      secondsPerContextToken: 3e-9,
      kvCapacityTokens: 4_000_000,
    }),
  },
  smallCache: {
    cost: costModelSchema.parse({
      ...base,
      memoryBoundSeconds: 0.005,
      computeSecondsPerSequence: 2e-5,
      overheadSeconds: 0.005,
      secondsPerSequence: 2e-5,
      secondsPerContextToken: 3e-8,
      kvCapacityTokens: 250_000,
      maxRunningSequences: 256,
    }),
  },
  fewSlots: {
    cost: costModelSchema.parse({
      ...base,
      memoryBoundSeconds: 0.006,
      computeSecondsPerSequence: 2e-5,
      overheadSeconds: 0.006,
      secondsPerSequence: 1e-5,
      secondsPerContextToken: 2e-8,
      kvCapacityTokens: 2_000_000,
      maxRunningSequences: 64,
    }),
  },
  attention: {
    cost: costModelSchema.parse({
      ...base,
      memoryBoundSeconds: 0.0014,
      computeSecondsPerSequence: 1.1e-5,
      overheadSeconds: 0.012,
      secondsPerSequence: 1e-5,
      secondsPerContextToken: 4.2e-8,
      kvCapacityTokens: 560_000,
      maxRunningSequences: 256,
    }),
  },
  compute: {
    cost: costModelSchema.parse({
      ...base,
      memoryBoundSeconds: 0.002,
      computeSecondsPerSequence: 1.2e-4,
      overheadSeconds: 0.002,
      secondsPerSequence: 5e-5,
      secondsPerContextToken: 2e-8,
      kvCapacityTokens: 8_000_000,
    }),
  },
  fourEngines: {
    engines: 4,
    cost: costModelSchema.parse({
      ...base,
      memoryBoundSeconds: 0.0014,
      computeSecondsPerSequence: 1.1e-5,
      overheadSeconds: 0.012,
      secondsPerSequence: 1e-5,
      secondsPerContextToken: 1.6e-7,
      kvCapacityTokens: 140_000,
      maxRunningSequences: 256,
    }),
  },
};

type LengthLaw = (seed: number, group: number, k: number) => number;
const lognormal =
  (median: number, between: number, within: number): LengthLaw =>
  (seed, group, k) =>
    median * Math.exp(between * normal(seed, 1, group) + within * normal(seed, 2, group, k));
/** Narrow, broad, long-tailed and two-humped laws, and one in which the prompt decides. */
const laws: Readonly<Record<string, LengthLaw>> = {
  narrow: lognormal(3400, 0.2, 0.2),
  broad: lognormal(2600, 0.5, 0.6),
  longTailed: lognormal(900, 0.7, 1),
  twoHumps: (seed, group, k) => (uniform(seed, 3, group, k) < 0.08 ? 15_000 : lognormal(1500, 0, 0.4)(seed, group, k)),
  byPrompt: lognormal(2000, 0.9, 0.25),
};

/** Training time, as a share of the time of the rollout alone. */
const speeds = [0.5, 1, 1.5];

/** A case for every engine, law and trainer. The trainer's pace depends on the groups of a round. */
export function syntheticCases(groups: number): Case[] {
  return Object.entries(engines).flatMap(([engineName, { cost, engines: count = 1 }]) =>
    Object.entries(laws).flatMap(([lawName, law]) => {
      const round: Case['round'] = (size, seed, at) => ({
        promptTokens: Array<number>(size).fill(promptTokens),
        lengths: Array.from({ length: size }, (_, group) =>
          Array.from({ length: responsesPerPrompt }, (__, k) =>
            Math.max(1, Math.min(capTokens, Math.round(law(seed * 1000 + at, group, k)))),
          ),
        ),
      });
      const free: Setting = {
        engine: cost,
        engines: count,
        responsesPerPrompt,
        groupsPerUpdate,
        trainSecondsPerToken: 0,
        trainSecondsPerGroup: 0,
        stepSeconds: 0,
        verifierSeconds: 0.1,
      };
      const sample = round(groups, 0, 0);
      const { rolloutSeconds } = runRounds(free, groups, [sample])[0]!;
      const tokens = sample.lengths.flat().reduce((sum, one) => sum + one, 0);
      return speeds.map((speed) => ({
        name: `${engineName}, ${lawName}, trainer ${speed}`,
        setting: { ...free, trainSecondsPerToken: (speed * rolloutSeconds) / tokens },
        round,
      }));
    }),
  );
}
