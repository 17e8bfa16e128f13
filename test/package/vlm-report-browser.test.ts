/** Pictures of plans in a real browser: drawn in light and dark, wide and narrow, every coloured sequence seen. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeReport } from '../../src/sim/report/write.ts';
import { compareVlm } from '../../src/sim/vlm/compare.ts';
import { defineVlmJob } from '../../src/sim/vlm/settings.ts';
import { chromiumPath, launchChromium } from '../support/chromium.ts';
import { mixture } from '../support/vlm.ts';

const job = defineVlmJob({ gpus: 16, batchSequences: 32 });
const comparison = compareVlm({ job, workload: mixture('image-heavy'), steps: 1 });

/** Pixels of each chart in each of the colours that it must show; of a plan, those of the longest sequences. */
const pixels = `[...document.querySelectorAll('.chart')].map((chart) => {
  const names = chart.dataset.chart === 'plan' ? ['seq0', 'seq1', 'seq2'] : ['rollout', 'update'];
  const canvas = chart.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const all = new Uint32Array(data.buffer);
  return Math.min(...names.map((name) => {
    const probe = new OffscreenCanvas(1, 1).getContext('2d');
    const value = getComputedStyle(document.documentElement).getPropertyValue('--' + (name === 'update' ? 'train' : name));
    probe.fillStyle = value.trim();
    probe.fillRect(0, 0, 1, 1);
    const [colour] = new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer);
    return all.filter((pixel) => pixel === colour).length;
  }));
})`;

/** Contrast (WCAG 2) of the colours of sequences against the ground of a chart; the least. */
const leastContrast = `(() => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => [1, 3, 5]
    .map((at) => parseInt(style.getPropertyValue(name).trim().replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3').slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = light('--panel');
  return Math.min(...[0, 1, 2, 3, 4, 5].map((i) => light('--seq' + i))
    .map((one) => (Math.max(one, ground) + 0.05) / (Math.min(one, ground) + 0.05)));
})()`;

describe('the report of VLM steps in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-vlm-browser-'));
  const file = join(folder, 'report.html');
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    await writeReport(file, [], [comparison]);
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
  ] as const)('draws stages and plans, %s, %d pixels wide', async ([scheme, width], context) => {
    if (browser === undefined) return context.skip('no Chromium: install it, or set CHROMIUM_PATH');
    const page = await browser.newPage({ colorScheme: scheme, viewport: { width, height: 900 } });
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`file://${file}`);
    await page.waitForFunction('document.documentElement.dataset.drawn !== undefined');
    const seen = (await page.evaluate(pixels)) as number[];
    expect(seen).toHaveLength(4);
    for (const one of seen) expect(one, seen.join()).toBeGreaterThan(100);
    // Text on the bars is of the ground's colour: enough for small text too.
    expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.4);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    const hidden = `[...document.querySelectorAll('section > .scroll')].filter((one) => one.scrollWidth > one.clientWidth).length`;
    expect(await page.evaluate(hidden)).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });
});
