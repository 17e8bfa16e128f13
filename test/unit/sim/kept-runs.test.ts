/** Hosts that keep runs and plans: the result is the same, and what is kept is not made again. */
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { bootstrap } from '../../../src/sim/comparison/statistics.ts';
import * as inBrowsers from '../../../src/sim/index.ts';
import * as all from '../../../src/sim/node.ts';

const { job: preset } = all.jobPreset('qwen2.5-7b-8k');
const job = { ...preset, promptsPerRound: 4, responsesPerPrompt: 2, engines: 2 };

describe('kept runs', () => {
  test('compare asks once for each run', () => {
    const options = { job, workload: (seed: number) => all.rollpackerWorkload(4096, seed), steps: 2, seeds: [1, 2] };
    const kept = new Map<string, all.RunResult>();
    let made = 0;
    const run = (scheduler: all.Scheduler, seed: number, simulate: () => all.RunResult): all.RunResult => {
      const key = `${scheduler.id} ${seed}`;
      if (!kept.has(key)) made += 1;
      kept.set(key, kept.get(key) ?? simulate());
      return kept.get(key)!;
    };
    const plain = all.compare(options);
    expect(all.compare({ ...options, run })).toEqual(plain);
    expect(all.compare({ ...options, run })).toEqual(plain);
    expect(made).toBe(6);
  });

  test('comparePools and compareVlm too', () => {
    const pools = {
      job: all.rolloutpipeJob(4, { responsesPerPrompt: 2, globalBatchSamples: 4 }),
      workload: (seed: number) => all.rolloutpipeWorkload('sci-jl', seed),
      rounds: 1,
      seeds: [1, 2],
      schedulers: [all.serialBaseline, all.cgpScheduler],
    };
    const asked: string[] = [];
    const withRun = all.comparePools({
      ...pools,
      run: ({ id }, seed, simulate) => {
        asked.push(`${id} ${seed}`);
        return simulate();
      },
    });
    expect(withRun).toEqual(all.comparePools(pools));
    expect(asked).toEqual(['serial 1', 'cgp 1', 'serial 2', 'cgp 2']);

    const text = all.textVlmWorkload(all.rollpackerWorkload(2048, 1), 2);
    const vlm = {
      job: all.defineVlmJob({ gpus: 4, batchSequences: 4 }),
      workload: text,
      steps: 2,
      schedulers: [all.verlBucketing, all.flexrlScheduler],
    };
    const placed: string[] = [];
    const withPlace = all.compareVlm({
      ...vlm,
      place: ({ id }, step, plan) => {
        placed.push(`${id} ${step}`);
        return plan();
      },
    });
    expect(withPlace).toEqual(all.compareVlm(vlm));
    expect(placed).toEqual(['verl-bucketing 0', 'verl-bucketing 1', 'flexrl 0', 'flexrl 1']);
  });

  test('of one case every resample is the case', () => {
    const asked: number[] = [];
    const statistic = (cases: readonly number[]): number => {
      asked.push(cases.length);
      return cases[0]! / 3;
    };
    expect(bootstrap([7], statistic, { seed: 1, confidence: 0.9 })).toEqual({
      value: 7 / 3,
      low: 7 / 3,
      high: 7 / 3,
      confidence: 0.9,
    });
    expect(asked).toEqual([1]);
  });
});

describe('the simulator for browsers', () => {
  test('has everything but what writes files', () => {
    const missing = Object.keys(all).filter((name) => !(name in inBrowsers));
    expect(missing.sort()).toEqual(['reportClient', 'writeReport']);
  });

  test('is bundled without Node', async () => {
    const { outputFiles, warnings } = await build({
      entryPoints: ['src/sim/index.ts'],
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'esm',
      logLevel: 'silent',
    });
    expect(warnings).toEqual([]);
    expect(outputFiles[0]!.text).not.toMatch(/from ["']node:/);
  });
});
