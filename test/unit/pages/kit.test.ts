/** What pages share: durations, and legends of charts. */
import { expect, test } from 'vitest';
import { duration } from '../../../src/logs/explain/duration.ts';
import { legendRows } from '../../../src/pages/kit/chart-style.ts';
import { measured, spoken } from '../../../src/pages/kit/durations.ts';
import { ago, labelsOf } from '../../../src/pages/kit/job-time.ts';

test('durations in a sentence are as people say them, and stay on one line', () => {
  const seconds = [0, 0.25, 1, 9.94, 10, 599, 600, 7199, 7200, 172_799, 172_800];
  const said = [
    '0 ms',
    '250 ms',
    '1.0 s',
    '9.9 s',
    '10 s',
    '599 s',
    '10 min',
    '120 min',
    '2.0 h',
    '48.0 h',
    '2.0 days',
  ];
  expect(seconds.map((one) => duration(one))).toEqual(said);
  expect(seconds.map(spoken)).toEqual(said.map((one) => one.replace(' ', '\u00a0')));
});

test('durations on a chart are in the unit that a reader would choose', () => {
  expect([0, 0.00123, 0.5, 1, 119, 120, 7199, 7200].map(measured)).toEqual([
    '0 s',
    '0.0012 s',
    '0.5 s',
    '1.0 s',
    '119.0 s',
    '2.0 min',
    '120.0 min',
    '2.00 h',
  ]);
});

test('the time of a job is labelled at whole steps before now, few enough for a narrow page', () => {
  const labels = (span: number) => labelsOf(span).map((at) => ago(Number((span - at).toFixed(3))));
  expect(labels(2808)).toEqual(['−40 min', '−20 min', 'now']);
  expect(labels(7.3)).toEqual(['−6 s', '−4 s', '−2 s', 'now']);
  expect(labels(3 * 3600)).toEqual(['−3 h', '−2 h', '−60 min', 'now']);
  for (const span of [0.3, 1, 59, 600, 86_400, 300_000, 1e7]) {
    const places = labelsOf(span);
    expect(places.length).toBeLessThanOrEqual(5);
    expect(places.at(-1)).toBe(span);
    expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
  }
});

test('a legend takes the rows that it needs', () => {
  const names = ['synchronous', 'tail batching, eta 1.125', 'tail batching, eta 1.25', 'tail batching, eta 1.5'];
  const rows = (list: readonly string[], width: number) => legendRows(list, width, (text) => 5 * text.length);
  expect([2000, 364, 200, 50].map((width) => rows(names, width))).toEqual([1, 2, 4, 4]);
  expect([rows([], 100), rows(['synchronous', 'tail-batching'], 364)]).toEqual([1, 1]);
});
