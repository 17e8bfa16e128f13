/** The oracle schedule against the best of all schedules of small instances, and against other orders of large ones. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clairvoyantLowerBound, type FixedPrompt } from '../../src/sim/bounds/lower-bound.ts';
import { clairvoyantWindows, type OracleOptions, oracleSchedule } from '../../src/sim/bounds/oracle.ts';
import { simulate } from '../../src/sim/colocated/driver.ts';
import { defineJob, type Job } from '../../src/sim/colocated/job.ts';
import { oneStepOffAblation, withOneStepOff } from '../../src/sim/colocated/one-step-off.ts';
import { fixedPrompts } from '../../src/sim/comparison/kept-shares.ts';
import type { RunResult } from '../../src/sim/comparison/result.ts';
import { jobPreset, rollpackerWorkload } from '../../src/sim/models/presets.ts';
import { pickIndex } from '../../src/sim/workload/random.ts';
import type { Workload } from '../../src/sim/workload/workload.ts';
import { runs } from '../support/basics/runs.ts';
import { bestSeconds } from '../support/simulator/best-rounds.ts';
import { plainWorkload } from '../support/simulator/host.ts';

const instances = fc
  .record({
    cost: fc.record({
      memoryBoundSeconds: fc.constantFrom(0.01, 0.03),
      computeSecondsPerSequence: fc.constantFrom(0, 0.008),
      overheadSeconds: fc.constantFrom(0, 0.005),
      secondsPerSequence: fc.constantFrom(0, 0.001),
      secondsPerContextToken: fc.constantFrom(0, 1e-5, 1e-4),
      prefillSecondsPerToken: fc.constantFrom(0, 1e-4),
      kvCapacityTokens: fc.constantFrom(300, 1000),
      maxRunningSequences: fc.constantFrom(2, 8),
    }),
    engines: fc.integer({ min: 1, max: 2 }),
    promptsPerRound: fc.integer({ min: 1, max: 3 }),
    rounds: fc.integer({ min: 1, max: 3 }),
    responsesPerPrompt: fc.integer({ min: 1, max: 2 }),
    lengths: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 18, maxLength: 18 }),
  })
  .filter(({ promptsPerRound, rounds }) => promptsPerRound * rounds <= 6)
  .map(({ lengths, rounds, ...shape }) => {
    const job = defineJob({ name: 'small', ...shape });
    const workload = plainWorkload((prompt, k) => lengths[prompt * job.responsesPerPrompt + k]!);
    return { job, workload, prompts: rounds * job.promptsPerRound };
  });

function oracleRun(
  options: Pick<OracleOptions, 'job' | 'workload' | 'trains' | 'oneStepOff' | 'windowRounds'>,
  fixed: readonly FixedPrompt[],
): RunResult {
  const { scheduler, workload } = oracleSchedule({ ...options, fixed, seed: 1 });
  return simulate(options.job, scheduler, workload, { prompts: fixed.length, seed: 1, timeline: false, longTokens: 1 });
}

test('on small instances it is a few per cent above the best of all schedules, and never below the bound', () => {
  const ratios: number[] = [];
  fc.assert(
    fc.property(instances, ({ job, workload, prompts }) => {
      const fixed = fixedPrompts(workload, prompts, job.responsesPerPrompt);
      const { rolloutSeconds, keptTokens, kept } = oracleRun({ job, workload }, fixed);
      expect(keptTokens).toBe(fixed.flatMap((one) => one.responseTokens).reduce((sum, one) => sum + one, 0));
      expect([kept.longKept, kept.redrawnResponses]).toEqual([kept.longFixed, 0]);
      const { promptsPerRound, engines, cost } = job;
      const bound = clairvoyantLowerBound(fixed, promptsPerRound, engines, cost).totalSeconds;
      expect(rolloutSeconds).toBeGreaterThanOrEqual(bound * (1 - 1e-9));
      const ratio = rolloutSeconds / bestSeconds(fixed, promptsPerRound, engines, cost);
      ratios.push(ratio);
      // Where few run at once, three long ones of a round take as long as four would.
      expect(ratio).toBeLessThanOrEqual(4 / 3);
    }),
    runs(400),
  );
  expect(ratios.reduce((sum, one) => sum + one, 0) / ratios.length).toBeLessThan(1.02);
});

test('places are a permutation inside equal windows, the longest response first', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 5 }),
      (lengths, promptsPerRound, windowRounds) => {
        const fixed = lengths.map((tokens) => ({ promptTokens: 1, responseTokens: [1, tokens] }));
        const order = clairvoyantWindows(fixed, promptsPerRound, windowRounds);
        expect([...order].sort((a, b) => a - b)).toEqual(lengths.map((_, index) => index));
        order.forEach((place, index) => {
          // Nobody moves further than a window is long.
          expect(Math.abs(place - index)).toBeLessThan(windowRounds * promptsPerRound);
          if (windowRounds === 1) {
            expect(Math.floor(place / promptsPerRound)).toBe(Math.floor(index / promptsPerRound));
          }
        });
        const whole = clairvoyantWindows(fixed, promptsPerRound, 1000).map((place) => lengths[place]!);
        expect(whole).toEqual([...lengths].sort((a, b) => b - a));
      },
    ),
    runs(100),
  );
});

/** The same prompts in another order, drawn by a number. */
function shuffledWorkload(workload: Workload, prompts: number, seed: number): Workload {
  const order = Array.from({ length: prompts }, (_, index) => index);
  for (let last = prompts - 1; last > 0; last -= 1) {
    const other = pickIndex(last + 1, seed, last);
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return {
    ...workload,
    prompt: (index) => ({ ...workload.prompt(order[index] ?? index), place: order[index] ?? index }),
  };
}

const { job: preset, capTokens } = jobPreset('qwen2.5-14b-16k');
const large: Job = { ...preset, engines: 4, promptsPerRound: 16 };
const cases: [string, Job, { trains?: boolean; oneStepOff?: boolean }][] = [
  ['rollout alone', large, {}],
  ['rewards and training beside it', large, { trains: true }],
  ['a one-step off-policy pipeline', withOneStepOff(large), { trains: true, oneStepOff: true }],
];

test.each(cases)('no order of the prompts drawn at random is better: %s', (_, job, kind) => {
  const prompts = 8 * job.promptsPerRound;
  const workload = rollpackerWorkload(capTokens, 3);
  const of = (given: Workload, windowRounds?: number): number => {
    const fixed = fixedPrompts(given, prompts, job.responsesPerPrompt);
    return oracleRun({ job, workload: given, ...kind, ...(windowRounds === undefined ? {} : { windowRounds }) }, fixed)
      .totalSeconds;
  };
  const oracle = of(workload);
  // Windows of one round leave every prompt in its round.
  for (let seed = 1; seed <= 6; seed += 1)
    expect(of(shuffledWorkload(workload, prompts, seed), 1)).toBeGreaterThan(oracle);
  // Nor does it matter in which order prompts come: windows are those of other prompts, and ties are broken by it.
  expect(Math.abs(of(shuffledWorkload(workload, prompts, 7)) / oracle - 1)).toBeLessThan(0.02);
});

test('a pipeline without any mechanism is slower, too', () => {
  const job = withOneStepOff(large);
  const workload = rollpackerWorkload(capTokens, 3);
  const prompts = 8 * job.promptsPerRound;
  const fixed = fixedPrompts(workload, prompts, job.responsesPerPrompt);
  const plain = simulate(job, oneStepOffAblation(job)[0]!, workload, { prompts, seed: 1, timeline: false });
  const oracle = oracleRun({ job, workload, trains: true, oneStepOff: true }, fixed);
  expect(oracle.totalSeconds).toBeLessThan(plain.totalSeconds);
  expect([oracle.maxLag, plain.maxLag]).toEqual([1, 1]);
  expect(oracle.staleTokens).toBe(oracle.keptTokens - oracle.steps[0]!.keptTokens);
});
