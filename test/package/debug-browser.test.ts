/** The page of `rollflex debug` in a real browser: slider, steps, search, why, a log that grows, hostile ids, every look. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PageServer } from '../../src/cli/page-server.ts';
import { create, recordEvents, tailBatching } from '../../src/index.ts';
import { simulate } from '../../src/sim/colocated/driver.ts';
import { tailBatchingScheduler } from '../../src/sim/colocated/scheduler.ts';
import { inEveryLook, openServed, text } from '../support/browser/served.ts';
import { commandOf } from '../support/command-line/process.ts';
import { Folders } from '../support/servers/decision-log.ts';
import { plainJob, plainWorkload, recording } from '../support/simulator/host.ts';
import { pathOf } from '../zoo/files.ts';

type Served = Pick<PageServer, 'url' | 'port' | 'close'>;
const folders = new Folders();
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
  folders.remove();
});

/** `rollflex debug`, which prints its URL. */
async function serve(path: string, { follow = false, port = 0 } = {}): Promise<Served> {
  const args = ['debug', path, '--no-open', '--port', String(port), ...(follow ? ['--follow'] : [])];
  const child = spawn(process.execPath, commandOf(args), { stdio: ['ignore', 'pipe', 'inherit'] });
  const close = async () => {
    if (child.kill()) await once(child, 'exit');
  };
  closing.push(close);
  for await (const url of createInterface({ input: child.stdout }))
    return { url, port: Number(new URL(url).port), close };
  throw new Error('it has left');
}

async function open(...args: Parameters<typeof openServed>) {
  const opened = await openServed(...args);
  /** Waits until an event is shown, with why the session waits. */
  const shown = (seq: number) => opened.page.waitForSelector(`body[data-shown="${seq}"]`);
  return { ...opened, shown };
}

