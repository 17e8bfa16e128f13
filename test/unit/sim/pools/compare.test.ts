import { describe, expect, test } from 'vitest';
import { comparePools, poolsSchedulers } from '../../../../src/sim/pools/compare.ts';
import { type poolsTaskIds, rolloutpipeJob, rolloutpipeWorkload } from '../../../../src/sim/pools/presets.ts';
import {
  cgpScheduler,
  fgdScheduler,
  rolloutpipeScheduler,
  serialBaseline,
} from '../../../../src/sim/pools/scheduler.ts';
import { refusal } from '../../../support/basics/refusal.ts';
import { fourGroupsJob as job, fourGroups as lengths, workloadOf } from '../../../support/simulator/pools.ts';

const compared = comparePools({
  job,
  workload: () => workloadOf([...lengths, ...lengths]),
  rounds: 2,
  seeds: [1],
  schedulers: [serialBaseline, cgpScheduler, fgdScheduler(2), rolloutpipeScheduler(2), rolloutpipeScheduler(3)],
});
const [serial, cgp, fgd, two, three] = compared.schedulers as [
  (typeof compared.schedulers)[0],
  (typeof compared.schedulers)[0],
  (typeof compared.schedulers)[0],
  (typeof compared.schedulers)[0],
  (typeof compared.schedulers)[0],
];

describe('a comparison', () => {
  test('has means over rounds, and reductions against the first scheduler', () => {
    expect(serial).toMatchObject({ scheduler: 'serial', roundSeconds: 120.5, waitSeconds: 90.5, publishSeconds: 3 });
    expect(serial.mainSeconds).toMatchObject({ value: 117.5, low: 117.5, high: 117.5 });
    expect(serial.reduction.value).toBe(0);
    expect(cgp.reduction.value).toBeCloseTo(1 - 100.5 / 117.5, 12);
    expect(two.reduction.value).toBeCloseTo(1 - 120.5 / 117.5, 12);
    expect(serial).not.toHaveProperty('meanWidth');
    expect(fgd.meanWidth).toBe(2);
    for (const one of compared.schedulers) expect(one).toMatchObject({ keptTokenRatio: 1, computeSeconds: 27 });
  });

  test('shares are of schedulers with both mechanisms that save something, and sum to 1', () => {
    // In service 0 to 50, 0 to 20, 0 to 90, 20 to 50: nothing is lost with three groups.
    expect(three.mainSeconds.value).toBeLessThanOrEqual(cgp.mainSeconds.value);
    expect(compared.shares.map((one) => one.scheduler)).toEqual(['cgp-fgd-3']);
    const [{ cgp: alone, fgd: added }] = compared.shares as [(typeof compared.shares)[0]];
    expect(alone + added).toBeCloseTo(1, 12);
    expect(alone).toBeCloseTo(cgp.reduction.value / three.reduction.value, 12);
  });

  test('says what is slower than serial, and what a frontier does not add', () => {
    expect(compared.notes).toContain(
      'CGP + FGD 2 is slower than serial: at most 4 requests run at once, which leaves the engines idle.',
    );
    const without = comparePools({
      job,
      workload: () => workloadOf(lengths),
      rounds: 1,
      seeds: [1],
      schedulers: [serialBaseline, cgpScheduler, rolloutpipeScheduler(2)],
    });
    expect(without.notes.some((note) => note.startsWith('A frontier adds nothing here'))).toBe(true);
    expect(without.shares).toEqual([]);
  });

  test('intervals resample seeds as pairs; timelines are those of the first seed', () => {
    const given = {
      job: rolloutpipeJob(8),
      workload: (seed: number) => rolloutpipeWorkload('sci-xw', seed),
      rounds: 2,
      seeds: [3, 4, 5],
      schedulers: [serialBaseline, cgpScheduler],
    };
    const one = comparePools(given);
    expect(comparePools(given)).toEqual(one);
    const { reduction, runs, mainDeviation } = one.schedulers[1]!;
    expect(reduction.low).toBeLessThan(reduction.value);
    expect(reduction.high).toBeGreaterThan(reduction.value);
    expect(mainDeviation).toBeGreaterThan(0);
    expect(runs.map((run) => run.rows[0]!.timeline.length > 0)).toEqual([true, false, false]);
  });

  test('by default: serial, each mechanism alone, and both', () => {
    expect(poolsSchedulers().map((one) => one.id)).toEqual(['serial', 'cgp', 'fgd-14', 'cgp-fgd-14', 'cgp-fgd-auto']);
    expect(poolsSchedulers('auto').map((one) => one.id)).toEqual(['serial', 'cgp', 'fgd-auto', 'cgp-fgd-auto']);
  });

  test.each([
    ['seeds', { seeds: [] }],
    ['seeds', { seeds: [1, 1] }],
    ['seeds', { seeds: [1.5] }],
    ['schedulers', { schedulers: [] }],
    ['schedulers', { schedulers: [cgpScheduler, cgpScheduler] }],
  ])('refuses bad %s', (path, bad) => {
    const options = { job, workload: () => workloadOf(lengths), rounds: 1, ...bad };
    expect(refusal(() => comparePools(options))).toMatchObject({ code: 'invalid_input', path });
  });
});

describe('RolloutPipe §5.1', () => {
  test('the job: one engine on two GPUs, K = 8, U = 2', () => {
    const made = rolloutpipeJob(96);
    expect(made).toMatchObject({ groupsPerRound: 96, responsesPerPrompt: 8, globalBatchSamples: 16, engines: 1 });
    expect([made.cost.gpus, made.trainerGpus]).toEqual([2, 8]);
    // 80 GB less weights, at 114,688 bytes a token.
    expect(made.cost.kvCapacityTokens).toBeGreaterThan(500_000);
    expect(refusal(() => rolloutpipeJob(0))).toMatchObject({ code: 'invalid_config', path: 'groupsPerRound' });
  });

  test('the tasks differ in their lengths and draws, and are fixed by the seed', () => {
    const tokens = (task: (typeof poolsTaskIds)[number], seed: number) =>
      Array.from({ length: 20 }, (_, index) => rolloutpipeWorkload(task, seed).prompt(index).sample(0).tokens);
    expect(tokens('lsat-ar', 1)).toEqual(tokens('lsat-ar', 1));
    expect(tokens('lsat-ar', 2)).not.toEqual(tokens('lsat-ar', 1));
    const scaled = tokens('sci-xw', 1).map((one, index) => one / tokens('lsat-ar', 1)[index]!);
    expect(Math.max(...scaled) / Math.min(...scaled)).toBeGreaterThan(1.5);
    expect(refusal(() => rolloutpipeWorkload('math' as never, 1))).toMatchObject({ code: 'unknown_id', path: 'task' });
  });
});
