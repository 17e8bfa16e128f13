import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { ComparisonResult, SchedulerResult, Segment } from '../../../../src/sim/comparison/result.ts';
import { activities, workloadData } from '../../../../src/sim/report/data.ts';
import { renderReport } from '../../../../src/sim/report/html.ts';
import { reportClient, writeReport } from '../../../../src/sim/report/write.ts';
import { comparison } from '../../../support/simulator/comparison.ts';

const [baseline, tail] = comparison.schedulers as [SchedulerResult, SchedulerResult];
const text = (html: string): string => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

describe('renderReport', () => {
  const html = renderReport([comparison], 'draw();');

  test('is pure', () => {
    expect(renderReport([comparison], 'draw();')).toBe(html);
  });

  test('says what would be saved, why, what it costs, and what is left', () => {
    const said = text(html);
    expect(said).toContain('tail-batching: 1.50 ± 0.05 × as fast (33 % of the time saved), 1.13 × at equal tokens.');
    expect(said).toContain('nothing to run for 40.0 % of each rollout; with tail-batching for 10.0 %');
    expect(said).toContain('the mean kept response has 0.75 × the tokens, and 0.42 % of kept responses');
    expect(said).toContain(
      'Of the longest 1 % of the responses 10.0 % are trained on; with those that are drawn again, 40.0 %',
    );
    expect(said).toContain('An oracle that knows all lengths is 1.80 × as fast, with every response kept');
    expect(said).toContain('tail-batching reaches 62.5 % of that at equal tokens');
  });

  test('shows the speedup at equal tokens, and what both cost, right beside every speedup', () => {
    const rows = [...html.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
      [...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => text(cell!).trim()),
    );
    const head = rows.find((cells) => cells.includes('speedup'))!;
    const at = head.indexOf('speedup');
    const beside = ['speedup', 'at equal tokens', 'of the oracle', 'kept tokens', 'at the cap'];
    expect(head.slice(at, at + 5)).toEqual(beside);
    const row = rows.find((cells) => cells[0] === 'tail-batching')!;
    const [equal, oracle] = ['1.13 × 1.13–1.13', '1.80 × 1.80–1.80'];
    expect(row.slice(at, at + 5)).toEqual(['1.50 × 1.45–1.55', equal, '62.5 %', '0.75 ×', '0.42 %']);
    expect(rows.find((cells) => cells[0] === 'oracle')!.slice(at + 1, at + 4)).toEqual([oracle, '100.0 %', '1.00 ×']);
  });

  test('begins with a list of what each workload comes to, where there are several', () => {
    expect(html).not.toContain('<nav');
    const slow = { ...tail, speedup: { value: 0.98, low: 0.97, high: 0.99, confidence: 0.95 } };
    const other = { ...comparison, workload: { ...comparison.workload, name: 'b & c' }, schedulers: [baseline, slow] };
    const both = renderReport([comparison, other], '');
    const list = [...both.matchAll(/<li><a href="#([^"]+)">(.*?)<\/a> <span>(.*?)<\/span>/g)].map(([, ...one]) => one);
    expect(list.map(([, , verdict]) => text(verdict!))).toEqual([
      'tail-batching: 1.50 ± 0.05 × as fast (33 % of the time saved), 1.13 × at equal tokens.',
      'tail-batching: 0.98 ± 0.01 × as fast (2 % more time), 1.13 × at equal tokens.',
    ]);
    for (const [index, [id, title, verdict]] of list.entries()) {
      expect(both).toContain(`<section id="${id}" role="tabpanel" aria-labelledby="tab-${index + 1}"`);
      expect(both).toContain(`<h2>${title}</h2>\n<p class="headline">${verdict}</p>`);
      expect(both).toMatch(new RegExp(`<button role="tab" id="tab-${index + 1}" aria-controls="${id}"[^>]*>${title}<`));
    }
    expect(list[1]![1]).toBe('b &amp; c');
  });

  test('does not promise anything where nothing is saved', () => {
    const slow = { ...tail, speedup: { value: 0.98, low: 0.97, high: 0.99, confidence: 0.95 } };
    const said = text(renderReport([{ ...comparison, schedulers: [baseline, slow] }], ''));
    expect(said).toContain('tail-batching: 0.98 ± 0.01 × as fast (2 % more time), ');
  });

  test('has the numbers of every chart as a table, with captions and named rows', () => {
    const captions = [...html.matchAll(/<caption>(.*?)<\/caption>/g)].map(([, caption]) => caption);
    expect(captions).toEqual([
      'Comparison',
      'What is trained on',
      'Tokens of the responses trained on',
      'Steps: synchronous',
      'Engines: synchronous',
      'Steps: tail-batching',
      'Engines: tail-batching',
    ]);
    expect(html.match(/class="chart/g)).toHaveLength(7);
    for (const [chart] of html.matchAll(/<div class="chart[^>]*>/g))
      expect(chart).toMatch(/role="img"\s+aria-label=".+"/);
    expect(html).toContain('<noscript>');
  });

  test('works for a baseline alone, and for no workload at all', () => {
    expect(text(renderReport([{ ...comparison, schedulers: [baseline] }], ''))).toContain('oracle');
    const { oracle: _, ...without } = comparison;
    expect(text(renderReport([without], ''))).not.toContain('What is left');
    expect(renderReport([], '')).toContain('</html>');
  });

  test('no name or script can end the elements that they stand in, and nothing is fetched', () => {
    const evil = '"><img src=x onerror=alert(1)></script><script>alert(1)</script>';
    const named: ComparisonResult = {
      ...comparison,
      workload: { ...comparison.workload, name: evil, source: evil },
      settings: { [evil]: evil },
      schedulers: [baseline, { ...tail, label: evil }],
      notes: [evil],
    };
    const page = renderReport([named], 'const a = "</script>", b = "</SCRIPT >";');
    expect(page.match(/<\/script/gi)).toHaveLength(2);
    expect(page).not.toMatch(/<img/);
    expect(page.match(/\s(src|href)="(?!data:)/g)).toBeNull();
    expect(page).not.toMatch(/@import|url\(/);
    const data = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)![1]!;
    expect(JSON.parse(data)[0].name).toBe(evil);
  });
});

describe('the data of the charts', () => {
  const [first, second] = workloadData(comparison).runs;

  test('numbers GPUs through, and leaves idle time out', () => {
    expect(first!.engines.map((one) => one.label)).toEqual(['GPU 0–1', 'GPU 2–3']);
    const kinds = first!.engines[0]!.bars.map(([start, end, kind]) => [start, end, activities[kind]]);
    expect(kinds.slice(0, 4)).toEqual([
      [0, 4, 'rollout'],
      [10, 11, 'reward'],
      [11, 15, 'train'],
      [15, 16, 'sync'],
    ]);
    expect(second!.steps.map((one) => [one.kind, one.rollout])).toEqual([
      ['short', 4],
      ['long', 8],
    ]);
  });

  test('shades by running sequences, joins equal shades, and keeps the ends', () => {
    const timeline: Segment[] = Array.from({ length: 1000 }, (_, index) => ({
      startSeconds: index,
      endSeconds: index + 1,
      activity: 'rollout',
      running: 1000 - index,
    }));
    const engines = [{ ...baseline.runs[0]!.engines[0]!, gpus: 1, timeline }];
    const run = { ...baseline.runs[0]!, engines, totalSeconds: 1000 };
    const { bars, label } = workloadData({ ...comparison, schedulers: [{ ...baseline, runs: [run] }] }).runs[0]!
      .engines[0]!;
    expect(label).toBe('GPU 0');
    expect(bars.length).toBe(6);
    expect(bars[0]![0]).toBe(0);
    expect(bars[5]![1]).toBe(1000);
    expect(bars.map((bar) => bar[3])).toEqual([1, 0.83, 0.67, 0.5, 0.33, 0.17]);
    bars.slice(1).forEach((bar, index) => {
      expect(bar[0]).toBe(bars[index]![1]);
    });
  });
});

describe('writeReport', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-report-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('writes one file with the chart library and its notices, and gives its size', async () => {
    const file = join(folder, 'report.html');
    const bytes = await writeReport(file, [comparison]);
    const html = readFileSync(file, 'utf8');
    expect(Buffer.byteLength(html)).toBe(bytes);
    expect(bytes).toBeLessThan(1_000_000);
    expect(html).toContain('The Apache Software Foundation');
    expect(html).toContain('Copyright (c) 2017, Baidu Inc.');
    expect(html).toContain('</html>');
    expect(await reportClient()).not.toContain('</script');
  });
});
