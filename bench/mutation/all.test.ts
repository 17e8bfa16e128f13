/**
 * All tests of one definition (`ROLLFLEX_ONLY`) as one file: the package is loaded once for each mutant, not once for
 * each file of tests.
 */
import { test } from 'vitest';
import { testsOf } from './tests.ts';

const failures: unknown[] = [];
for (const file of testsOf(process.env.ROLLFLEX_ONLY ?? '')) {
  await import(file).catch((error: unknown) => failures.push(error));
}

// Where a mutant lets no file load, there is no other test that could fail.
test('the package and its tests load', () => {
  if (failures.length > 0) throw failures[0];
});
