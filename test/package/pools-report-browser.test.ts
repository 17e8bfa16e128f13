/** Timelines of both pools in a real browser: drawn in light and dark, wide and narrow; zoom leaves no problem behind. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { comparePools } from '../../src/sim/pools/compare.ts';
import { rolloutpipeJob, rolloutpipeWorkload } from '../../src/sim/pools/presets.ts';
import { writeReport } from '../../src/sim/report/write.ts';
import { chromiumPath, launchChromium } from '../support/chromium.ts';

const comparison = comparePools({
  job: rolloutpipeJob(16),
  workload: (seed) => rolloutpipeWorkload('lsat-ar', seed),
  rounds: 2,
  seeds: [1],
});

/** Pixels of each chart in the rarest of the colours that it must show. */
const pixels = `[...document.querySelectorAll('.chart')].map((chart) => {
  const names = chart.dataset.chart === 'pools' ? ['rollout', 'train', 'short'] : ['overhead', 'train', 'sync'];
  const canvas = chart.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const all = new Uint32Array(data.buffer);
  return Math.min(...names.map((name) => {
    const probe = new OffscreenCanvas(1, 1).getContext('2d');
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
    probe.fillRect(0, 0, 1, 1);
    const [colour] = new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer);
    return all.filter((pixel) => pixel === colour).length;
  }));
})`;
const hidden = `[...document.querySelectorAll('section > .scroll')]
  .filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => one.querySelector('caption').textContent)`;

describe('the report of disaggregated pools in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-pools-browser-'));
  const file = join(folder, 'report.html');
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    await writeReport(file, [], [], [comparison]);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  test.for([
    ['light', 1400],
    ['dark', 1400],
    ['light', 800],
    ['dark', 800],
  ] as const)('draws waits and timelines, %s, %d pixels wide', async ([scheme, width], context) => {
    if (browser === undefined) return context.skip('no Chromium: install it, or set CHROMIUM_PATH');
    const page = await browser.newPage({ colorScheme: scheme, viewport: { width, height: 900 } });
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`file://${file}`);
    await page.waitForFunction('document.documentElement.dataset.drawn !== undefined');
    const seen = (await page.evaluate(pixels)) as number[];
    expect(seen).toHaveLength(2);
    for (const one of seen) expect(one, seen.join()).toBeGreaterThan(100);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await page.evaluate(hidden)).toEqual([]);
    const chart = page.locator('.chart.pools');
    const picture = () => chart.locator('canvas').evaluate((one) => (one as HTMLCanvasElement).toDataURL());
    await chart.scrollIntoViewIfNeeded();
    const before = await picture();
    const box = (await chart.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -400);
    await page.keyboard.up('Control');
    await expect.poll(picture).not.toBe(before);
    expect(problems).toEqual([]);
    await page.close();
  });
});
