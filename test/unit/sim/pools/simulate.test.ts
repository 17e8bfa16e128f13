import { describe, expect, test } from 'vitest';
import { simulatePools } from '../../../../src/sim/pools/driver.ts';
import {
  cgpScheduler,
  fgdScheduler,
  poolsScheduler,
  rolloutpipeScheduler,
  serialBaseline,
} from '../../../../src/sim/pools/scheduler.ts';
import { definePoolsJob } from '../../../../src/sim/pools/settings.ts';
import { refusal } from '../../../support/basics/refusal.ts';
import {
  fourGroupsJob as job,
  fourGroups as lengths,
  recorded,
  steadyJob,
  workloadOf,
} from '../../../support/simulator/pools.ts';

const options = { rounds: 1, seed: 1 };
const run = (scheduler = serialBaseline, rounds = 1, given = lengths) =>
  simulatePools(job, scheduler, workloadOf(given), { rounds, seed: 1, validate: true });

describe('a round by hand', () => {
  test('serial: training begins when the last group has its rewards', () => {
    const [round] = run().rounds;
    expect(round).toMatchObject({
      rolloutSeconds: 90,
      rewardedSeconds: 90.5,
      firstBatchSeconds: 20.5,
      firstDispatchSeconds: 90.5,
      recoverySeconds: 70,
      waitSeconds: 90.5,
      computeSeconds: 27,
      mainSeconds: 117.5,
      publishSeconds: 3,
      endSeconds: 120.5,
      groups: 4,
      updates: 4,
      responses: 8,
      tokens: 270,
      maxResponseTokens: 90,
      mostInService: 8,
      starved: 0,
    });
    expect(round).not.toHaveProperty('width');
    expect(round!.startWaitingRatio).toBeCloseTo(90.5 / 117.5, 12);
    expect(round!.computeWaitingRatio).toBeCloseTo(90.5 / 117.5, 12);
  });

  test('CGP: groups are trained as they are complete, in that order', () => {
    // 20.5 to 24.5, 30.5 to 35.5, 50.5 to 58.5, 90.5 to 100.5.
    const [round] = run(cgpScheduler).rounds;
    expect(round).toMatchObject({ rolloutSeconds: 90, firstDispatchSeconds: 20.5, recoverySeconds: 70 });
    expect(round).toMatchObject({ mainSeconds: 100.5, waitSeconds: 73.5, computeSeconds: 27 });
    expect(round!.startWaitingRatio).toBeCloseTo(20.5 / 100.5, 12);
    expect(round!.computeWaitingRatio).toBeCloseTo(73.5 / 100.5, 12);
    expect(round!.wallClockWaitingRatio).toBeCloseTo(73.5 / 100.5, 12);
  });

  test('CGP + FGD: two groups at once, the next one when one is complete', () => {
    // In service: 0 to 50, 0 to 20, 20 to 110, 50 to 80. Trained from 20.5, 50.5, 80.5 and 110.5.
    const [round] = run(rolloutpipeScheduler(2)).rounds;
    expect(round).toMatchObject({ rolloutSeconds: 110, firstDispatchSeconds: 20.5, mainSeconds: 120.5 });
    expect(round).toMatchObject({ width: 2, mostInService: 4 });
  });

  test('an optimizer step stands between two updates, and is neither wait nor compute', () => {
    const stepping = { ...job, cost: { ...job.cost, trainBaseSeconds: 2 } };
    const [round] = simulatePools(stepping, serialBaseline, workloadOf(lengths), options).rounds;
    expect(round).toMatchObject({ mainSeconds: 125.5, waitSeconds: 90.5, computeSeconds: 27 });
    expect(round!.computeWaitingRatio).toBeCloseTo(90.5 / 117.5, 12);
    expect(round!.wallClockWaitingRatio).toBeCloseTo(90.5 / 125.5, 12);
  });

  test('the last update of a round may be smaller', () => {
    const pairs = steadyJob({ groupsPerRound: 3, globalBatchSamples: 4 });
    const [round] = simulatePools(pairs, cgpScheduler, workloadOf(lengths), options).rounds;
    // 20 and 50 together at 50.5, 12 s; 90 alone at 90.5, 10 s.
    expect(round).toMatchObject({ updates: 2, firstDispatchSeconds: 50.5, mainSeconds: 100.5 });
  });

  test('a round opens when the engines have the weights of the one before', () => {
    const { rounds, totalSeconds } = run(cgpScheduler, 2, [...lengths, ...lengths]);
    expect(rounds[1]).toMatchObject({ startSeconds: 103.5, mainSeconds: 100.5, endSeconds: 207 });
    expect(totalSeconds).toBe(207);
  });

  test('seconds before the first token belong to the round, and not to its main time', () => {
    const slow = { ...job, cost: { ...job.cost, fixedRolloutSeconds: 5 } };
    const [round] = simulatePools(slow, serialBaseline, workloadOf(lengths), options).rounds;
    expect(round).toMatchObject({ startSeconds: 0, mainSeconds: 117.5, endSeconds: 125.5 });
  });

  test('a request goes to the engine that has fewest', () => {
    const two = steadyJob({ groupsPerRound: 4, engines: 2 });
    const { rows } = simulatePools(two, serialBaseline, workloadOf(lengths), options);
    // Of each group the first response is on one engine, the second on the other.
    expect(rows.map((row) => [row.rowId, row.pool, row.busySeconds])).toEqual([
      ['engine-0', 'rollout', 30],
      ['engine-1', 'rollout', 90],
      ['trainer', 'trainer', 27],
    ]);
  });
});

