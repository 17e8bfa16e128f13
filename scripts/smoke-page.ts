/**
 * A consumer's page, made by Vite from the installed package and opened in Chromium. It must say what the same module
 * says in Node, and neither Vite nor the browser may warn.
 *
 * `tsx scripts/smoke-page.ts <project> build|preview|dev`. Without a browser, `preview` and `dev` end with 77: skipped.
 */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { build, createLogger, createServer, type InlineConfig, type Logger, preview } from 'vite';
import { chromiumPath, launchChromium } from '../test/support/browser/chromium.ts';

const [project = '.', mode = 'build'] = process.argv.slice(2);
const root = resolve(project, 'page');
const problems: string[] = [];
const note = (text: unknown): void => void problems.push(String(text));
const customLogger: Logger = { ...createLogger('silent'), warn: note, warnOnce: note, error: note };
const settings: InlineConfig = {
  root,
  customLogger,
  configFile: false,
  logLevel: 'warn',
  build: { outDir: 'dist', emptyOutDir: true, chunkSizeWarningLimit: 4000 },
};

/** What the module says in Node, where `rollflex/sim` is another file than in a browser. */
function inNode(): string {
  const code = "import('./decided.mjs').then(({ decided }) => process.stdout.write(decided().join('\\n')))";
  return execFileSync(process.execPath, ['-e', code], { cwd: root, encoding: 'utf8' });
}

async function inBrowser(url: string): Promise<string> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    page.on('console', (message) => {
      if (['warning', 'error'].includes(message.type())) note(`console: ${message.text()}`);
    });
    page.on('pageerror', note);
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) note(`asks for ${request.url()}`);
    });
    await page.goto(url);
    // A page that fails never says anything: what the browser complained about is told below.
    await page.waitForSelector('#decided:not(:empty)', { timeout: 120_000 }).catch(note);
    return (await page.locator('#decided').textContent()) ?? '';
  } finally {
    await browser.close();
  }
}

/** The page as `vite preview` or `vite dev` has it. */
async function served(): Promise<string> {
  const server = { host: '127.0.0.1', port: 0 };
  if (mode === 'preview') {
    const running = await preview({ ...settings, preview: server });
    return inBrowser(running.resolvedUrls!.local[0]!).finally(() => running.close());
  }
  const running = await (await createServer({ ...settings, server })).listen();
  return inBrowser(running.resolvedUrls!.local[0]!).finally(() => running.close());
}

if (mode !== 'build' && chromiumPath === undefined) {
  console.log('no Chromium: install it, or set CHROMIUM_PATH');
  process.exit(77);
}
if (mode === 'build') {
  await build(settings);
} else {
  const [seen, expected] = [await served(), inNode()];
  console.log(seen);
  if (seen !== expected) note(`expected, as in Node:\n${expected}`);
  if (!expected.includes('round.completed: quota_reached')) note('the round is not complete');
}
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
