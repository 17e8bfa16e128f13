/** The order of test files: those that take longest come first, so that no worker waits for one of them at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { dear } from './budgets.ts';

/**
 * Those with a budget of their own, the dearest first. All others follow in the order of vitest: by their last durations, or by
 * their size.
 */
const longest = Object.keys(dear).sort((one, other) => dear[other]! - dear[one]!);

const rank = ({ moduleId }: TestSpecification): number => {
  // Files of all runs only take long, too.
  if (moduleId.endsWith('.whole.test.ts')) return -1;
  const at = longest.findIndex((file) => moduleId.endsWith(`/test/${file}`));
  return at < 0 ? longest.length : at;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.sort((one, other) => rank(one) - rank(other));
  }
}
