/** What the charts are given: small, and still true. */
import { describe, expect, it } from 'vitest';
import type { EngineResult, SchedulerResult, Segment } from '../../../../src/sim/comparison/result.ts';
import { alikeEngines } from '../../../../src/sim/report/alike.ts';
import { activities, type Bar, workloadData } from '../../../../src/sim/report/data.ts';
import { comparison, step } from '../../../support/simulator/comparison.ts';

const [baseline] = comparison.schedulers as [SchedulerResult];

/** The bars of one engine that lived through these segments. */
function barsOf(timeline: readonly Segment[]): readonly Bar[] {
  const engine = { ...baseline.runs[0]!.engines[0]!, timeline };
  const run = { ...baseline.runs[0]!, engines: [engine], totalSeconds: timeline[timeline.length - 1]!.endSeconds };
  return workloadData({ ...comparison, schedulers: [{ ...baseline, runs: [run] }] }).runs[0]!.engines[0]!.bars;
}

const rollout = (startSeconds: number, endSeconds: number, running: number): Segment => ({
  startSeconds,
  endSeconds,
  activity: 'rollout',
  running,
});

describe('bars', () => {
  it('are in place however short the job is', () => {
    for (const unit of [1e-6, 1e-3, 1, 1e4]) {
      const bars = barsOf([rollout(0, 3 * unit, 4), rollout(3 * unit, 4 * unit, 0), rollout(4 * unit, 10 * unit, 2)]);
      expect(bars.map(([start, end]) => [start / unit, end / unit])).toEqual([
        [0, expect.closeTo(3, 3)],
        [expect.closeTo(4, 3), expect.closeTo(10, 3)],
      ]);
    }
  });

  it('show a load that falls in many short pieces as falling', () => {
    // Ten rounds in a job of 2,000 seconds, whose engines empty within 0.9 s each, in pieces of 1/100 s.
    const pieces = Array.from({ length: 10 }, (_, round) =>
      Array.from({ length: 90 }, (_unused, index) =>
        rollout(round + index / 100, round + (index + 1) / 100, 90 - index),
      ),
    ).flat();
    const bars = barsOf([...pieces, { startSeconds: 10, endSeconds: 2000, activity: 'train', running: 0 }]);
    const load = (at: number) => bars.find(([start, end]) => start <= at && at < end)?.[3];
    for (let round = 0; round < 10; round += 1) {
      expect(load(round + 0.05)).toBeGreaterThan(0.9);
      expect(load(round + 0.5)).toBeLessThan(0.6);
      expect(load(round + 0.85)).toBeLessThan(0.3);
      expect(load(round + 0.95)).toBeUndefined();
    }
  });

  it('show at least the load that there was: a short rise is not lost in what came before', () => {
    const bars = barsOf([rollout(0, 0.0001, 1), rollout(0.0001, 0.0002, 6), rollout(0.0002, 100, 6)]);
    expect(bars).toEqual([[0, 100, 0, 1]]);
  });

  it('stay few: a timeline of a hundred thousand segments is drawn in some thousands', () => {
    const timeline = Array.from({ length: 100_000 }, (_, index) => rollout(index, index + 1, 1 + ((index * 7) % 60)));
    const bars = barsOf(timeline);
    expect(bars.length).toBeLessThan(20_001);
    expect(bars[0]![0]).toBe(0);
    expect(bars[bars.length - 1]![1]).toBe(100_000);
    bars.slice(1).forEach(([start], index) => {
      expect(start).toBe(bars[index]![1]);
    });
  });

  it('never join two activities, nor across a bubble', () => {
    const other = (startSeconds: number, activity: Segment['activity']): Segment => ({
      startSeconds,
      endSeconds: startSeconds + 0.001,
      activity,
      running: 0,
    });
    const bars = barsOf([
      other(0, 'reward'),
      other(0.001, 'train'),
      other(0.002, 'sync'),
      rollout(1, 50, 3),
      rollout(51, 100, 3),
    ]);
    expect(bars.map((bar) => activities[bar[2]])).toEqual(['reward', 'train', 'sync', 'rollout', 'rollout']);
  });
});

