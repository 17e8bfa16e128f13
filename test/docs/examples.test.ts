/** The examples: each has a page, a program of short files, and says what it prints. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { exampleList, printed } from '../../scripts/tables/example-list.ts';

const root = fileURLToPath(new URL('../../examples/', import.meta.url));
const examples = exampleList();

test('they are numbered without a gap, and the first has ten lines', () => {
  expect(examples.map(({ name }) => name.slice(0, 2))).toEqual(
    examples.map((_, index) => String(index + 1).padStart(2, '0')),
  );
  expect(examples[0]!.lines).toBe(10);
});

test.each(examples.map(({ name, command }) => [name, command]))('%s', (name, command) => {
  expect(command).toMatch(new RegExp(`(npx tsx|python) examples/${name}/(main|trainer)\\.(ts|py)$`));
  const page = readFileSync(`${root}${name}/README.md`, 'utf8');
  expect(page, 'its page says what it prints').toMatch(/prints[^\n]*:\n\n```text\n/);
  for (const file of readdirSync(root + name).filter((one) => /\.(ts|py)$/.test(one))) {
    const lines = readFileSync(`${root}${name}/${file}`, 'utf8').trimEnd().split('\n').length;
    // A policy is one module, as `--policies` takes it and the guide shows it.
    expect(lines, file).toBeLessThanOrEqual(200);
  }
});

describe('what a program printed', () => {
  test('is compared line by line', () => {
    expect(printed('a (b)\nc', 'a (b)\nc\n')).toBe(true);
    expect(printed('a\nc', 'a\nb\nc\n')).toBe(false);
    expect(printed('a', 'a\nb\n')).toBe(false);
    expect(printed('a.b', 'aXb\n')).toBe(false);
  });

  test('may have more where the page leaves something out', () => {
    expect(printed('a\n…\nc', 'a\nb\nb\nc\n')).toBe(true);
    expect(printed('a\n…', 'a\nb\n')).toBe(true);
    expect(printed('a\n…\nc', 'a\nb\n')).toBe(false);
  });
});
