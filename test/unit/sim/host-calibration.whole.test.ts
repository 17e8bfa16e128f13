import { describe, expect, it } from 'vitest';
import { bars, errorsOf, fitBar, wholePeriods } from '../../../bench/calibration.ts';
import { rollpackerLengths, rollpackerWorkload } from '../../../src/sim/presets.ts';

describe('the frozen calibration', () => {
  it('is within 25 % of every bar of RollPacker Figure 12, and within 12 % on average', () => {
    const fits = bars.map((bar) => fitBar(bar, wholePeriods, [1]));
    for (const fit of fits) {
      const { preset, promptSpeculation, responseSpeculation, error } = fit;
      expect(Math.abs(error), `${preset} ${promptSpeculation} ${responseSpeculation}`).toBeLessThan(0.25);
    }
    expect(errorsOf(fits).mean).toBeLessThan(0.12);
    // The baselines set the scale of each job: they were calibrated by themselves.
    expect(errorsOf(fits.filter((fit) => fit.promptSpeculation * fit.responseSpeculation > 1)).mean).toBeLessThan(0.12);
  });

  it('has the length distribution of RollPacker Figure 2', () => {
    const workload = rollpackerWorkload(16_384, 1);
    const lengths: number[] = [];
    for (let index = 0; index < 4000; index += 1) {
      const prompt = workload.prompt(index);
      for (let k = 0; k < 8; k += 1) lengths.push(prompt.sample(k).tokens);
    }
    lengths.sort((a, b) => a - b);
    const at = (share: number) => lengths[Math.floor(share * lengths.length)]!;
    const beyond = (tokens: number) => lengths.filter((one) => one > tokens).length / lengths.length;
    expect(at(0.75)).toBeGreaterThan(755);
    expect(at(0.75)).toBeLessThan(1100);
    expect(beyond(2000)).toBeGreaterThan(0.095);
    expect(beyond(2000)).toBeLessThan(0.13);
    expect(beyond(4000)).toBeGreaterThan(0.03);
    expect(beyond(4000)).toBeLessThan(0.052);
    expect(lengths[lengths.length - 1]! / at(0.5)).toBeGreaterThan(25);
    expect(lengths[lengths.length - 1]! / at(0.5)).toBeLessThan(32);
    expect(rollpackerLengths.correlation).toBe(0.22);
  });
});
