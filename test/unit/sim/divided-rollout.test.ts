import { expect, test } from 'vitest';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { dividedSettingsOf, losslessTailScheduler, synchronousBaseline } from '../../../src/sim/colocated/scheduler.ts';
import { jobPreset, rollpackerWorkload } from '../../../src/sim/models/presets.ts';

const { hardware: _, rewards: _rewards, ...preset } = jobPreset('qwen2.5-32b-32k').job;
const jobWith = (kvCapacityTokens: number) => ({
  ...preset,
  ...{ promptsPerRound: 16, responsesPerPrompt: 8, engines: 4 },
  cost: { ...preset.cost, kvCapacityTokens },
});

function measure(kvCapacityTokens: number, poolTokensPerSecond?: number) {
  const job = jobWith(kvCapacityTokens);
  const pool = poolTokensPerSecond === undefined ? {} : { poolTokensPerSecond };
  const divided = losslessTailScheduler(job, {
    windowRounds: 1,
    dividedRollout: { ...dividedSettingsOf(job), ...pool },
  });
  const options = { prompts: 32, seed: 1, timeline: false, validate: true };
  return [synchronousBaseline(job), divided].map((scheduler) => {
    const { steps } = simulate(job, scheduler, rollpackerWorkload(6000, 1), options);
    const sum = (of: (step: (typeof steps)[number]) => number) => steps.reduce((total, step) => total + of(step), 0);
    return {
      tokens: sum((step) => step.keptTokens),
      preemptions: sum((step) => step.preemptions),
      seconds: sum((step) => step.rolloutSeconds),
    };
  });
}

test.each([undefined, 200_000])(
  'scarce memory: the same responses, no preemptions, and less time (pool %s)',
  (pool) => {
    const [whole, divided] = measure(12_000, pool);
    expect(divided!.tokens).toBe(whole!.tokens);
    expect(whole!.preemptions).toBeGreaterThan(100);
    expect(divided!.preemptions).toBe(0);
    expect(divided!.seconds).toBeLessThan(whole!.seconds);
  },
);

test('ample memory: not slower by more than 1 %', () => {
  const [whole, divided] = measure(preset.cost.kvCapacityTokens);
  expect(whole!.preemptions).toBe(0);
  expect(divided!.seconds).toBeLessThan(1.01 * whole!.seconds);
});
