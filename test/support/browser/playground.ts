/** The playground, built once, in a real browser: from a folder and from a server that has it under a path. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, type TestContext } from 'vitest';
import { chromiumPath, newPage } from './chromium.ts';

/** An open page, and what the browser complained about: it must stay empty. */
export interface OpenPlayground {
  readonly page: Page;
  readonly problems: string[];
}
export interface OpenOptions extends BrowserContextOptions {
  /** With its `#`. */
  readonly hash?: string;
  readonly from?: 'folder' | 'server';
  /** Cores that the browser says it has: the page simulates on all but one of them. */
  readonly cores?: number;
}
export interface Reader {
  /** Opens a page of its own. */
  openAnew(context: TestContext, options?: OpenOptions): Promise<OpenPlayground>;
  /** Shows other settings in the one page of the tests on so many cores, as a link in it would; it is without a network. */
  open(context: TestContext, hash: string, cores?: number): Promise<OpenPlayground>;
}

/** Where the server has it. */
export const servedUnder = '/docs/rollflex/playground/';

/** Has the playground built before all tests of a `describe`; gives what opens it, or skips the test without a browser. */
export function playgroundInBrowser(): Reader {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-playground-'));
  let server: Server | undefined;
  const kept = new Map<number, OpenPlayground>();
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    const { build } = await import('vite');
    const configFile = fileURLToPath(new URL('../../../docs/playground/vite.config.ts', import.meta.url));
    await build({ configFile, logLevel: 'error', build: { outDir: folder } });
    const html = readFileSync(join(folder, 'index.html'));
    server = createServer((request, response) => {
      const found = request.url === servedUnder;
      response.writeHead(found ? 200 : 404, { 'content-type': 'text/html' }).end(found ? html : 'not here');
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const { page } of kept.values()) await page.close();
    server?.closeAllConnections();
    server?.close();
    rmSync(folder, { recursive: true });
  });

  const openAnew: Reader['openAnew'] = async (context, { hash = '', from = 'folder', cores = 2, ...options } = {}) => {
    const page = await newPage(context, { viewport: { width: 1300, height: 900 }, ...options });
    await page.addInitScript(`Object.defineProperty(navigator, 'hardwareConcurrency', { value: ${cores} })`);
    const { port } = server!.address() as AddressInfo;
    const base = from === 'folder' ? `file://${folder}/index.html` : `http://127.0.0.1:${port}${servedUnder}`;
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      const url = request.url();
      if (!/^(data|blob):/.test(url) && url.split('?')[0] !== base) problems.push(`asks for ${url}`);
    });
    await page.goto(`${base}${hash}`);
    await settled(page);
    return { page, problems };
  };
  return {
    openAnew,
    async open(context, hash, cores = 2) {
      const one = kept.get(cores);
      if (one !== undefined) await goTo(one.page, hash);
      else kept.set(cores, await openAnew(context, { hash, cores, offline: true }));
      return kept.get(cores)!;
    },
  };
}

/** Follows a link within the page, and waits until it is answered in full. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    performance.clearMarks();
    addEventListener('hashchange', () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true });
    const hash = ${JSON.stringify(hash)};
    if (location.hash === hash) dispatchEvent(new Event('hashchange'));
    else location.hash = hash;
  })`);
  await settled(page);
}

/** Waits until the newest settings are answered in full. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('main[aria-busy="false"]', { timeout: 120_000 });
}

/** A number of the table, as it is shown. */
export async function cell(page: Page, scheduler: string, metric: string): Promise<string> {
  return (await page.locator(`tr[data-scheduler="${scheduler}"] [data-metric="${metric}"]`).textContent()) ?? '';
}

/** The configuration in a piece of code that is shown: what its call is given last. */
export async function shownConfig(page: Page, id: string): Promise<Record<string, unknown>> {
  const code = (await page.locator(`pre[data-config="${id}"]`).textContent()) ?? '';
  const call = /= [\w.]+\((?:'[^']*'|\w+), ([\s\S]*)\);\n$/.exec(code)?.[1];
  return new Function(`return (${call});`)() as Record<string, unknown>;
}
