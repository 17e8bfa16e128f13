/** A report in a real browser: opened in light and dark, wide and narrow, and what is seen of it there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, type TestContext } from 'vitest';
import { chromiumPath, launchChromium } from './chromium.ts';

export type ColorScheme = 'light' | 'dark';
/** Every look that a report has to stand. */
export const looks: readonly (readonly [ColorScheme, number])[] = [
  ['light', 1400],
  ['dark', 1400],
  ['light', 800],
  ['dark', 800],
];

/** An open report, and what the browser has complained about: it must stay empty. */
export interface Opened {
  readonly page: Page;
  readonly problems: string[];
}
export type Open = (context: TestContext, colorScheme: ColorScheme, width: number) => Promise<Opened>;

/** Has a report written before all tests of a `describe`; gives what opens it, or skips the test without a browser. */
export function reportInBrowser(write: (file: string) => Promise<unknown>): Open {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-browser-'));
  const file = join(folder, 'report.html');
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    await write(file);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  return async (context, colorScheme, width) => {
    if (browser === undefined) return context.skip('no Chromium: install it, or set CHROMIUM_PATH');
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!/^(file|data):/.test(request.url())) problems.push(`asks for ${request.url()}`);
    });
    await page.goto(`file://${file}`);
    await page.waitForFunction('document.documentElement.dataset.drawn !== undefined');
    return { page, problems };
  };
}

/** Captions of the tables that are seen at first sight, but not whole. */
const hiddenCells = `[...document.querySelectorAll('section > .scroll')]
  .filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => one.querySelector('caption').textContent)`;

/** The page is no wider than its window, and its tables are seen whole. */
export async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(await page.evaluate(hiddenCells)).toEqual([]);
}

/**
 * So many charts are drawn, each with each colour that its kind must show: colours of the style sheet that only its data
 * have, by kind of chart.
 */
export async function expectDrawn(
  page: Page,
  charts: number,
  shows: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  // Pixels of each chart in the rarest of its colours.
  const pixels = (await page.evaluate(`[...document.querySelectorAll('.chart')].map((chart) => {
    const canvas = chart.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const all = new Uint32Array(data.buffer);
    return Math.min(...${JSON.stringify(shows)}[chart.dataset.chart].map((name) => {
      const probe = new OffscreenCanvas(1, 1).getContext('2d');
      probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
      probe.fillRect(0, 0, 1, 1);
      const [colour] = new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer);
      return all.filter((pixel) => pixel === colour).length;
    }));
  })`)) as number[];
  expect(pixels).toHaveLength(charts);
  for (const one of pixels) expect(one, pixels.join()).toBeGreaterThan(100);
}

/** What is drawn on a chart, to see whether it changes. */
export const picture = (chart: Locator): Promise<string> =>
  chart.locator('canvas').evaluate((one) => (one as HTMLCanvasElement).toDataURL());

/** Zooms into a chart as a reader does. */
export async function zoomInto(page: Page, chart: Locator): Promise<void> {
  // The mouse reaches only what is in the window.
  await chart.scrollIntoViewIfNeeded();
  const box = (await chart.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -400);
  await page.keyboard.up('Control');
}
