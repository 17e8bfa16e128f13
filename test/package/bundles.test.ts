/** What code opens beside itself at run time is in the product, or it is not built. */
import { readdirSync, readFileSync } from 'node:fs';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { bundles, external } from '../../scripts/build/bundles.ts';
import { keepFields } from '../../scripts/build/cjs-fields.ts';
import { type Bundles, missingBeside, openingsIn, opensOnly } from '../../scripts/build/opened-files.ts';

const options = (entryPoints: Readonly<Record<string, string>>): BuildOptions => ({
  entryPoints: { ...entryPoints },
  outdir: 'nowhere',
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  external: [...external],
  logLevel: 'silent',
});
const without = ({ commands, pages }: Bundles, left: string): Bundles => {
  const rest = (all: Bundles['pages']) => Object.fromEntries(Object.entries(all).filter(([name]) => name !== left));
  return { commands: rest(commands), pages: rest(pages) };
};
const opened = { worker: /cli\/(.*)\.ts opens worker\.js/, 'plan-worker': /plan-threads\.ts opens plan-worker\.js/ };
const scripts = {
  'page-charts': /(sim\/report\/write|cli\/(debug|dashboard)\/serve)\.ts opens page-charts\.js/,
  'report-client': /sim\/report\/write\.ts opens report-client\.js/,
  'debug-client': /cli\/debug\/serve\.ts opens debug-client\.js/,
  'dashboard-client': /cli\/dashboard\/serve\.ts opens dashboard-client\.js/,
};

let metafile: Metafile;
beforeAll(async () => {
  metafile = (await build({ ...options(bundles.commands), metafile: true })).metafile!;
});

test('in CommonJS a field of a class is no export, whatever its name', () => {
  const class_ =
    'class A { #rest = exports.rest = 0; __init() {this.n = exports.n = 0} add() { this.#rest = exports.rest += 1 } }';
  const { code, mended } = keepFields(`${class_}\nexports.rest = rest; (Enum = exports.Enum = {});`);
  expect([code, mended]).toEqual([
    'class A { #rest = 0; __init() {this.n = 0} add() { this.#rest += 1 } }\nexports.rest = rest; (Enum = exports.Enum = {});',
    3,
  ]);
});

test('nothing is missing', () => expect(missingBeside(metafile, bundles, '.js')).toEqual([]));

test('each file that is opened beside the code is missed where it is not built', () => {
  expect(Object.keys({ ...bundles.commands, ...bundles.pages }).filter((name) => name !== 'cli')).toEqual(
    Object.keys({ ...opened, ...scripts }),
  );
  for (const [name, said] of Object.entries({ ...opened, ...scripts })) {
    const missing = missingBeside(metafile, without(bundles, name), '.js');
    expect(missing.length, name).toBeGreaterThan(0);
    for (const one of missing) expect(one).toMatch(said);
  }
});

test('the list that wheels had once lacked two files', () => {
  const { cli, worker } = bundles.commands;
  const { 'page-charts': charts, 'report-client': report, 'debug-client': debug } = bundles.pages;
  const old: Bundles = {
    commands: { cli: cli!, worker: worker! },
    pages: { 'page-charts': charts!, 'report-client': report!, 'debug-client': debug! },
  };
  expect(missingBeside(metafile, old, '.js')).toEqual([
    'src/rpc/transports/plan-threads.ts opens plan-worker.js, which scripts/build/bundles.ts does not build',
    'src/cli/dashboard/serve.ts opens dashboard-client.js, which scripts/build/bundles.ts does not build',
  ]);
});

test('a build without such a file fails', async () => {
  const plugins = [opensOnly(without(bundles, 'report-client'), '.js')];
  const report = build({ ...options({ write: 'src/sim/report/write.ts' }), plugins });
  await expect(report).rejects.toThrow('opens report-client.js, which scripts/build/bundles.ts does not build');
});

describe('what opens a file', () => {
  test('is seen in every source', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const found = files.flatMap((file) =>
      file === 'logs/index/package.ts' ? [] : openingsIn(file, readFileSync(`src/${file}`, 'utf8')),
    );
    expect([...new Set(found.map(({ by }) => by))].sort()).toEqual(['pageScript', 'startThread']);
  });

  test('is refused where nobody can tell what it opens', () => {
    const refused = (code: string) => expect(() => openingsIn('some.ts', code));
    refused("readFileSync(new URL('./x.js', import.meta.url))").toThrow(
      "some.ts:1: expected startThread('./source.ts', import.meta.url) or pageScript('page', import.meta.url)",
    );
    refused('startThread(name, import.meta.url)').toThrow('some.ts:1');
    refused('pageScript(page, import.meta.url)').toThrow('some.ts:1');
    expect(openingsIn('some.ts', "startThread('./x.ts', import.meta.url, 1)")).toEqual([
      { by: 'startThread', what: './x.ts' },
    ]);
    expect(openingsIn('some.ts', "pageScript('debug', import.meta.url)")).toEqual([
      { by: 'pageScript', what: 'debug' },
    ]);
  });
});
