/** The trainer by hand: two replicas, passes before the gradients, one optimizer step. */
import { expect, test } from 'vitest';
import type { VocabularyDecision } from '../../../../../src/schemas/index.ts';
import { Trainer } from '../../../../../src/sim/cluster/machines/trainer.ts';
import { plainJob } from '../../../../support/simulator/host.ts';

const { cost } = plainJob(
  { promptsPerRound: 1, responsesPerPrompt: 1 },
  {
    trainBaseSeconds: 5,
    trainSecondsPerResponse: 0.5,
    trainSecondsPerToken: 0.01,
    referenceSecondsPerToken: 0.004,
    logProbSecondsPerToken: 0.001,
    referenceSwapSeconds: 0.25,
  },
);
const share = (replica: string, fetchId: string, samples: number, tokens: number) => ({
  fetchId,
  replica,
  groups: ['p'],
  samples,
  tokens,
});
const decided = (decision: object) => decision as VocabularyDecision;

test('work of a replica takes what it would take on all GPUs, times the replicas, and one swap of weights', () => {
  const trainer = new Trainer(['a', 'b'], cost);
  trainer.carryOut(decided({ type: 'train.fetch', roundId: 'r', ...share('a', 'a#0', 2, 100) }), 10);
  // Passes 0.5 + 2 · 0.5, gradients 2 · (1 + 1).
  expect(trainer.nextAt()).toBeCloseTo(15.5, 9);
  const shares = [share('a', 'a#1', 4, 200), share('b', 'b#0', 0, 0)];
  trainer.carryOut(decided({ type: 'train.finish', roundId: 'r', shares }), 12);
  const types = trainer.advanceTo(40).map((event) => (event as { fetchId?: string }).fetchId);
  expect(types.sort()).toEqual(['a#0', 'a#1', 'b#0']);
  expect(trainer.trained.filter((one) => one.endSeconds > one.startSeconds)).toMatchObject([
    { replica: 0, activity: 'reference', startSeconds: 10, endSeconds: 11.5 },
    { replica: 0, activity: 'train', startSeconds: 11.5, endSeconds: 15.5 },
    { replica: 0, activity: 'reference', startSeconds: 15.5, endSeconds: 18 },
    { replica: 0, activity: 'train', startSeconds: 18, endSeconds: 26 },
  ]);
  // That of a fetch does not count: it ran beside the rollout.
  expect(trainer.takePassSeconds()).toBeCloseTo(2.5, 9);
  expect(trainer.takePassSeconds()).toBe(0);

  trainer.carryOut(decided({ type: 'optimizer.step', roundId: 'r', updateId: 'update#0' }), 30);
  expect(trainer.advanceTo(35)).toMatchObject([
    { type: 'optimizer.stepped', at: 35, roundId: 'r', updateId: 'update#0' },
  ]);
  expect(trainer.nextAt()).toBe(Number.POSITIVE_INFINITY);
});
