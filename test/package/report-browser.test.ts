/** The report in a real browser: it draws, in light and dark, wide and narrow, and asks the network for nothing. */
import type { Page } from 'playwright-core';
import { compare, jobPreset, rollpackerWorkload, writeReport } from 'rollflex/sim';
import { describe, expect, test } from 'vitest';
import {
  type ColorScheme,
  expectDrawn,
  expectFits,
  looks,
  misfits,
  openAll,
  picture,
  reportInBrowser,
  zoomInto,
} from '../support/browser/report.ts';
import { comparison as byHand } from '../support/simulator/comparison.ts';

const { job } = jobPreset('qwen2.5-7b-8k');
const small = { ...job, promptsPerRound: 8, responsesPerPrompt: 2, engines: 3 };
const simulated = compare({ job: small, workload: (seed) => rollpackerWorkload(8192, seed), steps: 5, seeds: [1, 2] });
/** What each chart must show: a colour of the style sheet that only its data have. */
const shows = {
  argument: ['train', 'short'],
  waterfall: ['accent', 'overhead'],
  timeline: ['train'],
  steps: ['train'],
  lengths: ['overhead'],
  queue: ['overhead'],
};
const seven = 7;

/** Contrast (WCAG 2) of every element with text of its own against what is behind it, a chart or the page; the least. */
const leastContrast = `(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (one) => {
    const colour = getComputedStyle(one).backgroundColor;
    return one === document.body || !/, 0\\)$/.test(colour) ? light(rgb(colour)) : behind(one.parentElement);
  };
  return Math.min(...[...document.body.querySelectorAll('*')]
    .filter((one) => !['SCRIPT', 'NOSCRIPT'].includes(one.tagName))
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''))
    .map((one) => [light(rgb(getComputedStyle(one).color)), behind(one)])
    .map(([text, ground]) => (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)));
})()`;

describe('the report in a browser', () => {
  const { open, openAnew } = reportInBrowser((file) => writeReport(file, [simulated, byHand]));

  /** Every chart is drawn, everything can be read, and nothing hides anything. */
  async function expectReadable(page: Page, scheme: ColorScheme): Promise<void> {
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)');
    await openAll(page, async () => {
      expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.5);
      expect(await page.evaluate(misfits)).toBe(0);
      await expectFits(page);
    });
    await expectDrawn(page, 2 * seven, shows);
  }

  test.for(looks)('draws every chart, %s, %d pixels wide', async ([scheme, width], context) => {
    const { page, problems } = await open(context, scheme, width);
    const headlines = await page.locator('.headline').allTextContents();
    expect(headlines[0]).toMatch(
      /^tail batching: 1\.\d\d(\u00a0±\u00a00\.\d\d)?\u00a0× as fast \(\d+\u00a0% of the time saved\), \d\.\d\d(\u00a0±\u00a00\.\d\d)?\u00a0× at equal tokens\.$/,
    );
    expect(headlines[1]).toBe(
      'tail-batching: 1.50\u00a0±\u00a00.05\u00a0× as fast (33\u00a0% of the time saved), 1.13\u00a0× at equal tokens.',
    );
    await expectReadable(page, scheme);
    expect(problems).toEqual([]);
  });

  test('does not need to be opened in the light, nor wide', async (context) => {
    const { page, problems } = await openAnew(context, 'dark', 390);
    await expectReadable(page, 'dark');
    expect(problems).toEqual([]);
    await page.close();
  });

  test.for(['light', 'dark'] as const)('the first screen is the argument, %s', async (scheme, context) => {
    const { page } = await open(context, scheme, 1280);
    for (const tab of [0, 1]) {
      await page.locator('[role=tab]').nth(tab).click();
      for (const part of ['.headline', '.chart.argument', '.chart.waterfall', '.costs']) {
        const box = (await page.locator(`section.open ${part}`).boundingBox())!;
        expect(box.y, part).toBeGreaterThanOrEqual(0);
        expect(box.y + box.height, part).toBeLessThanOrEqual(800);
        expect(box.height, part).toBeGreaterThan(20);
      }
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(4000);
    }
  });

  test('tabs are opened by a click, by the keys and by a link; folds draw when they open', async (context) => {
    const { page, problems } = await open(context, 'light', 1280);
    const seen = () => page.locator('section.open h2').textContent();
    const [first, second] = (await page.locator('[role=tab]').allTextContents()) as [string, string];
    expect(await seen()).toBe(first);
    await page.locator('[role=tab]').nth(1).click();
    expect(await seen()).toBe(second);
    await page.keyboard.press('ArrowRight');
    expect(await seen()).toBe(first);
    await page.locator('nav a').nth(1).click();
    await expect.poll(seen).toBe(second);
    const steps = page.locator('section.open .chart.steps');
    expect(await steps.isVisible()).toBe(false);
    await page.getByText('Steps, lengths and the queue').nth(1).click();
    await expect.poll(() => steps.locator('canvas').isVisible()).toBe(true);
    expect(problems).toEqual([]);
  });

  test('a tooltip stands beside what it explains', async (context) => {
    const { page } = await open(context, 'light', 1280);
    const chart = (await page.locator('section.open .chart.argument').boundingBox())!;
    const [x, y] = [chart.x + 400, chart.y + 45];
    await page.mouse.move(x, y);
    const tooltip = page.locator('section.open .chart.argument > div').filter({ hasText: /s \(|min \(/ });
    await tooltip.waitFor({ state: 'visible' });
    const box = (await tooltip.boundingBox())!;
    expect(y < box.y || y > box.y + box.height).toBe(true);
  });

  test('prints on few pages, in the colours of paper', async (context) => {
    const { page } = await open(context, 'dark', 1280);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(await page.locator('.tabs').isVisible()).toBe(false);
    expect((await page.locator('section.open .chart.argument').boundingBox())!.height).toBeGreaterThan(60);
    const text = (await page.pdf({ format: 'A4' })).toString('latin1');
    const pages = Math.max(...[...text.matchAll(/\/Count (\d+)/g)].map(([, count]) => Number(count)));
    expect(pages).toBeGreaterThan(0);
    expect(pages).toBeLessThanOrEqual(6);
  });

  test('timelines of a workload zoom together', async (context) => {
    const { page, problems } = await open(context, 'light', 1200);
    await openAll(page);
    await page.locator('[role=tab]').first().click();
    const charts = page.locator('.chart.timeline');
    const seen = (which: number) => picture(charts.nth(which));
    const before = await Promise.all([0, 1, 2].map(seen));
    await zoomInto(page, charts.nth(0));
    await expect.poll(() => seen(0)).not.toBe(before[0]);
    await expect.poll(() => seen(1)).not.toBe(before[1]);
    expect(await seen(2)).toBe(before[2]);
    expect(problems).toEqual([]);
  });

  test('fits the window again when its size changes', async (context) => {
    const { page, problems } = await open(context, 'light', 1200);
    await openAll(page);
    await page.setViewportSize({ width: 700, height: 900 });
    await expect.poll(() => page.evaluate(misfits)).toBe(0);
    await openAll(page, async () => expect(await page.evaluate(misfits)).toBe(0));
    expect(problems).toEqual([]);
  });

  test('follows the reader when the colour scheme changes', async (context) => {
    const { page, problems } = await open(context, 'light', 1200);
    const chart = page.locator('.chart').first();
    const before = await picture(chart);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => picture(chart)).not.toBe(before);
    expect(problems).toEqual([]);
  });
});
