/** The named workloads of agentic rollouts: determined by their seed, and with the medians that their shapes state. */
import { describe, expect, it } from 'vitest';
import { agenticPreset, agenticPresetIds, presetWorkload } from '../../../../src/sim/agentic/presets.ts';
import { agenticWorkload } from '../../../../src/sim/agentic/shape.ts';
import type { AgenticProgram } from '../../../../src/sim/agentic/workload.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1]!;
const finalContext = ({ contextTokens, turns }: AgenticProgram): number =>
  turns.reduce((sum, { generatedTokens, toolTokens = 0 }) => sum + generatedTokens + toolTokens, contextTokens);

describe('named workloads', () => {
  it('are at least eight, and refuse an unknown name with the nearest', () => {
    expect(agenticPresetIds.length).toBeGreaterThanOrEqual(8);
    expect(refusal(() => agenticPreset('swe-scarce'))).toMatchObject({ code: 'unknown_id', path: 'preset' });
    expect(() => agenticPreset('swe-scarce')).toThrow(/did you mean "swe-scarce-kv"/);
    expect(() => presetWorkload(agenticPreset('mixed'), 1.5)).toThrow(/a whole number/);
  });

  it.each(agenticPresetIds)('%s: the seed determines it, and every program fits an engine', (id) => {
    const preset = agenticPreset(id);
    const { programs } = presetWorkload(preset, 3);
    expect(JSON.stringify(presetWorkload(preset, 3).programs) === JSON.stringify(programs)).toBe(true);
    expect(programs).toHaveLength(preset.shapes.reduce((sum, { prompts, samples }) => sum + prompts * samples, 0));
    expect(new Set(programs.map(({ promptId }) => promptId)).size).toBe(
      preset.shapes.reduce((sum, { prompts }) => sum + prompts, 0),
    );
    const wrong = programs.filter((program) => {
      const { turns, contextTokens, sharedTokens } = program;
      const fits = finalContext(program) < preset.job.cost.kvCapacityTokens && contextTokens > sharedTokens!;
      const isLast = (at: number): boolean => at === turns.length - 1;
      return !fits || !turns.every((turn, at) => turn.generatedTokens >= 1 && (turn.tool === undefined) === isLast(at));
    });
    expect(wrong).toEqual([]);
  });

  it('have the medians of their shapes', () => {
    const preset = agenticPreset('swe-scarce-kv');
    const programs = [1, 2].flatMap((seed) => presetWorkload(preset, seed).programs);
    const turns = programs.flatMap((one) => one.turns);
    expect(Math.abs(median(programs.map((one) => one.turns.length)) - 29)).toBeLessThanOrEqual(2);
    expect(median(turns.map((one) => one.generatedTokens)) / 110).toBeCloseTo(1, 1);
    expect(median(turns.flatMap(({ toolTokens }) => toolTokens ?? [])) / 220).toBeCloseTo(1, 1);
    expect(median(turns.flatMap(({ toolSeconds }) => toolSeconds ?? [])) / 2).toBeCloseTo(1, 1);
  });

  it('have programs of a prompt that resemble each other, as far as their correlation says', () => {
    const [shape] = agenticPreset('customer-service').shapes;
    const within = (correlation: number): number => {
      const { programs } = agenticWorkload([{ ...shape!, correlation, turns: { median: 50, sigma: 0.5 } }], {
        name: 'w',
        source: 's',
        seed: 1,
      });
      const logs = programs.map((one) => Math.log(one.turns.length));
      const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length;
      const variance = logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / logs.length;
      let products = 0;
      for (let at = 0; at < logs.length; at += 16) products += (logs[at]! - mean) * (logs[at + 1]! - mean);
      return products / (logs.length / 16) / variance;
    };
    expect(within(0)).toBeLessThan(0.3);
    expect(within(0.9)).toBeGreaterThan(0.7);
  });
});