test('timelines: the engine rolls out and takes weights, the trainer has a bar for each update', () => {
  const { rows } = run(cgpScheduler);
  expect(rows[0]!.timeline.map((one) => [one.activity, one.startSeconds, one.endSeconds]).at(0)).toEqual([
    'rollout',
    0,
    10,
  ]);
  expect(rows[0]!.timeline.at(-1)).toMatchObject({ activity: 'sync', startSeconds: 100.5, endSeconds: 103.5 });
  expect(rows[1]!.timeline.map((one) => [one.activity, one.startSeconds, one.endSeconds])).toEqual([
    ['train', 20.5, 24.5],
    ['train', 30.5, 35.5],
    ['train', 50.5, 58.5],
    ['train', 90.5, 100.5],
    ['sync', 100.5, 103.5],
  ]);
  const without = simulatePools(job, cgpScheduler, workloadOf(lengths), { ...options, timeline: false });
  expect(without.rows.map((row) => row.timeline)).toEqual([[], []]);
  expect(without.rounds).toEqual(run(cgpScheduler).rounds);
});

test('with both switches off it is the serial baseline, as with a frontier that is as wide as the round', () => {
  const off = poolsScheduler('serial', 'off', false, 'all');
  expect(run(off)).toEqual(run());
  const plain = ({ width: _, ...round }: ReturnType<typeof run>['rounds'][number]) => round;
  expect(run(fgdScheduler(4)).rounds.map(plain)).toEqual(run().rounds);
  expect(run(rolloutpipeScheduler(4)).rounds.map(plain)).toEqual(run(cgpScheduler).rounds);
});

test('updates are whole groups, each in one, and the policies hear of each once', () => {
  const { scheduler, events, decisions } = recorded(rolloutpipeScheduler(2));
  run(scheduler, 2, [...lengths, ...lengths]);
  const of = <T>(list: readonly { type: string }[], type: string): T[] =>
    list.filter((one) => one.type === type) as T[];
  const trained = of<{ groups: string[] }>(decisions, 'train.dispatch').flatMap((one) => one.groups);
  expect([...trained].sort()).toEqual(['g0', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6', 'g7']);
  const consumed = of<{ groups: string[] }>(events, 'update.consumed').flatMap((one) => one.groups);
  expect(consumed).toEqual(trained);
  expect(of(events, 'response.completed')).toHaveLength(16);
  expect(of(events, 'reward.ready')).toHaveLength(16);
  expect(of(decisions, 'weights.publish')).toHaveLength(2);
});

describe('bad input', () => {
  test.each([
    ['rounds', { rounds: 0, seed: 1 }],
    ['rounds', { rounds: 1.5, seed: 1 }],
    ['seed', { rounds: 1, seed: Number.NaN }],
  ])('%s', (path, bad) => {
    expect(refusal(() => simulatePools(job, serialBaseline, workloadOf(lengths), bad))).toMatchObject({
      code: 'invalid_input',
      path,
    });
  });

  test('a batch that is no multiple of the group size, and unknown settings', () => {
    const { cost } = job;
    const input = { name: 'x', groupsPerRound: 4, responsesPerPrompt: 2, globalBatchSamples: 3, cost };
    expect(refusal(() => definePoolsJob(input))).toMatchObject({ code: 'invalid_config', path: 'globalBatchSamples' });
    const more = { ...input, globalBatchSamples: 4, more: 1 } as never;
    expect(refusal(() => definePoolsJob(more))).toMatchObject({ code: 'invalid_config' });
  });

  test('a response that can never fit an engine', () => {
    const small = { ...job, cost: { ...job.cost, kvCapacityTokens: 80 } };
    expect(refusal(() => simulatePools(small, serialBaseline, workloadOf(lengths), options))).toMatchObject({
      code: 'infeasible',
    });
  });
});
