/** The report in a real browser: it draws, in light and dark, wide and narrow, and asks the network for nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compare } from '../../src/sim/compare.ts';
import { jobPreset, rollpackerWorkload } from '../../src/sim/presets.ts';
import { writeReport } from '../../src/sim/report/write.ts';
import { chromiumPath, launchChromium } from '../support/chromium.ts';
import { comparison as byHand } from '../support/comparison-fixture.ts';

const { job } = jobPreset('qwen2.5-7b-8k');
const small = { ...job, promptsPerRound: 8, responsesPerPrompt: 2, engines: 3 };
const simulated = compare({ job: small, workload: (seed) => rollpackerWorkload(8192, seed), steps: 5, seeds: [1, 2] });
const missing = 'no Chromium: install it, or set CHROMIUM_PATH';

/** What each chart must show: a colour of the style sheet that only its data have. */
const shows = { timeline: 'train', steps: 'train', lengths: 'accent', queue: 'accent' };

/** Pixels in that colour, of each chart. */
const pixelsOfData = `[...document.querySelectorAll('.chart')].map((chart) => {
  const name = getComputedStyle(document.documentElement)
    .getPropertyValue('--' + ${JSON.stringify(shows)}[chart.dataset.chart]).trim();
  const probe = new OffscreenCanvas(1, 1).getContext('2d');
  probe.fillStyle = name;
  probe.fillRect(0, 0, 1, 1);
  const [colour] = new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer);
  const canvas = chart.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return new Uint32Array(data.buffer).filter((pixel) => pixel === colour).length;
})`;

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

/** Captions of the tables that are seen at first sight, but not whole. */
const hiddenCells = `[...document.querySelectorAll('section > .scroll')]
  .filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => one.querySelector('caption').textContent)`;

describe('the report in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-browser-'));
  const file = join(folder, 'report.html');
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    await writeReport(file, [simulated, byHand]);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  async function open(colorScheme: 'light' | 'dark', width: number): Promise<{ page: Page; problems: string[] }> {
    const page = await browser!.newPage({ colorScheme, viewport: { width, height: 900 } });
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!/^(file|data):/.test(request.url())) problems.push(`asks for ${request.url()}`);
    });
    await page.goto(`file://${file}`);
    await page.waitForFunction('document.documentElement.dataset.drawn !== undefined');
    return { page, problems };
  }

  test.for([
    ['light', 1400],
    ['dark', 1400],
    ['light', 800],
    ['dark', 800],
  ] as const)('draws every chart, %s, %d pixels wide', async ([scheme, width], context) => {
    if (browser === undefined) return context.skip(missing);
    const { page, problems } = await open(scheme, width);
    const headlines = await page.locator('.headline').allTextContents();
    expect(headlines[0]).toMatch(/^tail-batching would save \d+\.\d\s% of the time: 1\.\d\d × as fast\.$/);
    expect(headlines[1]).toBe('tail-batching would save 33.3\u00a0% of the time: 1.50 × as fast.');
    const pixels = (await page.evaluate(pixelsOfData)) as number[];
    expect(pixels).toHaveLength(10);
    for (const one of pixels) expect(one, pixels.join()).toBeGreaterThan(100);
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)');
    expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.5);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await page.evaluate(hiddenCells)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('timelines of a workload zoom together', async (context) => {
    if (browser === undefined) return context.skip(missing);
    const { page, problems } = await open('light', 1200);
    const charts = page.locator('.chart.timeline');
    const picture = (which: number) =>
      charts
        .nth(which)
        .locator('canvas')
        .evaluate((one) => (one as HTMLCanvasElement).toDataURL());
    const before = await Promise.all([0, 1, 2].map(picture));
    const box = (await charts.nth(0).boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -400);
    await page.keyboard.up('Control');
    await expect.poll(() => picture(0)).not.toBe(before[0]);
    await expect.poll(() => picture(1)).not.toBe(before[1]);
    expect(await picture(2)).toBe(before[2]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('fits the window again when its size changes', async (context) => {
    if (browser === undefined) return context.skip(missing);
    const { page, problems } = await open('light', 1200);
    const misfits = `[...document.querySelectorAll('.chart')].filter((chart) =>
      Math.abs(chart.querySelector('canvas').clientWidth - chart.clientWidth) > 1).length`;
    expect(await page.evaluate(misfits)).toBe(0);
    await page.setViewportSize({ width: 700, height: 900 });
    await expect.poll(() => page.evaluate(misfits)).toBe(0);
    const pixels = (await page.evaluate(pixelsOfData)) as number[];
    for (const one of pixels) expect(one, pixels.join()).toBeGreaterThan(100);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('follows the reader when the colour scheme changes', async (context) => {
    if (browser === undefined) return context.skip(missing);
    const { page, problems } = await open('light', 1200);
    const picture = () =>
      page
        .locator('.chart canvas')
        .first()
        .evaluate((one) => (one as HTMLCanvasElement).toDataURL());
    const before = await picture();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(picture).not.toBe(before);
    expect(problems).toEqual([]);
    await page.close();
  });
});
