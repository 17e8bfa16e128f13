/** Whether responses are correct: by prompt, as recorded, and the same whoever asks. */
import { describe, expect, it } from 'vitest';
import { Correctness } from '../../../src/sim/rewards/correctness.ts';
import { plainRewards, RewardModel } from '../../../src/sim/rewards/model.ts';
import { tracedWorkload } from '../../../src/sim/workload/traced.ts';

const prompts = 3000;
const group = 8;
const shareOf = (correctShare: number, correctCorrelation: number) => {
  const correctness = new Correctness({ correctShare, correctCorrelation }, 7);
  let [correct, even] = [0, 0];
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    let solved = 0;
    for (let k = 0; k < group; k += 1) if (correctness.isCorrect(prompt, k)) solved += 1;
    correct += solved;
    if (solved === 0 || solved === group) even += 1;
  }
  return { correct: correct / prompts / group, even: even / prompts };
};

describe('correctness', () => {
  it('has the share that was asked for, however prompts differ', () => {
    for (const correlation of [0, 0.5, 0.9]) {
      expect(shareOf(0.3, correlation).correct).toBeCloseTo(0.3, 1);
      expect(shareOf(0, correlation).correct).toBe(0);
      expect(shareOf(1, correlation).correct).toBe(1);
    }
  });

  it('is spread evenly over prompts at 0.5 and 0.5: two groups of nine have no variance', () => {
    // Solve rates that are uniform on 0 to 1: ∫ p⁸ + (1 − p)⁸ = 2/9.
    expect(shareOf(0.5, 0.5).even).toBeCloseTo(2 / 9, 1);
    // One rate for all: 2 · 0.5⁸.
    expect(shareOf(0.5, 0).even).toBeLessThan(0.02);
    expect(shareOf(0.5, 0.9).even).toBeGreaterThan(0.5);
  });

  it('is what the trace has recorded, where it has', () => {
    const workload = tracedWorkload({
      name: 't',
      prompts: [
        {
          prompt: 'p',
          responses: [
            { tokens: 50, correct: true },
            { tokens: 300, correct: false },
          ],
        },
      ],
      capTokens: 200,
      seed: 1,
    });
    const { sample } = workload.prompt(0);
    expect(sample(0)).toEqual({ tokens: 50, capped: false, correct: true });
    // Cut by another cap than that of the trace, it is another response.
    expect(sample(1)).toEqual({ tokens: 200, capped: true });
    const model = new RewardModel({ ...plainRewards, correctShare: 0 }, 1);
    expect(model.work('rule', { promptIndex: 0, sample: 0, tokens: 50, correct: true }).reward).toBe(1);
    expect(model.work('rule', { promptIndex: 0, sample: 0, tokens: 50 }).reward).toBe(0);
  });
});
