/** Pages that rollflex serves, in a real browser: and what it complains about. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, type TestContext } from 'vitest';
import type { PageServer } from '../../../src/cli/page-server.ts';
import { newPage } from './chromium.ts';
import { looks } from './report.ts';

export interface OpenedPage {
  readonly page: Page;
  /** What the browser has complained about, and what the page has asked others for: it must stay empty. */
  readonly problems: string[];
}
/** The clock of a page is so much faster: what it asks for every second, it asks for without much waiting. */
const hurry = 8;

/** Opens a served page, or skips the test where there is no browser. */
export async function openServed(
  context: TestContext,
  server: Pick<PageServer, 'url' | 'port'>,
  hash = '',
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const page = await newPage(context, { viewport: { width: 1280, height: 900 }, ...options });
  await page.addInitScript((faster) => {
    const real = setTimeout;
    const quick = (callback: () => void, milliseconds = 0) => real(callback, milliseconds / faster);
    Object.assign(globalThis, { setTimeout: quick });
  }, hurry);
  const problems: string[] = [];
  // Where a question is refused, this is the question.
  page.on('console', (message) => problems.push(`${message.text()} ${message.location().url}`.trim()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`http://127.0.0.1:${server.port}/`)) problems.push(`asks for ${request.url()}`);
  });
  await page.goto(`${server.url}${hash}`);
  return { page, problems };
}

export const text = (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();

/**
 * The page in light and dark, wide and narrow: nothing is cut off at its side. With `ROLLFLEX_SCREENSHOTS=<folder>` pictures of all
 * are written there.
 */
export async function inEveryLook(page: Page, name: string): Promise<void> {
  const folder = process.env.ROLLFLEX_SCREENSHOTS;
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  for (const [colorScheme, width] of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const overflow = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
    // Charts are drawn anew when the window has changed.
    await expect.poll(overflow, { message: `${width}` }).toBeLessThanOrEqual(0);
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)');
    if (folder === undefined) continue;
    const path = join(folder, `${name}-${width}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage: true });
  }
}
