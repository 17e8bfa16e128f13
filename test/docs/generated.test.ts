/** The generated parts of the documentation are up to date, and links inside it lead somewhere. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { brokenLinks, readPage } from '../../scripts/site/check-links.ts';
import { anchorOf, pageFiles, pageOf } from '../../scripts/site/pages.ts';
import { redirectPage, redirects } from '../../scripts/site/redirects.ts';
import { linkOf, sidebar } from '../../scripts/site/sidebar.ts';
import { countParts, generatedFiles, regenerate } from '../../scripts/tables/docs-tables.ts';
import { typescriptTypes } from '../../scripts/types/index.ts';
import { registry } from '../../src/registry.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const readmesIn = (kind: string): string[] =>
  readdirSync(join(root, 'src', kind)).filter((id) => existsSync(join(root, 'src', kind, id, 'README.md')));
const plannerReadmes = generatedFiles.filter((file) => file.startsWith('src/planners/'));
const policyReadmes = generatedFiles.filter((file) => /^src\/(policies|recipes)\//.test(file));

test.each(generatedFiles)('%s is up to date (npm run docs:generate)', (file) => {
  expect(countParts(read(file))).toBeGreaterThan(0);
  expect(regenerate(read(file))).toBe(read(file));
});

test('the generated types are up to date (npm run docs:generate)', async () => {
  const types = await typescriptTypes();
  expect(types.size).toBeGreaterThan(registry.definitions.length);
  for (const [file, text] of types) expect(read(file), file).toBe(text);
});

test('a part that is stale is noticed', () => {
  const stale = read('docs/errors.md').replace('`invalid_config`, `invalid_event`', '`invalid_config`');
  expect(regenerate(stale)).not.toBe(stale);
});

test('a part that does not exist is refused', () => {
  expect(() => regenerate('<!-- generated: config nobody -->\n<!-- /generated -->')).toThrow(/nobody/);
  expect(() => regenerate('<!-- generated: nothing tail-batching -->\n<!-- /generated -->')).toThrow(/nothing/);
  expect(() => regenerate('<!-- generated: config judge-offload -->\n<!-- /generated -->')).toThrow(/a planner/);
  expect(() => regenerate('<!-- generated: input tail-batching -->\n<!-- /generated -->')).toThrow(/a recipe/);
});

describe('READMEs of policies', () => {
  const headings = [
    'What it does',
    'Events',
    'Decisions and reasons',
    'Configuration',
    'Invariants',
    'Trade-offs',
    'Sources',
  ];

  test('every policy and recipe has one, and no folder has one that is not shipped', () => {
    const ids = ['policies', 'recipes'].flatMap((kind) => readmesIn(kind));
    expect(ids.sort()).toEqual(registry.policies.map((one) => one.id).sort());
  });

  test.each(policyReadmes)('%s has the headings, in order', (file) => {
    const found = [...read(file).matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(found).toEqual(headings);
    expect(countParts(read(file))).toBe(3);
  });
});

describe('READMEs of planners', () => {
  const headings = ['What it does', 'Input', 'Plan', 'Errors', 'Invariants', 'Trade-offs', 'Sources'];

  test('every planner has one', () => {
    expect(readmesIn('planners').sort()).toEqual(registry.planners.map((one) => one.id).sort());
  });

  test.each(plannerReadmes)('%s has the headings, in order, and generated tables', (file) => {
    const found = [...read(file).matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(found).toEqual(headings);
    expect(countParts(read(file))).toBe(2);
  });
});

describe('links', () => {
  const files = ['README.md', ...pageFiles()];
  const plainHeading = (text: string): string =>
    text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]|(?<!\w)_|_(?!\w)/g, '');

  /** Anchors of the headings of a page, as GitHub makes them: one that comes again has a number. */
  function anchorsOf(file: string): Set<string> {
    const anchors = new Set<string>();
    for (const [, heading] of read(file)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#{1,6} (.+)$/gm)) {
      const plain = anchorOf(plainHeading(heading!));
      let anchor = plain;
      for (let count = 1; anchors.has(anchor); count += 1) anchor = `${plain}-${count}`;
      anchors.add(anchor);
    }
    return anchors;
  }

  test.each(files)('%s', (file) => {
    for (const [, target] of read(file)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) {
        expect(URL.canParse(target!), `${file} → ${target}`).toBe(true);
        continue;
      }
      const [path, anchor] = target!.split('#') as [string, string?];
      const to = path === '' ? file : join(dirname(file), path);
      expect(existsSync(join(root, to)), `${file} → ${target}`).toBe(true);
      if (anchor !== undefined) expect([...anchorsOf(to)], `${file} → ${target}`).toContain(anchor);
    }
  });

  test.each(Object.entries(redirects))('the address of %s, which went, leads to what stood there', (address, one) => {
    expect(pageFiles().map(pageOf)).not.toContain(`${address}.md`);
    const places = [one.to, ...Object.values(one.anchors)];
    for (const place of places) {
      const [file, anchor] = place.split('#') as [string, string?];
      expect(pageFiles()).toContain(file);
      if (anchor !== undefined) expect([...anchorsOf(file)], place).toContain(anchor);
    }
    // The checker of the built site sees all of them.
    const { ids, links } = readPage(redirectPage(one, '/base/'));
    expect([...ids]).toEqual(Object.keys(one.anchors));
    const addresses = places.map((place) => place.replace(/^[^#]+/, (file) => `/base${linkOf(file)}`));
    expect(links.filter(({ isLoaded }) => !isLoaded).map(({ target }) => target)).toEqual(addresses);
  });
});

describe('the site', () => {
  const there = (link: string): string =>
    link
      .replace(/\/$/, '/index.html')
      .replace(/\.html$/, '.md')
      .slice(1);

  test('every page is in the sidebar, once, and no two pages are at one place', () => {
    const links = sidebar([]).flatMap(({ items }) => items.map(({ link }) => there(link)));
    expect(new Set(links).size).toBe(links.length);
    expect(links.sort()).toEqual(pageFiles().map(pageOf).sort());
  });

  test('every policy, planner and recipe is in it', () => {
    const links = sidebar([]).flatMap(({ items }) => items.map(({ link }) => link));
    for (const { id } of registry.definitions)
      expect(
        links.some((one) => one.endsWith(`/${id}.html`)),
        id,
      ).toBe(true);
  });

  test('a link that leads nowhere is found in what was built', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rollflex-site-'));
    const page = (name: string, body: string): void =>
      writeFileSync(join(folder, name), `<html><body>${body}</body></html>`);
    page('index.html', '<h1 id="top-1">x</h1><a href="/base/two.html#here">fine</a><a href="./two">fine</a>');
    page('two.html', '<i id="here"></i><a href="/base/#top-1">fine</a><a href="https://example.com/a">fine</a>');
    expect(brokenLinks(folder, '/base/')).toEqual({ pages: 2, links: 4, broken: [] });
    const wrong = ['/two.html', '/base/three.html', 'two.html#there', 'https://nowhere', 'x.png'];
    page('wrong.html', wrong.map((one) => `<a href="${one}">x</a>`).join(''));
    page('outside.html', '<script src="https://example.com/x.js"></script><img src="//example.com/x.png">');
    expect(brokenLinks(folder, '/base/').broken).toHaveLength(wrong.length + 2);
    rmSync(folder, { recursive: true });
  });
});

test('the timer ids that the page about embedding names are those of tail batching', () => {
  const [, named] = /The timer ids of tail batching: (.*?)\.\n/s.exec(read('docs/embedding.md'))!;
  const policy = registry.create('tail-batching', { promptsPerRound: 1, responsesPerPrompt: 1 });
  const ids = [...named!.matchAll(/`(.*?)`/g)].map(([, id]) => id);
  expect(() => policy.send({ type: 'timer.fired', at: 0, timerId: 'no' })).toThrow(`one of ${ids.join(', ')},`);
});
