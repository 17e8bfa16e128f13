/** The page of a running job in a real browser: what changes, who has to act, refusals, a server that was killed, hostile ids, every look. */
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { chromiumPath } from '../support/browser/chromium.ts';
import { inEveryLook, openServed as open, text } from '../support/browser/served.ts';
import { LiveJob, type LiveJobOptions } from '../support/servers/live-job.ts';
import { playLog } from '../support/servers/live-log.ts';
import { LiveServer } from '../support/servers/live-server.ts';

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function serve(...options: string[]): Promise<LiveServer> {
  const server = await LiveServer.start(['--dashboard', '0', ...options]);
  closing.push(() => server.stop());
  return server;
}
async function jobOn(server: LiveServer, options: LiveJobOptions = {}): Promise<LiveJob> {
  const job = await LiveJob.start(server, { behind: 7200, ...options });
  closing.push(() => job.stop());
  return job;
}

/** Waits until the page says something; it asks every second. */
const says = (page: Page, selector: string) => expect.poll(() => text(page, selector));
const seq = async (page: Page): Promise<number> => Number(await page.locator('body').getAttribute('data-seq'));
/** Clicks on an id, wherever it stands: what it stands in is made anew every second. */
const clickId = (page: Page, within: string, id: string) =>
  expect
    .poll(() =>
      page.evaluate(
        ([where, wanted]) => {
          const all = [...document.querySelectorAll<HTMLElement>(`${where} [data-id]`)];
          const found = all.find((one) => one.dataset.id === wanted);
          found?.click();
          return found !== undefined;
        },
        [within, id] as const,
      ),
    )
    .toBe(true);
/** Chooses a session of the table. */
const clickSession = (page: Page, session: string) =>
  expect
    .poll(() =>
      page.evaluate((wanted) => {
        const all = [...document.querySelectorAll<HTMLElement>('[data-session]')];
        const found = all.find(({ dataset }) => dataset.session === wanted);
        found?.click();
        return found !== undefined;
      }, session),
    )
    .toBe(true);
/** How many charts have something drawn on them. */
const drawn = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const all = [...document.querySelectorAll<HTMLCanvasElement>('.chart canvas')];
    return all.filter((one) => {
      const { data } = one.getContext('2d')!.getImageData(0, 0, one.width, one.height);
      return new Set(new Uint32Array(data.buffer)).size > 5;
    }).length;
  });

test('what a job does is seen as it goes, and who has to act when it does not', async (context) => {
  if (chromiumPath === undefined) return context.skip('no Chromium: install it, or set CHROMIUM_PATH');
  const server = await serve();
  const { page, problems } = await open(context, server);
  await says(page, '#verdict').toBe('No session is open yet.');
  const job = await jobOn(server);
  await job.rounds(2);
  await expect.poll(() => seq(page)).toBeGreaterThan(30);
  await page.evaluate('window.mark = 1');
  const before = await seq(page);
  await job.rounds(2);
  await expect.poll(() => seq(page)).toBeGreaterThan(before + 20);
  await says(page, '#rounds').toMatch(/r3 .*round\.(completed|drained)[\s\S]*r2 [\s\S]*r1 [\s\S]*r0 /);
  await expect.poll(() => drawn(page)).toBe(4);

  // Rewards stay away: all that is left to do is for the host.
  job.isRewarded = () => false;
  const { id: round } = job.round();
  await says(page, '#verdict').toMatch(
    /^the host owes \d+ reward\.ready, the oldest for .*: \d+ answers are overdue\.$/,
  );
  await clickId(page, '#rounds', round);
  await says(page, '#thing-why').toContain('The host owes reward.ready');
  expect(page.url()).toContain(`why=${round}`);
  const [prompt] = await page.locator('#held .id').allInnerTexts();
  await clickId(page, '#held', prompt!);
  await says(page, '#thing-why').toMatch(new RegExp(`^Prompt ${prompt} .*the host owes reward\\.ready`, 'i'));

  await job.send({ type: 'round.requested', roundId: 'too-early', weightVersion: 9 });
  expect(job.refusals).toHaveLength(1);
  await says(page, '#refused').toMatch(/Refused events: 1[\s\S]*out_of_order[\s\S]*life-1/);
  await inEveryLook(page, 'dashboard');
  await page.keyboard.press('Escape');
  expect(await page.locator('#thing').isVisible()).toBe(false);

  expect(problems).toEqual([]);

  // The session is closed, and opened anew. A question that comes between is answered with 404, which a browser notes.
  const end = await seq(page);
  job.isRewarded = () => true;
  await job.close();
  await says(page, '#verdict').toBe('No session is open yet.');
  await job.open();
  await job.rounds(1);
  await expect.poll(() => seq(page)).toBeLessThan(end);
  await says(page, '#refused').toContain('Refused events: 0');
  expect(await page.evaluate('window.mark')).toBe(1);
  expect(problems.filter((one) => !one.includes('404'))).toEqual([]);
  await page.close();
});

