/**
 * Shows when the playground paints its first result in Chromium, and how many results a second it paints while a slider
 * moves, each of a value of its own, against one another: the default workload, one window of 1.6 s a slider and way.
 * What else the machine does only takes away, so the best and the median of all windows are shown.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { chromiumPath, launchChromium } from '../test/support/browser/chromium.ts';
import { machine, median } from './support.ts';

const configFile = fileURLToPath(new URL('../docs/playground/vite.config.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rollflex-playground-'));
const windowSeconds = 1.6;
const windows = 5;
const starts = 5;

interface Sweep {
  /** Results that were painted, each of another value. */
  readonly painted: number;
  /** Frames of the page meanwhile. */
  readonly frames: number;
  /** Milliseconds of simulation of each. */
  readonly took: readonly number[];
}

const settled = (page: Page) => page.waitForSelector('main[aria-busy="false"]');

async function openPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(`file://${folder}/index.html`);
  await settled(page);
  return page;
}

/** Milliseconds from the start of loading until a result is on the screen. */
async function firstResult(browser: Browser): Promise<number> {
  const page = await openPage(browser);
  const at = await page.evaluate("performance.getEntriesByName('rollflex:painted')[0].startTime");
  await page.close();
  return at as number;
}

/** Moves a slider from one value to another, a new position each frame, and counts what is painted. */
async function sweep(page: Page, key: string, from: number, to: number): Promise<Sweep> {
  await page.locator(`#set-${key}`).fill(String(from));
  await settled(page);
  const result = await page.evaluate(`new Promise((done) => {
    performance.clearMarks();
    const slider = document.getElementById('set-${key}');
    const begun = performance.now();
    let frames = 0;
    const move = () => {
      const share = (performance.now() - begun) / ${1000 * windowSeconds};
      frames += 1;
      if (share < 1) {
        slider.value = String(${from} + (${to - from}) * share);
        slider.dispatchEvent(new Event('input'));
        requestAnimationFrame(move);
        return;
      }
      const marks = performance.getEntriesByName('rollflex:painted');
      const others = marks.filter((mark, at) => mark.detail.settings['${key}'] !== marks[at - 1]?.detail.settings['${key}']);
      done({ painted: others.length, frames, took: others.map((mark) => mark.detail.took) });
    };
    requestAnimationFrame(move);
  })`);
  await settled(page);
  return result as Sweep;
}

async function measure(browser: Browser, name: string, key: string, from: number, to: number): Promise<void> {
  const page = await openPage(browser);
  const sweeps: Sweep[] = [];
  for (let index = 0; index < windows; index += 1) {
    sweeps.push(await sweep(page, key, index % 2 === 0 ? from : to, index % 2 === 0 ? to : from));
  }
  await page.close();
  const rates = sweeps.map((one) => one.painted / windowSeconds);
  const took = sweeps.flatMap((one) => one.took).sort((a, b) => a - b);
  const simulated = [0.1, 0.5].map((share) => took[Math.floor(share * took.length)]!.toFixed(0)).join(' to ');
  const frames = median(sweeps.map((one) => one.frames / windowSeconds));
  console.log(
    `${name.padEnd(24)} ${Math.max(...rates)
      .toFixed(0)
      .padStart(3)} results/s at best, ${median(rates).toFixed(0)} in the median; ` +
      `${simulated} ms of simulation each (P10 to P50), ${frames.toFixed(0)} frames/s`,
  );
}

if (chromiumPath === undefined) console.log('skipped: no Chromium; install it, or set CHROMIUM_PATH');
else {
  await build({ configFile, logLevel: 'error', build: { outDir: folder } });
  console.log(`${machine()}; load ${loadavg()[0]!.toFixed(1)} when it began`);
  const browser = await launchChromium();
  const first: number[] = [];
  for (let index = 0; index < starts; index += 1) first.push(await firstResult(browser));
  console.log(
    `first result             ${Math.min(...first).toFixed(0)} ms at best, ${median(first).toFixed(0)} in the median`,
  );
  await measure(browser, 'eta_P from 1 to 2', 'etaP', 1, 2);
  await measure(browser, 'eta_R from 1 to 2', 'etaR', 1, 2);
  await measure(browser, 'P from 2 to 40', 'P', 2, 40);
  await browser.close();
}
rmSync(folder, { recursive: true });
