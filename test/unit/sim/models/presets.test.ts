/** The presets are whole, frozen, and what RollPacker §6 says of them. */
import { describe, expect, it, test } from 'vitest';
import { defineJob } from '../../../../src/sim/colocated/job.ts';
import { jobPreset, jobPresetIds, jobPresets, rollpackerWorkload } from '../../../../src/sim/models/presets.ts';

describe('presets', () => {
  it('are those of RollPacker §6: P0 = 128, R0 = 8, on 16, 32 and 64 GPUs', () => {
    expect(jobPresets.map((one) => one.id)).toEqual(jobPresetIds);
    expect(jobPresets.map(({ job }) => job.engines * job.cost.gpus)).toEqual([16, 32, 64]);
    expect(jobPresets.map((one) => one.capTokens)).toEqual([8192, 16_384, 32_768]);
    for (const { job } of jobPresets) expect(job).toMatchObject({ promptsPerRound: 128, responsesPerPrompt: 8 });
  });

  it.each(jobPresetIds)('%s is a job that a user could have written, and cannot be changed', (id) => {
    const { job, label } = jobPreset(id);
    expect(defineJob(job)).toEqual(job);
    expect(job.name).toBe(label);
    expect(Object.isFrozen(job)).toBe(true);
    // A response at the cap fits an engine.
    expect(job.cost.kvCapacityTokens).toBeGreaterThan(2 * jobPreset(id).capTokens);
  });
});

test('the same seed gives the same lengths under every cap, cut there', () => {
  const [short, long] = [rollpackerWorkload(1000, 4), rollpackerWorkload(30_000, 4)];
  let cut = 0;
  for (let index = 0; index < 200; index += 1) {
    const [one, other] = [short.prompt(index).sample(0), long.prompt(index).sample(0)];
    expect(one.tokens).toBe(Math.min(1000, other.tokens));
    expect(one.capped).toBe(one.tokens === 1000);
    if (one.capped) cut += 1;
    expect(short.prompt(index).promptTokens).toBe(long.prompt(index).promptTokens);
    expect(short.prompt(index).promptTokens).toBeGreaterThanOrEqual(40);
    expect(short.prompt(index).promptTokens).toBeLessThanOrEqual(1200);
  }
  expect(cut).toBeGreaterThan(20);
});
