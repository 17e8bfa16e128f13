import { expect, test } from 'vitest';
import { dividedBound, dividedOracle, leastChunks } from '../../../bench/simulated/oracles/divided-rollout.ts';
import { programBound, programOracle, programVariants } from '../../../bench/simulated/oracles/program-scheduling.ts';
import { longestFirst } from '../../../bench/simulated/oracles/staleness-pacing.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { dividedSettingsOf, losslessTailScheduler } from '../../../src/sim/colocated/scheduler.ts';
import {
  defineAgenticJob,
  jobPreset,
  programScheduler,
  ruleScheduler,
  simulateAgentic,
} from '../../../src/sim/index.ts';
import { uniform } from '../../../src/sim/workload/random.ts';
import type { Workload } from '../../../src/sim/workload/workload.ts';

const { job: preset } = jobPreset('qwen2.5-7b-8k');
const { hardware: _, rewards: _rewards, ...plain } = preset;

const workloadOf = (seed: number, capTokens: number): Workload => ({
  name: 'small',
  source: 'drawn',
  resampling: 'recorded',
  correlation: 0,
  capTokens,
  distinctPrompts: 1024,
  prompt: (index) => {
    const sample = (k: number) => ({ tokens: Math.ceil(capTokens * uniform(seed, index, k) ** 2), capped: false });
    const expectedTokens = Math.max(...[0, 1, 2, 3].map((k) => sample(k).tokens));
    return { promptId: `p${index}`, promptTokens: 20, expectedTokens, sample };
  },
});

/** All orders of a list. */
function orders<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]];
  return list.flatMap((one) => orders(list.filter((other) => other !== one)).map((rest) => [one, ...rest]));
}

test.each([1, 2, 3])(
  'the oracle of divided rollout is near the best of all orders, and none beats the bound: seed %i',
  (seed) => {
    const cost = { ...plain.cost, kvCapacityTokens: 600, fixedRolloutSeconds: 1 };
    const job = { ...plain, promptsPerRound: 1, responsesPerPrompt: 4, engines: 2, cost };
    const workload = workloadOf(seed, 400);
    const seconds = (scheduler: Parameters<typeof simulate>[1]): number =>
      simulate(job, scheduler, workload, { prompts: 1, seed, timeline: false }).steps[0]!.rolloutSeconds;
    const all = orders([0, 1, 2, 3]).flatMap((order) => {
      // The ids of requests are those of the admission: prompt, slash, number.
      const rank = (_tokens: number, requestId: string): number => -order[Number(/\/(\d+)/.exec(requestId)![1])]!;
      return [64, 256].map((least) => seconds(dividedOracle(job, workload, { least, rank })));
    });
    const best = Math.min(...all);
    const oracle = Math.min(...leastChunks.map((least) => seconds(dividedOracle(job, workload, { least }))));
    const own = seconds(losslessTailScheduler(job, { windowRounds: 1, dividedRollout: dividedSettingsOf(job) }));
    const bound = dividedBound(job, workload, 1);
    expect(new Set(all).size).toBeGreaterThan(1);
    expect(oracle).toBeLessThanOrEqual(1.02 * best);
    expect(oracle).toBeLessThanOrEqual(own);
    expect(bound).toBeLessThanOrEqual(Math.min(best, oracle, own));
  },
);

test.each([1, 2, 3])(
  'the oracle of programs is near the best of all placements, and none beats the bound: seed %i',
  (seed) => {
    const job = defineAgenticJob({ name: 'small', engines: 2, cost: { ...plain.cost, kvCapacityTokens: 4000 } });
    const programs = Array.from({ length: 5 }, (_one, index) => ({
      promptId: `p${index >> 1}`,
      contextTokens: 300,
      turns: Array.from({ length: 1 + Math.floor(5 * uniform(seed, index, 1)) }, (_turn, turn) => ({
        generatedTokens: 20 + Math.floor(100 * uniform(seed, index, 2, turn)),
        tool: 'bash',
        toolSeconds: uniform(seed, index, 3, turn),
        toolTokens: 100,
      })),
    }));
    const workload = { name: 'small', source: 'drawn', programs };
    const seconds = (scheduler: Parameters<typeof simulateAgentic>[1]): number =>
      simulateAgentic(job, scheduler, workload).makespanSeconds;
    const placed = Array.from({ length: 2 ** programs.length }, (_one, bits) =>
      seconds(
        ruleScheduler('placed', 'placed', () => ({ requestId }, engines) => {
          const [, prompt, index] = /^p(\d+)\/(\d+)/.exec(requestId)!;
          return engines[(bits >> (2 * Number(prompt) + Number(index))) & 1]!;
        }),
      ),
    );
    const oracle = Math.min(...programVariants.map((variant) => seconds(programOracle(workload, variant))));
    expect(oracle).toBeLessThanOrEqual(1.02 * Math.min(...placed));
    expect(programBound(job, workload)).toBeLessThanOrEqual(Math.min(oracle, seconds(programScheduler()), ...placed));
  },
);

test('the oracle of pacing trains the same prompts in each window, the longest of them first', () => {
  const given = workloadOf(1, 400);
  const ordered = longestFirst(given, { groupsPerBatch: 4, share: 0.25, batches: 16 });
  for (const window of [0, 1]) {
    const indices = Array.from({ length: 32 }, (_one, index) => 32 * window + index);
    const [before, after] = [given, ordered].map((each) => indices.map((index) => each.prompt(index)));
    const ids = (list: typeof before): string[] => list!.map(({ promptId }) => promptId).sort();
    expect(ids(after)).toEqual(ids(before));
    const longest = before!.map(({ expectedTokens }) => expectedTokens!).sort((a, b) => b - a);
    expect(after!.slice(0, 8).map(({ expectedTokens }) => expectedTokens)).toEqual(longest.slice(0, 8));
  }
});
