import { describe, expect, test } from 'vitest';
import { checkCost, checkLaws } from '../../src/testing/index.ts';
import { rightPolicy, wrongPolicies } from '../support/wrong-policies.ts';

describe('the laws suite', () => {
  test('passes a right policy', () => {
    checkLaws(rightPolicy, { config: { limit: 3 }, runs: 20, events: 30 });
  });

  test.each(wrongPolicies.filter((one) => one.law !== 10))(
    'law $law fails a policy that $title',
    { timeout: 30_000 },
    ({ law, definition }) => {
      const check = () => checkLaws(definition, { config: { limit: 3 }, runs: 30, events: 30, only: [law] });
      expect(check).toThrow(`breaks law ${law}`);
    },
  );

  test('law 10 fails a policy that scans what is in flight', () => {
    const crowd = (n: number) => ({
      build: Array.from({ length: n }, (_, index) => ({ type: 'acme/item.added', at: 0, id: `i${index}` })),
      probes: [{ type: 'acme/item.removed', at: 0, id: 'i7' }],
    });
    checkCost(rightPolicy, { limit: 1e9 }, crowd);
    const scanning = wrongPolicies.find((one) => one.law === 10)!.definition;
    expect(() => checkCost(scanning, { limit: 1e9 }, crowd)).toThrow('law 10');
  });
});
