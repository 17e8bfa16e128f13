import { describe, expect, test } from 'vitest';
import { readBundledTraces } from '../../../src/cli/files/traces.ts';
import { comparisonsOf } from '../../../src/cli/simulate/tasks.ts';
import { losslessScheduler } from '../../../src/sim/colocated/ablation.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { losslessTailScheduler, synchronousBaseline } from '../../../src/sim/colocated/scheduler.ts';
import type { RunResult } from '../../../src/sim/comparison/result.ts';
import { jobPreset } from '../../../src/sim/models/presets.ts';
import { inEpochs } from '../../../src/sim/workload/epochs.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { plainJob, plainWorkload } from '../../support/simulator/host.ts';

const job = plainJob({ promptsPerRound: 4, responsesPerPrompt: 2 });
/** Every fifth prompt has long responses in each epoch; the others are short. */
const lengths = plainWorkload((prompt, k) => (prompt % 5 === 0 ? 900 : 100) + ((prompt * 7 + k * 3) % 20));
const returning = inEpochs(lengths, 40, 1);
const run = (scheduler: ReturnType<typeof synchronousBaseline>, workload = returning): RunResult =>
  simulate(job, scheduler, workload, { prompts: 160, seed: 1, timeline: false, validate: true, longTokens: 900 });

const rolloutsOf = ({ steps }: RunResult, from: number): number =>
  steps.slice(from).reduce((sum, one) => sum + one.rolloutSeconds, 0);

describe('lossless tail', () => {
  test('where no prompt comes back it is the synchronous baseline, round by round', () => {
    const mine = run(losslessTailScheduler(job), lengths);
    const baseline = run(synchronousBaseline(job), lengths);
    expect(mine.steps.map((one) => one.rolloutSeconds)).toEqual(baseline.steps.map((one) => one.rolloutSeconds));
  });

  test('where prompts come back it trains the same tokens, with a few long rounds in each window', () => {
    const mine = run(losslessTailScheduler(job, { windowRounds: 10 }));
    const baseline = run(synchronousBaseline(job));
    expect(mine.keptTokens).toBe(baseline.keptTokens);
    expect([mine.kept.longKept, mine.kept.redrawnResponses]).toEqual([mine.kept.longFixed, 0]);
    // The data set is a window: the first epoch is that of the baseline.
    expect(rolloutsOf(mine, 0) - rolloutsOf(mine, 10)).toBeCloseTo(
      rolloutsOf(baseline, 0) - rolloutsOf(baseline, 10),
      6,
    );
    // Eight long prompts of forty: two rounds of ten are long, where without the policy nearly all are.
    for (const epoch of [10, 20, 30]) {
      const long = mine.steps.slice(epoch, epoch + 10).filter((one) => one.maxResponseTokens > 500);
      expect(long.length).toBeLessThanOrEqual(3);
    }
    expect(rolloutsOf(mine, 10)).toBeLessThan(0.6 * rolloutsOf(baseline, 10));
  });

  test('with one round a window it is the synchronous baseline, too', () => {
    const mine = run(losslessTailScheduler(job, { windowRounds: 1 }));
    expect(rolloutsOf(mine, 0)).toBeCloseTo(rolloutsOf(run(synchronousBaseline(job)), 0), 6);
  });

  test('it refuses filters, as lengths do not give rewards', () => {
    expect(refusal(() => losslessTailScheduler(job, { filter: 'host' }))).toMatchObject({
      code: 'infeasible',
      path: 'filter',
    });
  });

  test('beside rollpacker it is rollpacker with its composition, rewards and training included', () => {
    const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
    const small = { ...preset, promptsPerRound: 4, engines: 2 };
    const workload = inEpochs({ ...lengths, capTokens }, 40, 1);
    const options = { prompts: 120, seed: 1, timeline: false, validate: true };
    const mine = simulate(small, losslessScheduler(small), workload, options);
    expect(mine.trainedPrompts).toBe(120);
    const long = mine.steps.slice(20).filter((one) => one.maxResponseTokens > 500);
    expect(long.length).toBeLessThanOrEqual(3);
    expect(losslessScheduler(job).trains).toBeUndefined();
  });

  test('simulate shows it where prompts come back, with as many epochs as were asked for', () => {
    const { job: preset, capTokens } = jobPreset('qwen2.5-7b-8k');
    const input = {
      ...{ job: { ...preset, promptsPerRound: 8, engines: 2 }, capTokens, traces: readBundledTraces().slice(1) },
      ...{ factors: { promptSpeculation: 1.25, responseSpeculation: 1.25 }, steps: 4, seeds: 1, seed: 1 },
      ...{ resampling: 'copula' as const, correlation: 0.3 },
    };
    const runs = (epochs?: number) => {
      const [prepared] = comparisonsOf(epochs === undefined ? input : { ...input, epochs });
      return prepared!.compared(Array.from({ length: prepared!.totalRuns }, (_, place) => prepared!.make(place)));
    };
    expect(runs().schedulers.map((one) => one.scheduler)).toEqual(['baseline', 'tail-batching']);
    const { schedulers, workload } = runs(2);
    expect(schedulers.map((one) => one.scheduler)).toEqual(['baseline', 'tail-batching', 'lossless-tail']);
    expect(schedulers[2]!.keptTokenRatio).toBeCloseTo(1, 12);
    expect(workload.prompts).toBe(16);
  });
});
