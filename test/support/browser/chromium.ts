/** A real browser for the tests of pages, where one is installed. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** The path of a browser, if there is one. */
export const chromiumPath = places.find((path) => path !== undefined && existsSync(path));

/** Starts a browser, without network of its own. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath!,
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

/** The browser of all test files of a worker. It ends with the worker: nobody closes it. */
export function sharedChromium(): Promise<Browser> {
  shared ??= launchChromium();
  return shared;
}
