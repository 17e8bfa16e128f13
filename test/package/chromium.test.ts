/** The browser that tests share is there for each of them, whatever the others do. */
import { expect, test } from 'vitest';
import { newPage, sharedChromium } from '../support/browser/chromium.ts';

test('a signal that a test sends to its own process leaves the browser alone', async (context) => {
  const page = await newPage(context);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    await new Promise<void>((resolve) => {
      process.once(signal, () => resolve());
      process.kill(process.pid, signal);
    });
  }
  // Who closes the browser does so in turns that follow.
  const other = await newPage(context);
  expect([await page.evaluate('1 + 1'), await other.evaluate('1 + 1')]).toEqual([2, 2]);
  await page.close();
  await other.close();
});

test('one that is gone is launched anew', async (context) => {
  await (await newPage(context)).close();
  await (await sharedChromium()).close();
  const page = await newPage(context);
  expect(await page.evaluate('1 + 1')).toBe(2);
  await page.close();
});
