/** A real browser for the tests of pages, where one is installed. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { TestContext } from 'vitest';

/** The shell is the same browser without what is around a page: with it, tests of pages take two thirds of the time on a core. */
const installed = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const places = [process.env.CHROMIUM_PATH, ...installed.map((name) => `/usr/bin/${name}`)];
/** The path of a browser, if there is one. */
export const chromiumPath = places.find((path) => path !== undefined && existsSync(path));

/** Starts a browser, without network of its own. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath!,
    // Tests send signals to the process that they run in: by itself Playwright closes all browsers then.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

let shared: Promise<Browser> | undefined;

/** The browser of all test files of a worker. It ends with the worker: nobody closes it. One that has crashed is launched anew. */
export async function sharedChromium(): Promise<Browser> {
  if ((await shared?.catch(() => undefined))?.isConnected() !== true) shared = launchChromium();
  return shared!;
}

/** Opens a page in the browser of the worker, or skips the test where there is none. */
export async function newPage(context: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
  if (chromiumPath === undefined) return context.skip('no Chromium: install it, or set CHROMIUM_PATH');
  const page = await (await sharedChromium()).newPage(options);
  page.setDefaultTimeout(120_000);
  return page;
}
