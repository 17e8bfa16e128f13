import { describe, expect, test } from 'vitest';
import { renderReport } from '../../../../src/sim/report/html.ts';
import { notShards, pictured, sequenceColours, vlmData } from '../../../../src/sim/report/vlm-data.ts';
import { compareVlm } from '../../../../src/sim/vlm-formulas/compare.ts';
import { defineVlmJob } from '../../../../src/sim/vlm-formulas/settings.ts';
import { comparison as text } from '../../../support/simulator/comparison.ts';
import { mixture } from '../../../support/simulator/vlm.ts';

const job = defineVlmJob({ gpus: 16, batchSequences: 32 });
const comparison = compareVlm({ job, workload: mixture('image-heavy'), steps: 2 });
const plain = (html: string): string => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

describe('a VLM section', () => {
  const html = renderReport([], '', [comparison]);

  test('says what would be saved and where it comes from', () => {
    const best = Math.max(...comparison.schedulers.map((one) => one.speedup));
    expect(plain(html)).toContain(`${best.toFixed(2)} × as fast as veRL bucketing (`);
    expect(plain(html)).toContain('The GPU with most attention work has');
  });

  test('has tables for what its charts show, with a row for each scheduler', () => {
    const captions = [...html.matchAll(/<caption>(.*?)<\/caption>/g)].map(([, caption]) => caption);
    expect(captions).toEqual(['Steps', 'Balance, traffic and memory']);
    for (const { label } of comparison.schedulers) expect(html.split(`<th scope="row">${label}</th>`)).toHaveLength(3);
    expect(html.match(/class="chart stages"/g)).toHaveLength(1);
    expect(html.match(/class="chart plan"/g)).toHaveLength(3);
    for (const [chart] of html.matchAll(/<div class="chart[^>]*>/g))
      expect(chart).toMatch(/role="img"\s+aria-label=".+"/);
  });

  test('names the longest sequences in the legend of each plan, with their degree', () => {
    const legends = [
      ...html.matchAll(/<figcaption>The plan on 16 GPUs: ([^<]+)<small>.*?<ul class="legend">(.*?)<\/ul>/gs),
    ];
    expect(legends.map(([, label]) => label)).toEqual(['veRL bucketing', 'Ulysses SP 4', 'FlexRL']);
    for (const [, , legend] of legends) expect(legend!.match(/class="seq\d"/g)).toHaveLength(sequenceColours);
    expect(legends[0]![2]).toMatch(/#\d+: [\d,]+ tokens, 1 GPU</);
    expect(legends[1]![2]).toMatch(/#\d+: [\d,]+ tokens, 4 GPUs</);
  });

  test('stands behind the text workloads, and leaves them as they were', () => {
    const both = renderReport([text], '', [comparison]);
    expect(both.indexOf('by-hand')).toBeLessThan(both.indexOf('Vision-language:'));
    expect(both.match(/<section /g)).toHaveLength(2);
    expect(renderReport([text], '')).not.toContain('vlm-data');
  });

  test('no name can end the elements that it stands in', () => {
    const evil = '"><img src=x onerror=alert(1)></script>';
    const workload = { ...comparison.workload, name: evil, source: evil };
    const schedulers = comparison.schedulers.map((one) => ({ ...one, label: evil }));
    const page = renderReport([], '', [{ ...comparison, workload, schedulers, notes: [evil] }]);
    expect(page.match(/<\/script/gi)).toHaveLength(3);
    expect(page).not.toMatch(/<img/);
    const data = /<script type="application\/json" id="vlm-data">(.*?)<\/script>/s.exec(page)![1]!;
    expect(JSON.parse(data)[0].runs[0].label).toBe(evil);
  });
});

describe('the data of a plan', () => {
  const data = vlmData(comparison);

  test('has a picture of one scheduler for each kind of placement', () => {
    const shown = pictured(comparison.schedulers).map((index) => comparison.schedulers[index]!.label);
    expect(shown).toEqual(['veRL bucketing', 'Ulysses SP 4', 'FlexRL']);
    expect(data.runs.flatMap((run) => (run.plan === undefined ? [] : [run.label]))).toEqual(shown);
  });

  test('joins neighbours that do the same: one bar for each sequence', () => {
    for (const { plan } of data.runs) {
      if (plan === undefined) continue;
      const shards = plan.bars.filter(([, , , , what]) => what >= 0);
      expect(shards.map(([, , , , what]) => what).sort((a, b) => a - b)).toEqual([...data.sequences.keys()]);
      for (const [first, last, , , what] of shards) expect(last - first + 1).toBe(plan.degrees[what]);
    }
    const flex = data.runs.at(-1)!.plan!;
    // Frames are spread evenly, so that some neighbours encode as long.
    const vision = flex.bars.filter(([, , , , what]) => what === notShards.vision);
    expect(vision.length).toBeLessThan(job.gpus);
    expect(vision.reduce((sum, [first, last]) => sum + last - first + 1, 0)).toBe(job.gpus);
  });

  test('knows the longest sequences, ties by index', () => {
    const lengths = data.sequences.map(([tokens]) => tokens);
    expect(data.longest).toHaveLength(sequenceColours);
    const least = Math.min(...data.longest.map((index) => lengths[index]!));
    expect(lengths.filter((tokens) => tokens > least).length).toBeLessThan(sequenceColours);
  });
});
