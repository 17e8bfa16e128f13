/**
 * Uses the command line of a product for what needs more of it than one file: a plan of every planner over `serve --stdio`, as in
 * this process, and in Chromium, which must not complain, the pages of `serve --dashboard` and of `debug`.
 *
 * `tsx scripts/smoke-product.ts <command> [argument…]`, with the command that starts `rollflex`. Without a browser it ends with 77.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { registry } from '../src/registry.ts';
import { chromiumPath, launchChromium } from '../test/support/browser/chromium.ts';
import { exampleInputs } from '../test/support/examples/inputs.ts';

const [command, ...before] = process.argv.slice(2);
if (command === undefined) throw new Error('usage: smoke-product.ts <command> [argument…]');
const log = mkdtempSync(join(tmpdir(), 'rollflex-smoke-'));
const problems: string[] = [];

/** A process of the product: where it says that its page is, and how it ended. */
class Running {
  readonly process: ChildProcessWithoutNullStreams;
  readonly #said: string[] = [];
  readonly url: Promise<string>;
  readonly #ended: Promise<unknown>;

  constructor(...args: string[]) {
    this.process = spawn(command!, [...before, ...args], { stdio: 'pipe' });
    this.#ended = new Promise((resolve) => this.process.on('close', resolve).on('error', resolve));
    this.url = new Promise((resolve, reject) => {
      for (const stream of [this.process.stdout, this.process.stderr])
        createInterface({ input: stream }).on('line', (line) => {
          if (stream === this.process.stderr) this.#said.push(line);
          const found = /http:\/\/\S+/.exec(line)?.[0];
          if (found !== undefined) resolve(found);
        });
      void this.#ended.then((code) => reject(new Error(`${args.join(' ')}: ended with ${code}`)));
    });
    // Not everything has a page.
    this.url.catch(() => undefined);
  }

  /** Waits for its end, which is to be an orderly one. */
  async end(): Promise<void> {
    const code = await this.#ended;
    if (code !== 0) problems.push(`ended with ${code}: ${this.#said.join('\n')}`);
  }
}

const server = new Running('serve', '--stdio', '--log-dir', log, '--dashboard', '0');
const lines = createInterface({ input: server.process.stdout })[Symbol.asyncIterator]();
async function call(method: string, params: object): Promise<Record<string, unknown>> {
  server.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
  const { value, done } = await lines.next();
  if (done) throw new Error(`no answer to ${method}`);
  const { result, error } = JSON.parse(value);
  if (error !== undefined) throw new Error(`${method} ${JSON.stringify(params).slice(0, 100)}: ${value}`);
  return result;
}

try {
  for (const { id } of registry.planners) {
    const [input] = exampleInputs[id]!;
    const { plan } = await call('plan', { planner: id, input });
    const expected = JSON.parse(JSON.stringify(registry.plan(id as never, input as never)));
    if (!isDeepStrictEqual(plan, expected)) problems.push(`${id} has another plan than here`);
  }
  console.log(`${registry.planners.length} planners`);
  const config = { promptsPerRound: 2, responsesPerPrompt: 2 };
  await call('session.open', { policy: 'tail-batching', config, session: 'a-job' });
  const event = { type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 1 };
  await call('session.send', { session: 'a-job', events: [event] });
  if (chromiumPath !== undefined) {
    const browser = await launchChromium();
    const seen = async (running: Running, ...selectors: string[]): Promise<void> => {
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      page.on('console', (message) => problems.push(message.text()));
      page.on('pageerror', (error) => problems.push(error.message));
      await page.goto(await running.url);
      for (const selector of selectors) await page.waitForSelector(selector, { state: 'attached', timeout: 60_000 });
      console.log((await page.locator('h1').innerText()).trim());
      await page.close();
    };
    await seen(server, '[data-session="a-job"]', 'body[data-seq="1"]');
    server.process.stdin.end();
    await server.end();
    const debug = new Running('debug', log, '--no-open');
    await seen(debug, 'body[data-shown="1"]', '#whole .answer');
    debug.process.kill('SIGTERM');
    await browser.close();
  } else {
    server.process.stdin.end();
    await server.end();
  }
} catch (error) {
  problems.push(String(error));
  server.process.kill();
}
rmSync(log, { recursive: true });
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
if (chromiumPath === undefined) {
  console.log('the pages in no browser: install Chromium, or set CHROMIUM_PATH');
  process.exit(77);
}