test('a server that was killed is found again, with the sessions that it had', async (context) => {
  if (chromiumPath === undefined) return context.skip('no Chromium: install it, or set CHROMIUM_PATH');
  const server = await serve('--state-dir', '--dashboard-key-file');
  expect(server.url).not.toContain('key=');
  const job = await jobOn(server);
  await job.rounds(1);
  const { page, problems } = await open(context, server);
  await page.waitForSelector('#locked:not([hidden])');
  await page.locator('#key').fill(server.key);
  await page.keyboard.press('Enter');
  await expect.poll(() => seq(page)).toBeGreaterThan(10);
  // A timer that fires after the restart would be an event.
  await expect.poll(() => job.isQuiet).toBe(true);
  const before = await seq(page);
  await server.kill();
  await page.waitForSelector('body[data-live=lost]');
  problems.length = 0;
  await server.start();
  await page.waitForSelector('body[data-live=live]');
  await says(page, '#lacks').toContain('No event has come since');
  await job.rounds(1);
  await says(page, '#lacks').toMatch(/\d\d events came before/);
  await expect.poll(() => seq(page)).toBeGreaterThan(before);
  await page.close();
});

test('ids are text, whatever is in them', async (context) => {
  if (chromiumPath === undefined) return context.skip('no Chromium: install it, or set CHROMIUM_PATH');
  const server = await serve();
  const names = {
    prompt: '<img src=x onerror="document.title=1">\u0000\u001b[31m',
    round: '</script><script>document.title=2</script>\u202e',
    engine: `"'><b>${'e'.repeat(400)}`,
  };
  const sessions = ['<svg onload=document.title=3>', '__proto__', 'constructor'];
  const [job] = await Promise.all(sessions.map((session) => jobOn(server, { names, session })));
  await job!.rounds(3);
  job!.isRewarded = () => false;
  const { id: round } = job!.round();
  await job!.send({ type: 'round.requested', roundId: names.round, weightVersion: 9 });
  const { page, problems } = await open(context, server);
  for (const session of sessions) {
    await clickSession(page, session);
    await says(page, '#name').toContain(session);
  }
  await clickSession(page, sessions[0]!);
  await says(page, '#rounds').toContain('</script><script>document.title=2</script>\\u202e0');
  await expect.poll(() => drawn(page)).toBe(4);
  await clickId(page, '#rounds', round);
  await says(page, '#thing-why').toContain('has 0 of 3 prompts');
  await says(page, '#held').toContain('<img src=x onerror="document.title=1">\\u0000\\u001b[31m');
  await inEveryLook(page, 'dashboard-hostile');
  expect(await page.title()).toBe('rollflex serve');
  expect(await page.locator('img, svg, #view script, #view b b').count()).toBe(0);
  const seen = await text(page, 'body');
  for (const sign of ['\u0000', '\u001b', '\u202e']) expect(seen).not.toContain(sign);
  expect(problems).toEqual([]);
  await page.close();
});

test('what hangs of other policies is said first, too: logs of the zoo, played into one server', async (context) => {
  if (chromiumPath === undefined) return context.skip('no Chromium: install it, or set CHROMIUM_PATH');
  const server = await serve();
  const client = await server.connect();
  const stuck = {
    'nemo-rl-3938': [/^the data source owes prompts\.supplied, the oldest for .* overdue/, 'r3'],
    'skyrl-1173': [/^engine e2 owes response\.completed, the oldest for .* overdue/, 'p9'],
    'slime-2176': [/^reward worker w0 owes reward\.finished, the oldest for .* overdue/, 'p14/0#2'],
  } as const;
  for (const log of Object.keys(stuck)) await playLog(client, log);
  const { page, problems } = await open(context, server);
  for (const [log, [verdict, id]] of Object.entries(stuck)) {
    await clickSession(page, log);
    await says(page, '#verdict').toMatch(verdict);
    await clickId(page, 'main', id);
    await says(page, '#thing-why').toMatch(new RegExp(String(verdict).match(/\^(.*?) owes/)![1]!, 'i'));
    await page.keyboard.press('Escape');
  }
  expect(problems).toEqual([]);
  await page.close();
});