describe('runs', () => {
  it('are those of the first seed, with labels of people and numbers of GPUs', () => {
    const [first, second] = [baseline.runs[0]!, { ...baseline.runs[0]!, seed: 2, totalSeconds: 99 }];
    const engines = [1, 4, 1].map((gpus, index) => ({ ...first.engines[index % 2]!, engineId: `e${index}`, gpus }));
    const label = 'für Leser';
    const runs = [{ ...first, engines, steps: [step(0, 'short', 0, 4)] }, second];
    const data = workloadData({ ...comparison, schedulers: [{ ...baseline, label, runs }] });
    expect(data.name).toBe('by-hand');
    expect(data.runs).toHaveLength(1);
    expect(data.runs[0]).toMatchObject({ label, scheduler: 'synchronous', totalSeconds: first.totalSeconds });
    expect(data.runs[0]!.engines.map((one) => one.label)).toEqual(['2 of 6 GPUs', 'GPU 1–4']);
    expect(data.runs[0]!.steps).toEqual([
      {
        kind: 'short',
        startSeconds: 0,
        endSeconds: 10,
        rollout: 4,
        reward: 1,
        reference: 0,
        train: 4,
        sync: 1,
        queueDepth: 0,
      },
    ]);
  });

  it('work without timelines', () => {
    const run = { ...baseline.runs[0]!, engines: baseline.runs[0]!.engines.map((one) => ({ ...one, timeline: [] })) };
    const data = workloadData({ ...comparison, schedulers: [{ ...baseline, runs: [run] }] });
    expect(data.runs[0]!.engines.map(({ label, bars: all }) => [label, all])).toEqual([['GPU 0–3 alike', []]]);
  });
});

describe('engines that do about the same', () => {
  const engine = (engineId: string, busy: number, bubbleRatio: number): EngineResult => {
    const timeline: Segment[] = Array.from({ length: 10 }, (_, round) => [
      { startSeconds: 10 * round, endSeconds: 10 * round + busy, activity: 'rollout' as const, running: 3 },
      { startSeconds: 10 * round + busy, endSeconds: 10 * round + 10, activity: 'rollout' as const, running: 0 },
    ]).flat();
    return { engineId, gpus: 1, busySeconds: 10 * busy, bubbleRatio, preemptions: 0, timeline };
  };

  it('share a row, with the one of them in the middle shown', () => {
    const engines = [engine('a', 9, 0.1), engine('b', 2, 0.8), engine('c', 9.05, 0.09), engine('d', 8.95, 0.11)];
    const found = alikeEngines(engines, 100).map(({ shown, indices }) => [shown.engineId, indices]);
    expect(found).toEqual([
      ['a', [0, 2, 3]],
      ['b', [1]],
    ]);
  });

  it('are at most four rows, however different they are', () => {
    const engines = Array.from({ length: 16 }, (_, index) => engine(`e${index}`, 0.5 + 0.6 * index, 1 - index / 16));
    const found = alikeEngines(engines, 100);
    expect(found.length).toBeLessThanOrEqual(4);
    expect(found.flatMap(({ indices }) => indices).sort((a, b) => a - b)).toEqual([...engines.keys()]);
  });
});

describe('the way from before to after', () => {
  it('is what each variant takes off; what takes nothing off is left out', () => {
    const variant = (scheduler: string, above: string, adds: string, seconds: number) => ({
      ...baseline,
      scheduler,
      label: `+ ${adds}`,
      variant: { ablation: 'RollPacker', above, adds },
      stepSeconds: { ...baseline.stepSeconds, value: seconds },
    });
    const first = { ...baseline, stepSeconds: { ...baseline.stepSeconds, value: 20 } };
    const variants = [
      variant('a', first.scheduler, 'tail', 12),
      variant('b', 'a', 'idle', 12),
      variant('c', 'b', 'stream', 13),
    ];
    const data = workloadData({ ...comparison, schedulers: [first, ...variants] });
    expect(data.after).toBe(3);
    expect(data.waterfall).toEqual([
      { label: 'synchronous', from: 0, to: 20 },
      { label: 'tail', from: 20, to: 12 },
      { label: 'stream', from: 12, to: 13 },
      { label: 'RollPacker', from: 0, to: 13 },
    ]);
  });
});
