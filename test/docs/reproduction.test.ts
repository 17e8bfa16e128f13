/** What the pages claim of the simulator is what was measured. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { measured } from '../../bench/scorecard/measured.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(root + file, 'utf8');

const near = (limit: number): number => {
  const validation = measured().rows.filter(({ use, isPart }) => use === 'validation' && isPart !== true);
  return validation.filter(({ error }) => Math.abs(error) <= limit).length / validation.length;
};

test('of the validation rows 60 % are within 10 %, and 80 % within 25 %', () => {
  expect(near(0.1)).toBeGreaterThanOrEqual(0.6);
  expect(near(0.25)).toBeGreaterThanOrEqual(0.8);
});

test('the first pages say what the page of the simulator shows', () => {
  const shown =
    /deepseek-r1: ([\d.]+) ± [\d.]+x as fast \(\d+% of the time saved\), ([\d.]+) ± [\d.]+x at equal tokens\.\s+(\d+) s a step become (\d+)[\s\S]*?kept tokens ([\d.]+)/;
  const [, speedup, equal, before, after, kept] = shown.exec(read('docs/simulator.md'))!;
  const rows = read('docs/index.md')
    .split('\n')
    .filter((line) => /^\| (synchronous|\+ )/.test(line))
    .map((line) => line.slice(2, -2).split(' | '));
  expect(rows).toHaveLength(5);
  const [first, last] = [rows[0]!, rows[4]!];
  expect(first.slice(1, 3)).toEqual([before, '1.00 ×']);
  expect(last.slice(1, 4)).toEqual([after, `${speedup} ×`, `${equal} ×`]);
  expect(last[5]).toBe(kept);
  const prose = read('README.md').replace(/\s+/g, ' ');
  expect(prose).toContain(
    `takes ${after} s instead of ${before} with every mechanism: ${speedup} × as fast, and ${equal} × at equal tokens`,
  );
});
