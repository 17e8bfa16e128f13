/** The report in a real browser: it draws, in light and dark, wide and narrow, and asks the network for nothing. */
import { describe, expect, test } from 'vitest';
import { compare } from '../../src/sim/compare.ts';
import { jobPreset, rollpackerWorkload } from '../../src/sim/presets.ts';
import { writeReport } from '../../src/sim/report/write.ts';
import { comparison as byHand } from '../support/comparison-fixture.ts';
import { expectDrawn, expectFits, looks, picture, reportInBrowser, zoomInto } from '../support/report-browser.ts';

const { job } = jobPreset('qwen2.5-7b-8k');
const small = { ...job, promptsPerRound: 8, responsesPerPrompt: 2, engines: 3 };
const simulated = compare({ job: small, workload: (seed) => rollpackerWorkload(8192, seed), steps: 5, seeds: [1, 2] });
/** What each chart must show: a colour of the style sheet that only its data have. */
const shows = { timeline: ['train'], steps: ['train'], lengths: ['accent'], queue: ['accent'] };

/** Contrast (WCAG 2) of every element with text of its own against what is behind it; the least. */
const leastContrast = `(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = light(rgb(getComputedStyle(document.body).backgroundColor));
  return Math.min(...[...document.body.querySelectorAll('*')]
    .filter((one) => !['SCRIPT', 'NOSCRIPT'].includes(one.tagName))
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''))
    .map((one) => light(rgb(getComputedStyle(one).color)))
    .map((text) => (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)));
})()`;

describe('the report in a browser', () => {
  const open = reportInBrowser((file) => writeReport(file, [simulated, byHand]));

  test.for(looks)('draws every chart, %s, %d pixels wide', async ([scheme, width], context) => {
    const { page, problems } = await open(context, scheme, width);
    const headlines = await page.locator('.headline').allTextContents();
    expect(headlines[0]).toMatch(/^tail-batching would save \d+\.\d\s% of the time: 1\.\d\d × as fast\.$/);
    expect(headlines[1]).toBe('tail-batching would save 33.3\u00a0% of the time: 1.50 × as fast.');
    await expectDrawn(page, 10, shows);
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)');
    expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.5);
    await expectFits(page);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('timelines of a workload zoom together', async (context) => {
    const { page, problems } = await open(context, 'light', 1200);
    const charts = page.locator('.chart.timeline');
    const seen = (which: number) => picture(charts.nth(which));
    const before = await Promise.all([0, 1, 2].map(seen));
    await zoomInto(page, charts.nth(0));
    await expect.poll(() => seen(0)).not.toBe(before[0]);
    await expect.poll(() => seen(1)).not.toBe(before[1]);
    expect(await seen(2)).toBe(before[2]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('fits the window again when its size changes', async (context) => {
    const { page, problems } = await open(context, 'light', 1200);
    const misfits = `[...document.querySelectorAll('.chart')].filter((chart) =>
      Math.abs(chart.querySelector('canvas').clientWidth - chart.clientWidth) > 1).length`;
    expect(await page.evaluate(misfits)).toBe(0);
    await page.setViewportSize({ width: 700, height: 900 });
    await expect.poll(() => page.evaluate(misfits)).toBe(0);
    await expectDrawn(page, 10, shows);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('follows the reader when the colour scheme changes', async (context) => {
    const { page, problems } = await open(context, 'light', 1200);
    const chart = page.locator('.chart').first();
    const before = await picture(chart);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => picture(chart)).not.toBe(before);
    expect(problems).toEqual([]);
    await page.close();
  });
});
