/** What a call is refused with. */
import { isPolicyError, type PolicyErrorCode } from '../../../src/errors.ts';

/** Code, path and phrases of the `PolicyError` that a call throws; any other error, or none, fails the test. */
export function refusal(act: () => unknown): { code: PolicyErrorCode; path: string; expected: string; got: string } {
  try {
    act();
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    const { code, path, expected, got } = error;
    return { code, path, expected, got };
  }
  throw new Error('expected a refusal');
}
