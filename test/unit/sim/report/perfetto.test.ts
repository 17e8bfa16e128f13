import { describe, expect, test } from 'vitest';
import type { Segment } from '../../../../src/sim/comparison/result.ts';
import { perfettoTrace } from '../../../../src/sim/report/perfetto.ts';
import { comparison } from '../../../support/simulator/comparison.ts';

describe('perfettoTrace', () => {
  const { traceEvents, displayTimeUnit } = perfettoTrace([comparison]);
  const named = (what: string) =>
    traceEvents.filter((one) => one.name === what).map(({ pid, tid, args }) => [pid, tid, args!.name]);

  test('has a process for each scheduler, and threads for rounds and engines', () => {
    expect(displayTimeUnit).toBe('ms');
    expect(named('process_name')).toEqual([
      [1, 0, 'by-hand: synchronous'],
      [2, 0, 'by-hand: tail-batching'],
    ]);
    expect(named('thread_name').filter(([pid]) => pid === 2)).toEqual([
      [2, 1, 'rounds'],
      [2, 10, 'e0 (2 GPUs)'],
      [2, 11, 'e1 (2 GPUs)'],
    ]);
  });

  test('spans are microseconds, idle time is a gap', () => {
    const spans = traceEvents.filter((one) => one.ph === 'X' && one.pid === 1 && one.tid === 10);
    expect(spans.slice(0, 5).map((one) => [one.name, one.ts, one.dur])).toEqual([
      ['rollout', 0, 4_000_000],
      ['reward', 10_000_000, 1_000_000],
      ['train', 11_000_000, 4_000_000],
      ['sync', 15_000_000, 1_000_000],
      ['rollout', 16_000_000, 4_000_000],
    ]);
    const rounds = traceEvents.filter((one) => one.ph === 'X' && one.pid === 2 && one.tid === 1);
    expect(rounds.map((one) => [one.name, one.ts, one.dur])).toEqual([
      ['r0 (short)', 0, 10_000_000],
      ['r1 (long)', 10_000_000, 14_000_000],
    ]);
    expect(rounds[0]!.args).toMatchObject({ keptTokens: 4000, abortedTokens: 1000, bubbleRatio: 0.25 });
  });

  test('spans of a thread never overlap', () => {
    const ends = new Map<string, number>();
    for (const { ph, pid, tid, ts, dur } of traceEvents) {
      if (ph !== 'X') continue;
      expect(ts).toBeGreaterThanOrEqual(ends.get(`${pid}/${tid}`) ?? 0);
      ends.set(`${pid}/${tid}`, ts + dur!);
    }
  });

  test('counts running sequences over all engines, and the queue', () => {
    const counters = (name: string, pid: number) =>
      traceEvents.filter((one) => one.name === name && one.pid === pid).map(({ ts, args }) => [ts / 1e6, args]);
    expect(counters('running sequences', 1)).toEqual([
      [0, { sequences: 16 }],
      [4, { sequences: 8 }],
      [10, { sequences: 0 }],
      [16, { sequences: 16 }],
      [20, { sequences: 8 }],
      [30, { sequences: 0 }],
    ]);
    expect(counters('long-prompt queue', 2)).toEqual([
      [0, { prompts: 0 }],
      [10, { prompts: 0 }],
      [24, { prompts: 1 }],
    ]);
  });

  test('spans and counters stay whole where times are no whole microseconds', () => {
    const [baseline] = comparison.schedulers;
    const third = 1 / 3;
    const timeline = Array.from({ length: 60 }, (_, index): Segment => {
      const running = index % 3 === 2 ? 0 : third + index;
      return {
        startSeconds: index * 1e-6 * third,
        endSeconds: (index + 1) * 1e-6 * third,
        activity: 'rollout',
        running,
      };
    });
    const [run] = baseline!.runs;
    const engines = run!.engines.map((engine) => ({ ...engine, gpus: 1, timeline }));
    const fine = perfettoTrace([{ ...comparison, schedulers: [{ ...baseline!, runs: [{ ...run!, engines }] }] }]);
    const ends = new Map<number, number>();
    for (const { ph, tid, ts, dur, args } of fine.traceEvents) {
      expect(Number.isInteger(ts)).toBe(true);
      if (ph === 'C') for (const value of Object.values(args!)) expect(value).toBeGreaterThanOrEqual(0);
      if (ph !== 'X') continue;
      expect(Number.isInteger(dur) && dur! >= 0).toBe(true);
      expect(ts).toBeGreaterThanOrEqual(ends.get(tid) ?? 0);
      ends.set(tid, ts + dur!);
    }
    const counts = fine.traceEvents.filter((one) => one.name === 'running sequences');
    expect(new Set(counts.map((one) => one.ts)).size).toBe(counts.length);
    expect(counts[counts.length - 1]!.args).toEqual({ sequences: 0 });
    expect(fine.traceEvents.find((one) => one.tid === 10)!.args).toEqual({ name: 'e0 (1 GPU)' });
  });

  test('is plain JSON, and empty for nothing', () => {
    expect(JSON.parse(JSON.stringify({ traceEvents }))).toEqual({ traceEvents });
    expect(perfettoTrace([]).traceEvents).toEqual([]);
  });
});
