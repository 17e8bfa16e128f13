/**
 * All tests of one definition (`ROLLFLEX_ONLY`) as one file: the package is loaded once for each mutant, not once for each
 * file of tests.
 */
import { testsOf } from './tests.ts';

for (const file of testsOf(process.env.ROLLFLEX_ONLY ?? '')) await import(file);
