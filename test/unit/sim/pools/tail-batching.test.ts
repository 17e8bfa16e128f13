import { describe, expect, test } from 'vitest';
import { comparePools } from '../../../../src/sim/pools/compare.ts';
import { simulatePools } from '../../../../src/sim/pools/driver.ts';
import { rolloutpipeJob, rolloutpipeWorkload } from '../../../../src/sim/pools/presets.ts';
import { cgpScheduler, poolsTailScheduler, serialBaseline } from '../../../../src/sim/pools/scheduler.ts';
import { steadyJob, workloadOf } from '../../../support/simulator/pools.ts';

// Groups are complete after 20, 40 and 90 s; a try after a deferral has another sample.
const later = (first: number[], second: number[]): number[] =>
  Object.assign([...first], { 1024: second[0], 1025: second[1] });
const lengths = [[10, 20], [30, 40], later([5, 90], [50, 60]), [20, 20], [20, 30], later([80, 90], [70, 80])];
const job = steadyJob({ groupsPerRound: 2 });
const factors = { promptSpeculation: 1.5, responseSpeculation: 1 };
const run = (pipelining: boolean, rounds: number, width: number | 'all' = 'all') =>
  simulatePools(job, poolsTailScheduler(pipelining, width, factors), workloadOf(lengths), {
    rounds,
    seed: 1,
    validate: true,
  });

describe('tail batching on pools, by hand', () => {
  test('a short round ends with the P0-th prompt, and trains on what counts', () => {
    const [round] = run(false, 1).rounds;
    expect(round).toMatchObject({ kind: 'short', groups: 2, responses: 4, tokens: 100, updates: 2 });
    // 40 s of rollout, half a second for the last reward, 3 + 7 s of training.
    expect(round).toMatchObject({
      rolloutSeconds: 40,
      firstDispatchSeconds: 40.5,
      mainSeconds: 50.5,
      waitSeconds: 40.5,
    });
  });

  test('with pipelining the first group is trained while the second is generated', () => {
    const [round] = run(true, 1).rounds;
    expect(round).toMatchObject({
      rolloutSeconds: 40,
      firstDispatchSeconds: 20.5,
      mainSeconds: 47.5,
      computeSeconds: 10,
    });
  });

  test('deferred prompts come in a long round, without speculation', () => {
    const { rounds } = run(true, 3);
    expect(rounds.map((one) => one.kind)).toEqual(['short', 'short', 'long']);
    // 50, 60, 70 and 80 tokens.
    expect(rounds[2]).toMatchObject({ groups: 2, responses: 4, tokens: 260, rolloutSeconds: 80 });
  });

  test('a frontier of one takes prompts in their order: what has not run is deferred', () => {
    const [round] = run(true, 1, 1).rounds;
    expect(round).toMatchObject({ groups: 2, tokens: 100, rolloutSeconds: 60, mostInService: 2, width: 1 });
  });
});

test('a comparison says what tail batching leaves out, and keeps it apart from the shares of RolloutPipe', () => {
  const compared = comparePools({
    job: rolloutpipeJob(8),
    workload: (seed) => rolloutpipeWorkload('sci-xw', seed),
    rounds: 5,
    seeds: [1],
    schedulers: [serialBaseline, cgpScheduler, poolsTailScheduler(false), poolsTailScheduler(true, 14)],
    timeline: false,
  });
  const [, cgp, tail, both] = compared.schedulers;
  expect([cgp!.keptTokenRatio, cgp!.longShare]).toEqual([1, 1]);
  for (const one of [tail!, both!]) {
    expect(one).toMatchObject({ tailBatching: true, longShare: 0.2 });
    expect(one.keptTokenRatio).toBeLessThan(1);
  }
  const [serial] = compared.schedulers;
  expect(serial!.equalTokenSpeedup).toMatchObject({ value: 1, low: 1, high: 1 });
  for (const one of [serial!, cgp!]) {
    expect(one).toMatchObject({ longestKeptShare: 1, longestTrainedRatio: 1, redrawnShare: 0, maxLag: 0 });
    expect(one.evenGroupShare).toBe(serial!.evenGroupShare);
  }
  const perToken = ({ mainSeconds, meanResponseTokens }: typeof tail & object) =>
    mainSeconds.value / meanResponseTokens;
  for (const one of [tail!, both!]) {
    expect(one.equalTokenSpeedup.value).toBeCloseTo(perToken(serial!) / perToken(one), 9);
    expect(one.longestKeptShare).toBeLessThan(1);
    // The fifth round trains what four have deferred.
    expect(one.redrawnShare).toBeCloseTo(0.2, 9);
    expect(one.maxLag).toBe(0);
  }
  expect(compared.schedulers.flatMap(({ runs }) => runs.map((run) => run.kept.rewardedGroups))).toEqual([
    40, 40, 40, 40,
  ]);
  expect(compared.notes.join()).toContain('bad luck is thrown away: up to 20 % of the responses trained on');
  expect(compared.shares).toEqual([]);
  expect(compared.notes.join()).toContain('shorter responses are kept');
  expect(compared.schedulers.map((one) => one.scheduler)).toEqual(['serial', 'cgp', 'tail', 'tail-cgp-fgd-14']);
});
