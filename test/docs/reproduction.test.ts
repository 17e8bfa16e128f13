/** The table of claims says nothing that the pages behind it do not: it is a summary of figures that benchmarks print. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(root + file, 'utf8');
const page = read('docs/reproduction.md');
const behind = ['calibration', 'papers', 'sandbox-timeout'].map((name) => read(`docs/${name}.md`)).join('\n');
const rows = page
  .split('\n')
  .filter((line) => /^\| (?!claim|---)/.test(line))
  .map((line) => line.slice(2, -2).split(' | ') as [string, string, string, string]);
/** Figures with a decimal point or of three digits and more: those that could be wrong unnoticed. */
const figures = (text: string): string[] => text.match(/\d[\d,]*\.\d+|\b\d{3,}\b/g) ?? [];

test('there are rows, each with a verdict', () => {
  expect(rows.length).toBeGreaterThan(30);
  for (const row of rows) {
    expect(row).toHaveLength(4);
    expect(row[3], row[0]).toMatch(/^(matches|fitted|close|direction|does not (match|hold))/);
  }
});

test.each(rows.map(([claim, theirs, ours]) => [claim, `${theirs} ${ours}`]))('%s', (_, text) => {
  const known = new Set(figures(behind));
  expect(figures(text).filter((one) => !known.has(one))).toEqual([]);
});

test('every command is one that exists', () => {
  const scripts = [...page.matchAll(/npx tsx (\S+)/g)].map(([, file]) => file!);
  expect(scripts.length).toBeGreaterThan(5);
  expect(scripts.filter((file) => !existsSync(root + file))).toEqual([]);
});

test('the table of the first page is the output that the README shows, rounded', () => {
  const output = read('README.md').split('\n');
  const table = read('docs/index.md').matchAll(
    /^\| (synchronous|\+ [\w ]+?) +\| (\d+) +\| ([\d.]+) × +\| ([\d.]+) % +\| ([\d.]+) +\|$/gm,
  );
  const rows = [...table].map(([, ...cells]) => cells as [string, string, string, string, string]);
  expect(rows).toHaveLength(5);
  const names = ['synchronous', '+ tail batching', '+ rewards', '+ adaptive TP', '+ streaming'];
  for (const [index, [, step, speedup, idle, kept]] of rows.entries()) {
    const line = output.find((one) => one.startsWith(names[index]!) && one.includes('x'))!;
    const numbers = line.slice(names[index]!.length).match(/[\d.]+/g)!;
    expect([Math.round(Number(numbers[0])), numbers[2], numbers[3], numbers[6]].join(), line).toBe(
      [step, speedup, kept, idle].join(),
    );
  }
});
