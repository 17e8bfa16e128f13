/** A real browser for the tests of the report, where one is installed. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** The path of a browser, if there is one. */
export const chromiumPath = places.find((path) => path !== undefined && existsSync(path));

/** Starts the browser, without network of its own. */
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
