/**
 * Builds the whole site into `docs/.vitepress/dist`: guides, READMEs and examples, the API under `api/`, the playground under
 * `playground/`, small pages at addresses that went; then follows every link of it. `--base /rollflex/` is the path under which it will be served.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Application, TSConfigReader, TypeDocReader } from 'typedoc';
import { build } from 'vitepress';
import { Progress } from '../src/cli/terminal/progress.ts';
import { hasPlayground, playgroundFolder } from './site/apart.ts';
import { brokenLinks } from './site/check-links.ts';
import { root } from './site/pages.ts';
import { writeRedirects } from './site/redirects.ts';
import { notFound } from './site/search.ts';

const { base } = parseArgs({ options: { base: { type: 'string', default: '/' } } }).values;
const out = `${root}docs/.vitepress/dist`;

if (!/^\/([\w.-]+\/)*$/.test(base)) fail(`--base begins and ends with a slash, such as /rollflex/; it is ${base}`);
function fail(what: string): never {
  console.error(what);
  process.exit(1);
}

const progress = new Progress({ text: 'building the guides', isQuiet: false });
// Beside the rest: a build of its own.
const playground = hasPlayground() ? buildPlayground() : undefined;
function buildPlayground(): Promise<number | null> {
  const run = spawn('npm', ['run', '--silent', 'playground:build'], { cwd: root, stdio: 'inherit' });
  return new Promise((resolve) => run.once('error', () => resolve(null)).once('exit', resolve));
}

// The configuration of the site reads it.
process.env.ROLLFLEX_SITE_BASE = base;
await build(`${root}docs`);
const lost = await notFound(out);
if (lost.length > 0) fail(`the search does not find its pages:\n${lost.join('\n')}`);

progress.text = 'building the API';
async function buildApi(): Promise<void> {
  const options = { options: `${root}typedoc.json`, out: `${out}/api`, navigationLinks: { Guides: base } };
  const app = await Application.bootstrapWithPlugins(options, [new TypeDocReader(), new TSConfigReader()]);
  const project = await app.convert();
  if (project === undefined) fail('typedoc has found errors');
  app.validate(project);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) fail('typedoc has found something');
}
await buildApi();

progress.text = 'building the playground';
if (playground !== undefined) {
  if ((await playground) !== 0 || !existsSync(`${playgroundFolder}/index.html`)) fail('the playground was not built');
  cpSync(playgroundFolder, `${out}/playground`, { recursive: true });
}

writeRedirects(out, base);
progress.text = 'following every link';
const { pages, links, broken } = brokenLinks(out, base);
progress.stop();
for (const one of broken) console.error(one);
if (broken.length > 0) fail(`${broken.length} of ${links} links are broken`);
console.log(`${pages} pages and ${links} links in docs/.vitepress/dist, for ${base}`);
