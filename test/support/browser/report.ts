/** A report in a real browser: opened in light and dark, wide and narrow, and what is seen of it there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, type TestContext } from 'vitest';
import { chromiumPath, newPage } from './chromium.ts';

export type ColorScheme = 'light' | 'dark';
/** Every look that a report has to stand. */
export const looks: readonly (readonly [ColorScheme, number])[] = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 800],
  ['dark', 800],
  ['light', 390],
  ['dark', 390],
];

/** An open report, and what the browser has complained about: it must stay empty. */
export interface Opened {
  readonly page: Page;
  readonly problems: string[];
}
export interface Reader {
  /** Shows the one page of the tests as it is when it is opened, with its first part, in this look. */
  open(context: TestContext, colorScheme: ColorScheme, width: number): Promise<Opened>;
  /** Opens a page of its own in this look. */
  openAnew(context: TestContext, colorScheme: ColorScheme, width: number): Promise<Opened>;
}

/** Charts that are seen, and not as wide as the place that they have. */
export const misfits = `[...document.querySelectorAll('section.open .chart')].filter((chart) => chart.offsetParent !== null &&
  Math.abs(chart.querySelector('canvas').clientWidth - chart.clientWidth) > 1).length`;

const asOpened = `(() => {
  document.querySelectorAll('details').forEach((one) => { one.open = false; });
  document.querySelector('[role=tab]')?.click();
  document.activeElement?.blur();
  history.replaceState(null, '', location.pathname);
  scrollTo(0, 0);
})()`;
/** What the page does about a change of its look is done before the second picture. */
const settled = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** Has a report written before all tests of a `describe`; gives what opens it, or skips the test without a browser. */
export function reportInBrowser(write: (file: string) => Promise<unknown>): Reader {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-browser-'));
  const file = join(folder, 'report.html');
  let usual: Opened | undefined;
  beforeAll(async () => {
    if (chromiumPath !== undefined) await write(file);
  });
  afterAll(async () => {
    await usual?.page.close();
    rmSync(folder, { recursive: true });
  });

  const openAnew: Reader['openAnew'] = async (context, colorScheme, width) => {
    const page = await newPage(context, { colorScheme, viewport: { width, height: 800 } });
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
  return {
    openAnew,
    async open(context, colorScheme, width) {
      usual ??= await openAnew(context, colorScheme, width);
      const { page } = usual;
      await page.mouse.move(0, 0);
      await page.emulateMedia({ media: null, colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(asOpened);
      await page.evaluate(settled);
      await page.waitForFunction(`${misfits} === 0`);
      return usual;
    },
  };
}

/** Tables that are seen, but not whole, and not by intent: those with all numbers scroll. */
const hiddenCells = `[...document.querySelectorAll('section .scroll')]
  .filter((one) => one.offsetParent !== null && one.closest('.numbers') === null && one.scrollWidth > one.clientWidth)
  .map((one) => one.querySelector('caption').textContent)`;

/** What stands in a part, one below or beside the other, and overlaps all the same. */
const overlaps = `(() => {
  const blocks = [...document.querySelectorAll('section.open :is(h2, .headline, figcaption, .legend, .chart, .costs, summary, .scroll)')]
    .filter((one) => one.offsetParent !== null)
    .map((one) => ({ name: one.className || one.tagName, box: one.getBoundingClientRect() }));
  const by = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  return blocks.flatMap((one, at) => blocks.slice(at + 1).filter((other) => by(one.box, other.box)).map((other) => one.name + ' on ' + other.name));
})()`;

/** The page is no wider than its window, nothing lies on anything else, and where there is room tables are seen whole. */
export async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(await page.evaluate(overlaps)).toEqual([]);
  if (page.viewportSize()!.width >= 800) expect(await page.evaluate(hiddenCells)).toEqual([]);
}

/** Opens every part, one after the other, with all its folds; `seen` is asked about each. */
export async function openAll(page: Page, seen: () => Promise<void> = async () => undefined): Promise<void> {
  const tabs = page.locator('[role=tab]');
  for (let at = 0; at < Math.max(1, await tabs.count()); at += 1) {
    if (at < (await tabs.count())) await tabs.nth(at).click();
    await page.evaluate("document.querySelectorAll('section.open > details').forEach((one) => { one.open = true; })");
    await page.waitForFunction(
      "[...document.querySelectorAll('section.open .chart')].every((one) => one.querySelector('canvas') !== null)",
    );
    await seen();
  }
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
    // Of a copy: the browser warns of a canvas that is read again and again.
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
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
