/** The READMEs of `test/support` and of `bench` name every file that is there, and no other. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/command-line/process.ts';

/** What the first columns of its tables name. */
const named = (folder: string): string[] =>
  readFileSync(join(root, folder, 'README.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));

test('test/support', () => {
  const files = (readdirSync(join(root, 'test/support'), { recursive: true }) as string[]).filter((name) =>
    /\/.*\.(ts|mjs|py)$/.test(name),
  );
  expect(named('test/support').sort()).toEqual(files.sort());
});

test('bench', () => {
  const there = readdirSync(join(root, 'bench'), { withFileTypes: true })
    .map((one) => (one.isDirectory() ? `${one.name}/` : one.name))
    .filter((name) => name !== 'README.md');
  expect(named('bench').sort()).toEqual(there.sort());
});

test('the first line of a benchmark says what it shows, and against what', () => {
  const files = (readdirSync(join(root, 'bench'), { recursive: true }) as string[]).filter((name) =>
    name.endsWith('.ts'),
  );
  const run = files.filter((name) => {
    const text = readFileSync(join(root, 'bench', name), 'utf8');
    return /^console\.log\(machine\(/m.test(text);
  });
  expect(run.length).toBeGreaterThan(10);
  for (const name of run) {
    const comment = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(join(root, 'bench', name), 'utf8'))![1]!;
    expect(comment.replace(/\s*\n \* ?/g, ' ').trim(), name).toMatch(/^Shows .* against /);
  }
});
