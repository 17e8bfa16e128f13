import { describe, expect, test } from 'vitest';
import { comparePools } from '../../../../src/sim/pools/compare.ts';
import { rolloutpipeJob, rolloutpipeWorkload } from '../../../../src/sim/pools/presets.ts';
import { serialBaseline } from '../../../../src/sim/pools/scheduler.ts';
import { renderReport } from '../../../../src/sim/report/html.ts';
import { pictured, poolActivities, poolsData } from '../../../../src/sim/report/pools-data.ts';
import { comparison as text } from '../../../support/simulator/comparison.ts';

const comparison = comparePools({
  job: rolloutpipeJob(16),
  workload: (seed) => rolloutpipeWorkload('lsat-ar', seed),
  rounds: 2,
  seeds: [1, 2],
});
const plain = (html: string): string => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

describe('a section of disaggregated pools', () => {
  const html = renderReport([], '', [], [comparison]);

  test('says what would be saved, where it comes from, and what it costs', () => {
    const best = comparison.schedulers.slice(1).sort((a, b) => a.mainSeconds.value - b.mainSeconds.value)[0]!;
    expect(plain(html)).toContain(`${best.label}: ${(1 / (1 - best.reduction.value)).toFixed(2)} `);
    expect(plain(html)).toContain('The first update is dispatched after');
    expect(plain(html)).toContain('No token: every scheduler trains all of them');
  });

  test('has tables for what its charts show, with a row for each scheduler', () => {
    const captions = [...html.matchAll(/<caption>(.*?)<\/caption>/g)].map(([, caption]) => caption);
    const waits = 'Waiting ratios, by three definitions, and the frontier';
    expect(captions.slice(0, 3)).toEqual(['Rounds', 'What is trained on', waits]);
    expect(captions).toHaveLength(3 + comparison.schedulers.length);
    for (const { label } of comparison.schedulers) expect(html.split(`<th scope="row">${label}</th>`)).toHaveLength(4);
    const charts = [...html.matchAll(/<div class="chart[^>]*>/g)].map(([chart]) => chart);
    expect(charts).toHaveLength(2);
    for (const chart of charts) expect(chart).toMatch(/role="img"\s+aria-label=".+"/);
  });

  test('stands behind the other workloads, and leaves them as they were', () => {
    const both = renderReport([text], '', [], [comparison]);
    expect(both.indexOf('by-hand')).toBeLessThan(both.indexOf('Disaggregated pools:'));
    expect(both.match(/<section /g)).toHaveLength(2);
    expect(renderReport([text], '')).not.toContain('pools-data');
  });

  test('says what fewer tokens are worth, where some are left out', () => {
    const equalTokenSpeedup = { value: 1.04, low: 1, high: 1.1, confidence: 0.95 };
    const fewer = { ...comparison.schedulers[1]!, keptTokenRatio: 0.72, equalTokenSpeedup };
    const page = renderReport(
      [],
      '',
      [],
      [{ ...comparison, schedulers: [comparison.schedulers[0]!, fewer], shares: [] }],
    );
    expect(plain(page)).toContain('0.72 × as many are trained on. In seconds for a token it is 1.04 × as fast.');
  });

  test('nothing is saved: it says so', () => {
    const slower = { ...comparison.schedulers[1]!, reduction: { value: -0.1, low: -0.2, high: 0, confidence: 0.95 } };
    const page = renderReport(
      [],
      '',
      [],
      [{ ...comparison, schedulers: [comparison.schedulers[0]!, slower], shares: [] }],
    );
    expect(plain(page)).toContain('× as fast (10 % more time)');
    expect(renderReport([], '', [], [{ ...comparison, schedulers: [comparison.schedulers[0]!] }])).toContain('</html>');
  });

  test('no name can end the elements that it stands in', () => {
    const evil = '"><img src=x onerror=alert(1)></script>';
    const workload = { ...comparison.workload, name: evil, source: evil };
    const schedulers = comparison.schedulers.map((one) => ({ ...one, label: evil }));
    const job = { ...comparison.job, name: evil };
    const page = renderReport([], '', [], [{ ...comparison, workload, job, schedulers, notes: [evil] }]);
    expect(page.match(/<\/script/gi)).toHaveLength(3);
    expect(page).not.toMatch(/<img/);
    const data = /<script type="application\/json" id="pools-data">(.*?)<\/script>/s.exec(page)![1]!;
    expect(JSON.parse(data)[0].waits[0].label).toBe(evil);
  });
});

describe('the data of both pools', () => {
  const data = poolsData(comparison);

  test('has rows of serial, pipelining and the fastest with both, one under the other', () => {
    const labels = pictured(comparison.schedulers).map((index) => comparison.schedulers[index]!.label);
    expect(labels.slice(0, 2)).toEqual(['serial', 'CGP']);
    expect(labels[2]).toMatch(/^CGP \+ FGD/);
    expect(data.rows).toEqual(labels.flatMap((label) => [label, 'engine', 'trainer']));
  });

  test('has every round and every update, and the first window is the first round', () => {
    const kinds = (row: number) => data.bars.filter(([at]) => at === row).map(([, , , kind]) => poolActivities[kind]);
    expect(kinds(0)).toEqual(['round', 'round']);
    expect(kinds(2).filter((kind) => kind === 'train')).toHaveLength(16);
    expect(kinds(2).filter((kind) => kind === 'sync')).toHaveLength(2);
    expect(new Set(kinds(1))).toEqual(new Set(['rollout', 'sync']));
    const serial = comparison.schedulers[0]!.runs[0]!;
    expect(data.windowSeconds).toBeCloseTo(serial.rounds[0]!.endSeconds, 1);
    expect(data.lastSeconds).toBeCloseTo(serial.totalSeconds, 1);
  });

  test('the parts of a round sum to its seconds', () => {
    data.waits.forEach(({ parts }, index) => {
      const sum = parts.reduce((total, one) => total + one, 0);
      expect(sum).toBeCloseTo(comparison.schedulers[index]!.roundSeconds, 0);
      for (const part of parts) expect(part).toBeGreaterThanOrEqual(0);
    });
  });

  test('several engines have numbers', () => {
    const job = rolloutpipeJob(8, { engines: 2 });
    const two = comparePools({
      job,
      workload: (seed) => rolloutpipeWorkload('lsat-ar', seed),
      rounds: 1,
      seeds: [1],
      schedulers: [serialBaseline],
    });
    expect(poolsData(two).rows).toEqual(['serial', 'engine 0', 'engine 1', 'trainer']);
  });
});
