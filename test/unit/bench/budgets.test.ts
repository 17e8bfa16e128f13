/** Budgets of tests: what is over one by half is named, on a machine of any speed. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { budgetOf, dear, judged, kindOf, kinds } from '../../budgets.ts';
import { root } from '../../support/command-line/process.ts';

/** A run in which each kind is within its budget, and no file takes more than a percent. */
const cheap = kinds.flatMap(({ name, percentInAll }) =>
  Array.from({ length: percentInAll }, (_, at) => {
    const file = {
      browser: `package/${at}-browser.test.ts`,
      docs: `docs/${at}.test.ts`,
      product: `unit/cli/${at}.test.ts`,
    };
    const others = { wire: `wire/${at}.test.ts`, law: `laws/${at}.test.ts`, property: `property/${at}.test.ts` };
    return { file: { ...file, ...others }[name] ?? `unit/${at}.test.ts`, seconds: 1 };
  }),
);
const total = cheap.length;

test('a file that is over its budget by half is named, on a machine of any speed', () => {
  expect(judged(cheap).faults).toEqual([]);
  const slow = { file: 'unit/core/slow.test.ts', seconds: 0.025 * total };
  expect(judged([...cheap, slow]).faults).toEqual([]);
  const slower = [...cheap, { ...slow, seconds: 0.04 * total }];
  expect(judged(slower).faults).toEqual([slow.file]);
  expect(judged(slower.map(({ file, seconds }) => ({ file, seconds: 12 * seconds }))).faults).toEqual([slow.file]);
  // What is known to be dear may take more.
  expect(judged([...cheap, { file: 'laws/registry.test.ts', seconds: 0.04 * total }]).faults).toEqual([]);
});

test('a kind that is over its budget by half is named', () => {
  const docs = Array.from({ length: 20 }, (_, at) => ({ file: `docs/more-${at}.test.ts`, seconds: 0.01 * total }));
  expect(judged([...cheap, ...docs]).faults).toEqual(['kind docs']);
});

test('the ten dearest files are shown with their shares and budgets, and all kinds', () => {
  const file = 'docs/commands.test.ts';
  const lines = judged([...cheap, { file, seconds: 7 }]).text.split('\n');
  expect(lines).toHaveLength(1 + 10 + kinds.length);
  expect(lines[1]).toMatch(new RegExp(`^ +7\\.0 s +\\d\\.\\d % of +${budgetOf(file)} % {2}${file}$`));
  expect(lines.at(-1)).toMatch(/unit, in all$/);
});

test('what has a budget of its own is there, and more than its kind has', () => {
  for (const file of Object.keys(dear)) {
    expect(existsSync(`${root}/test/${file}`), file).toBe(true);
    expect(budgetOf(file), file).toBeGreaterThan(kindOf(file).percentEach);
  }
});
