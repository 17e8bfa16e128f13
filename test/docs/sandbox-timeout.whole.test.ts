/** The tables of src/policies/sandbox-timeout/README.md are what the replay gives, and the default λ is the one that they choose. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chosenFactor, meanKilled, measure } from '../../bench/sandbox/tables.ts';
import { timeoutConfig } from '../../src/policies/sandbox-timeout/schema.ts';

const page = readFileSync(new URL('../../src/policies/sandbox-timeout/README.md', import.meta.url), 'utf8');

test('the page is up to date (npx tsx bench/sandbox/timeout.ts --write), and a stale table is noticed', () => {
  expect(page.match(/<!-- measured: /g)).toHaveLength(5);
  expect(measure(page.replace('| 4 (default) |', '| 5 (default) |'))).toBe(page);
});

test('a table that does not exist is refused', () => {
  expect(() => measure('<!-- measured: nothing -->\n<!-- /measured -->')).toThrow(/nothing/);
});

test('the default λ is the smallest that kills at most 1 % of correct runs, on either half of the test cases', () => {
  const { timeoutFactor } = timeoutConfig.parse({});
  expect(([0, 1] as const).map((which) => chosenFactor(meanKilled(which), 0.01))).toEqual([
    timeoutFactor,
    timeoutFactor,
  ]);
});
