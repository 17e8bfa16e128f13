// @ts-nocheck
/** In the process of the tests: which mutant is in force here, and in the pages that it opens. */
import { appendFileSync, readFileSync } from 'node:fs';

// The same as in every mutated file.
const header = readFileSync(new URL('header.txt', import.meta.url), 'utf8');
globalThis.planted ?? new Function(`${header}\nreturn stryNS_9fa48();`)();

const to = process.env.ROLLFLEX_MUTANTS_REACHED;
globalThis.planted.launch = async (options) => {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch(options);
  const reached = (ids) =>
    appendFileSync(to, ids.map((id) => `${id} run ${process.env.ROLLFLEX_MUTANTS_TEST}\n`).join(''));
  // A thread of a page can only be asked, again and again.
  const ask = (worker) => {
    let known = 0;
    const timer = setInterval(async () => {
      const ids = await worker.evaluate('[...(globalThis.planted?.seen ?? [])]').catch(() => clearInterval(timer));
      if (ids === undefined || ids.length === known) return;
      known = ids.length;
      reached(ids);
    }, 500).unref();
    worker.on('close', () => clearInterval(timer));
  };
  const ready = new WeakSet();
  const prepare = async (context) => {
    if (ready.has(context)) return;
    ready.add(context);
    if (to !== undefined) {
      await context.exposeBinding('plantedReached', (_, ids) => reached(ids));
      context.on('page', (page) => page.on('worker', ask));
    }
    const active = JSON.stringify(process.env.ROLLFLEX_MUTANT);
    // Once for each: many a place is met in every frame.
    const cover =
      to === undefined
        ? 'undefined'
        : `(ids) => { const fresh = ids.filter((id) => !seen.has(id) && seen.add(id)); if (fresh.length > 0) plantedReached(fresh); }`;
    await context.addInitScript(
      `{ const seen = new Set(); globalThis.planted = { active: ${active}, cover: ${cover} } }`,
    );
  };
  const { newContext, newPage } = browser;
  browser.newContext = async (...args) => {
    const context = await newContext.apply(browser, args);
    await prepare(context);
    return context;
  };
  browser.newPage = async (...args) => {
    const page = await newPage.apply(browser, args);
    if (to !== undefined && !ready.has(page.context())) page.on('worker', ask);
    await prepare(page.context());
    return page;
  };
  return browser;
};
