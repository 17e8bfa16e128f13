/** The page of bad days says what its example prints: each day, what `explain` says on it, and what it has cost. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exampleList } from '../../scripts/tables/example-list.ts';
import { root } from '../support/command-line/process.ts';

const page = readFileSync(`${root}docs/operating.md`, 'utf8');
const { prints } = exampleList().find(({ name }) => name === '14-bad-day')!;
const days = prints!.split('\n\n').map((day) => day.split('\n'));

test('has a row for each of ten days', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| **'));
  expect(rows.map((row) => /^\| \*\*(.+?)\*\*/.exec(row)![1])).toEqual(days.map(([title]) => title));
});

test.each(days.map((day) => [day[0]!, day] as const))('%s', (title, day) => {
  const row = page.split('\n').find((line) => line.startsWith(`| **${title}**`))!;
  const said = day.flatMap((line) => /^ {2}at \d+ s: (.+)$/.exec(line)?.[1] ?? []);
  const cost = day.at(-1)!.trim();
  expect(row).toContain(cost);
  for (const text of said) expect(row).toContain(text);
});