describe('a log of the zoo', () => {
  let server: Served;
  beforeAll(async () => {
    server = await serve(pathOf('nemo-rl-3938'));
  });

  test('slider, steps, search, why and state, in every look', async (context) => {
    const { page, problems, shown } = await open(context, server);
    await shown(153);
    expect(page.url()).not.toContain('key=');
    expect(await text(page, '#whole .answer')).toMatch(
      /^tail-batching is stuck: the data source owes prompts\.supplied of r3/,
    );
    expect(await text(page, '#standing .overdue')).toContain('prompts.supplied');
    await page.locator('#back').click();
    await shown(152);
    await page.keyboard.press('ArrowRight');
    await shown(153);
    await page.locator('#slider').fill('110');
    await shown(110);
    await page.locator('#change-on').click();
    await shown(111);
    expect(await text(page, '#event')).toContain('prompts.request because of failed');
    await page.locator('#number').fill('4');
    await page.keyboard.press('Enter');
    await shown(4);
    await page.locator('#begin').click();
    await shown(0);
    await page.goBack();
    await shown(4);
    await page.reload();
    await shown(4);

    // Finds reasons and ids, says why one waits, opens the state, and keeps the place in the URL.
    await page.keyboard.press('/');
    await page.keyboard.type('prompt_failed');
    await page.keyboard.press('Enter');
    await shown(111);
    await page.locator('#find-on').click();
    await expect.poll(() => text(page, '#says')).toBe('No later event has prompt_failed.');
    await page.locator('#text').fill('p_13');
    await page.locator('#find-back').click();
    await expect.poll(() => text(page, '#says')).toContain('Did you mean p13?');
    await page.locator('#standing button.id', { hasText: /^p13$/ }).click();
    await expect.poll(() => text(page, '#thing-why')).toContain('Prompt p13 has 0 of 2 responses');
    expect(page.url()).toMatch(/#e=111&q=p_13&why=p13$/);
    await page.locator('#thing-back').click();
    await page.waitForSelector('body[data-shown]:not([data-shown="111"])');
    await page.locator('#state > summary').click();
    const node = (name: string) => page.locator('#tree summary', { hasText: new RegExp(`^${name}\\b`) });
    for (const name of ['state', 'parts', 'admission']) await node(name).first().click();
    await expect.poll(() => text(page, '#tree')).toContain('version 5');
    await inEveryLook(page, 'debug');
    await page.keyboard.press('Escape');
    expect(await page.locator('#thing').isVisible()).toBe(false);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('without the key there is nothing but a field for it, and for a foreign page nothing at all', async (context) => {
    const bare = { ...server, url: server.url.split('#')[0]! };
    const { page, shown } = await open(context, bare);
    await page.waitForSelector('#locked:not([hidden])');
    expect(await page.locator('#view').isVisible()).toBe(false);
    await page.locator('#key').fill(server.url.split('key=')[1]!);
    await page.keyboard.press('Enter');
    await shown(153);

    // A foreign page gets nothing by any means.
    const foreign = createServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>foreign</p>'),
    );
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    const { port } = foreign.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/`);
    const key = server.url.split('key=')[1]!;
    const tried = (await page.evaluate(`(async () => {
      const api = 'http://127.0.0.1:${server.port}/api/log';
      const ask = (init) => fetch(api, init).then((one) => one.type + one.status, (error) => error.name);
      const frame = document.createElement('iframe');
      frame.src = 'http://127.0.0.1:${server.port}/';
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener('load', resolve));
      let inside = 'nothing';
      try { inside = frame.contentDocument.title; } catch {}
      return [await ask({ headers: { authorization: 'Bearer ${key}' } }), await ask({ method: 'POST', body: 'x' }), await ask({ mode: 'no-cors' }), inside];
    })()`)) as string[];
    expect(tried).toEqual([
      'TypeError',
      'TypeError',
      expect.stringMatching(/TypeError|opaque0/),
      expect.stringMatching(/^(nothing|)$/),
    ]);
    await page.close();
    foreign.close();
  });
});

test('ids, refs and messages are text, whatever is in them', async (context) => {
  const hostile = [
    '<img src=x onerror="document.title=1">',
    '</script><script>document.title=2</script>',
    '\u001b[31m\u202eevil\u0007',
    '"><b>p',
    '__proto__',
  ];
  const lines: string[] = [];
  const tail = create(tailBatching, {
    promptsPerRound: hostile.length,
    responsesPerPrompt: 1,
    promptSpeculation: 1,
    placement: 'policy',
  });
  recordEvents(tail, (line) => lines.push(line));
  tail.send({ type: 'engine.added', at: 0, engineId: hostile[0]! });
  tail.send({ type: 'round.requested', at: 1, roundId: hostile[1]!, weightVersion: 1 });
  tail.send({
    type: 'prompts.supplied',
    at: 2,
    roundId: hostile[1]!,
    prompts: hostile.map((promptId) => ({ promptId, ref: hostile[0]! })),
  });
  tail.send({ type: 'response.failed', at: 3, requestId: `${hostile[0]}/0#0`, kind: 'data', message: hostile[1]! });
  const folder = folders.next();
  mkdirSync(folder, { recursive: true });
  const path = join(folder, '<i>run.jsonl');
  writeFileSync(path, `${lines.join('\n')}\n`);
  const { page, problems, shown } = await open(context, await serve(path));
  await shown(4);
  for (const id of hostile.slice(0, 3)) {
    await page.locator('#number').fill('3');
    await page.keyboard.press('Enter');
    await shown(3);
    await page.locator('#standing button.id').evaluateAll((all, wanted) => {
      for (const one of all as HTMLElement[]) if (one.dataset.id === wanted) one.click();
    }, id);
    await expect.poll(() => text(page, '#thing-why')).toContain('has 0 of 1 responses');
    await page.locator('#text').fill(id);
    await page.locator('#find-back').click();
    await expect.poll(() => text(page, '#says')).not.toBe('…');
  }
  await page.locator('#state > summary').click();
  await page.waitForSelector('#tree details');
  expect(await page.title()).toBe('rollflex debug');
  expect(await text(page, '#name')).toBe('<i>run.jsonl');
  expect(await page.locator('img, #view b b, #view i, #view script').count()).toBe(0);
  // Controls are shown escaped, and none is left.
  const seen = await text(page, 'body');
  expect(seen).toContain('\\u001b[31m\\u202eevil\\u0007');
  for (const sign of ['\u001b', '\u0007', '\u202e']) expect(seen).not.toContain(sign);
  expect(problems).toEqual([]);
  await page.close();
});

test('what-if, one click away: the form of the policy, answers, and what cannot be asked', async (context) => {
  const lines: string[] = [];
  const job = plainJob({ engines: 2, promptsPerRound: 4, responsesPerPrompt: 2 });
  const hostile = '<img src=x onerror="document.title=1">';
  const workload = plainWorkload((prompt, k) => 40 + ((prompt * 37 + k * 101) % 300));
  simulate(
    job,
    recording(tailBatchingScheduler(job, { idPrefix: hostile, promptSpeculation: 1.25 }), lines),
    workload,
    {
      ...{ prompts: 1000, until: 24, seed: 1, timeline: false },
    },
  );
  const folder = folders.next();
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${'<b>'}run.jsonl`);
  writeFileSync(path, `${lines.join('\n').replaceAll('"engine-0"', JSON.stringify(hostile))}\n`);
  const { page, problems, shown } = await open(context, await serve(path), '&e=60');
  await shown(60);
  await page.locator('#charts > summary').click();
  await page.waitForSelector('#charts[data-shown="60"]');
  expect(await page.locator('#gantt canvas, #queue canvas').count()).toBe(2);
  await page.locator('#what-if > summary').click();
  await page.waitForSelector('#what-if-run');
  const eta = page.locator('input[name=promptSpeculation]');
  expect(await eta.inputValue()).toBe('1.25');
  expect(await page.locator('label.setting', { has: eta }).getAttribute('title')).toMatch(/\(a number, at least 1/);
  expect(await page.locator('[name=promptsPerRound], [name=placement]').count()).toBe(0);

  // While a thread works, the page goes on.
  await eta.fill('1.5');
  await page.locator('#what-if-run').click();
  await page.locator('#on').click();
  await shown(61);
  await page.waitForSelector('#charts[data-shown="61"]');
  await expect
    .poll(() => text(page, '#what-if-answer'), { timeout: 60_000 })
    .toMatch(/[\d.]+x.* as fast \(.*(time saved|more time)\)/);
  const answer = await text(page, '#what-if-answer');
  expect(answer).toContain('from event 60 (round ');
  expect(answer).toContain('promptSpeculation: 1.25 -> 1.5');
  expect(answer).toMatch(/The intervals \(95 %\) are over these draws/);
  expect(await page.locator('#what-if-answer tbody tr').count()).toBe(3);
  await inEveryLook(page, 'what-if');

  await page.locator('#what-if-policy').selectOption('synchronous');
  expect(await eta.isDisabled()).toBe(true);
  await page.locator('#what-if-run').click();
  await expect
    .poll(() => text(page, '#what-if-answer'), { timeout: 60_000 })
    .toContain('synchronous after the open round, with its own settings');
  await page.locator('#what-if-policy').selectOption('');
  await eta.fill(hostile);
  await page.locator('#what-if-run').click();
  await expect.poll(() => text(page, '#what-if-answer'), { timeout: 60_000 }).toContain('promptSpeculation: expected');
  expect(await text(page, '#what-if-answer')).toContain('<img src=x onerror=');
  expect(await page.title()).toBe('rollflex debug');
  expect(await page.locator('img, #view b b').count()).toBe(0);
  expect(problems.filter((one) => !one.includes('status of 400'))).toEqual([]);
  await page.close();
});

test('a log that is being written: the page goes on with it, and comes back after its server', async (context) => {
  const whole = readFileSync(pathOf('verl-7155'), 'utf8').trimEnd().split('\n');
  const folder = folders.next();
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'run.jsonl');
  writeFileSync(path, `${whole.slice(0, 20).join('\n')}\n`);
  const server = await serve(path, { follow: true });
  const { page, shown } = await open(context, server);
  await shown(19);
  expect(await text(page, '#live')).toBe('follows the log');
  appendFileSync(path, `${whole.slice(20, 25).join('\n')}\n`);
  await shown(24);
  // Who looks at something else stays there.
  await page.locator('#back').click();
  await shown(23);
  appendFileSync(path, `${whole.slice(25, 30).join('\n')}\n`);
  await expect.poll(() => text(page, '#last')).toBe('of 29');
  expect(await page.locator('body').getAttribute('data-shown')).toBe('23');
  await server.close();
  await expect.poll(() => text(page, '#live')).toBe('no connection; trying again');
  // The key of another server is another one.
  const again = await serve(path, { follow: true, port: server.port });
  await page.waitForSelector('#locked:not([hidden])');
  await page.locator('#key').fill(again.url.split('key=')[1]!);
  await page.keyboard.press('Enter');
  await expect.poll(() => text(page, '#live')).toBe('follows the log');
  await shown(23);
  await page.close();
});
