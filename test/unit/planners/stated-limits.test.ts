/** Limits that READMEs of planners and policies state. */
import { expect, test } from 'vitest';
import {
  completeGroupPipelining,
  create,
  flexUlysses,
  gradientRenormalization,
  grpoAdvantages,
  microBatches,
  runPlanner,
  streamTraining,
} from '../../../src/index.ts';
import { refusal } from '../../support/basics/refusal.ts';

test('rewards are within ±1e100: what is computed from them is a number, and what is beyond is refused', () => {
  const rewards = [1e100, -1e100, 1e100];
  for (const baseline of ['group', 'leave-one-out'] as const) {
    const [group] = runPlanner(grpoAdvantages, { groups: [{ rewards }], baseline }).groups;
    for (const value of [group!.mean, group!.std, ...group!.advantages]) expect(value).toSatisfy(Number.isFinite);
  }
  for (const reward of [1.1e100, -1.1e100]) {
    expect(refusal(() => runPlanner(grpoAdvantages, { groups: [{ rewards: [0, reward] }] }))).toMatchObject({
      code: 'invalid_input',
      path: 'groups[0].rewards[1]',
    });
    const pipeline = create(completeGroupPipelining, {
      responsesPerPrompt: 1,
      globalBatchSamples: 1,
      maxTokensPerGpu: 10,
    });
    pipeline.send({ type: 'round.opened', at: 0, roundId: 'r', kind: 'long', weightVersion: 0, prompts: [] });
    const responses = [{ requestId: 'a/0#0', tokens: 5, reward }];
    const group = { promptId: 'a', roundId: 'r', samples: 1, tokens: 5, responses };
    const reason = { code: 'all_rewarded', responses: 1, missing: 0, waitedSeconds: 0 } as const;
    const rewarded = { type: 'group.rewarded', at: 0, ...group, reason } as const;
    expect(refusal(() => pipeline.send(rewarded))).toMatchObject({
      code: 'invalid_event',
      path: 'responses[0].reward',
    });
  }
});

test('a sequence of no tokens costs nothing, whatever the cost model says of it', () => {
  const models = [
    { base: 5, perTokenSquared: 1 },
    [
      { tokens: 0, value: 5 },
      { tokens: 100, value: 9 },
    ],
  ];
  for (const compute of models) {
    const alone = runPlanner(flexUlysses, { lengths: [0, 0], devices: 2, costs: { compute } });
    expect(alone.metrics).toMatchObject({ maxCompute: 0, communication: 0 });
    const plan = runPlanner(microBatches, { lengthsByRank: [[0, 0]], maxTokensPerMicroBatch: 10, compute });
    expect(plan.ranks[0]!.microBatches.map((one) => one.work)).toEqual([0]);
  }
});

test('a constant divisor: local sums in stream-training, means too where counts are given', () => {
  const replicas = [{ id: 'a', gpuIds: ['g0'] }];
  const config = { replicas, groupsPerRound: 1, unit: 'constant', divisor: 4 } as const;
  expect(refusal(() => create(streamTraining, { ...config, reduction: 'mean' }))).toMatchObject({
    code: 'invalid_config',
    path: 'reduction',
  });
  create(streamTraining, { ...config, reduction: 'sum' });
  const given = { replicas: [{ samples: 2 }, { samples: 6 }], unit: 'constant' as const, divisor: 4 };
  expect(runPlanner(gradientRenormalization, { ...given, reduction: 'mean', collective: 'sum' }).factors).toEqual([
    0.5, 1.5,
  ]);
  expect(runPlanner(gradientRenormalization, { ...given, reduction: 'sum', collective: 'sum' }).factors).toEqual([
    0.25, 0.25,
  ]);
});
