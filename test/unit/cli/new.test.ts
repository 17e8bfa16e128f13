/** `rollflex new`: each folder is the example, with what makes it a project; nothing is written over. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { kinds, makeFolder, type NewKind } from '../../../src/cli/new/make.ts';
import { packageRoot } from '../../../src/logs/index/package.ts';
import { refusal } from '../../support/basics/refusal.ts';

let folder: string;
const before = process.cwd();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollflex-new-'));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

test.each(Object.keys(kinds) as NewKind[])('%s: the programs of the example, to the byte, and its commands', (kind) => {
  const { files } = makeFolder(kind, 'my-own');
  const example = join(packageRoot(), 'examples', kinds[kind].example);
  const named = (text: string): string =>
    text.replaceAll('longest-first', 'my-own').replaceAll('longestFirst', 'myOwnPolicy');
  for (const file of readdirSync(example)) {
    if (file === 'README.md') continue;
    expect(readFileSync(join('my-own', named(file)), 'utf8')).toBe(named(readFileSync(join(example, file), 'utf8')));
  }
  // What npm runs as tests is there: without a file Node 20 finds none, and reports success.
  if (files.includes('package.json')) {
    const { scripts } = JSON.parse(readFileSync(join('my-own', 'package.json'), 'utf8'));
    const tests = scripts.test.match(/\S+\.test\.ts/g) ?? [];
    expect(tests).toEqual(files.filter((one) => one.endsWith('.test.ts')));
    expect(tests).not.toEqual([]);
  }
  expect(readdirSync('my-own').sort()).toEqual(files);
  const page = readFileSync(join('my-own', 'README.md'), 'utf8');
  expect(page).toMatch(/^# my-own\n/);
  expect(page).not.toMatch(/examples\/|rollflex new/);
  // What is shipped must have them.
  const { files: shipped } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    files: string[];
  };
  expect(shipped).toContain(`examples/${kinds[kind].example}`);
});

test('a name that is a path, and a folder with something in it, are refused, and nothing is written', () => {
  for (const name of ['../mine', '/tmp/mine', '', '.mine', 'Mine', 'a b']) {
    expect(refusal(() => makeFolder('host', name))).toMatchObject({ code: 'invalid_input', path: 'name' });
  }
  mkdirSync('mine');
  expect(makeFolder('host', 'mine').files).toContain('host.ts');
  mkdirSync('other');
  writeFileSync('other/notes.txt', 'mine');
  expect(refusal(() => makeFolder('host', 'other'))).toMatchObject({ code: 'invalid_input', path: 'name' });
  expect(readdirSync('other')).toEqual(['notes.txt']);
});
