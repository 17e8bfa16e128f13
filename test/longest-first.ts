/** The order of test files: those that take longest come first, so that no worker waits for one of them at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Ten seconds and more, the longest first. All others follow in the order of vitest: by their last durations, or by their size. */
const longest = [
  'laws/registry.test.ts',
  'docs/commands.test.ts',
  'property/simulated-server.test.ts',
  'package/playground-browser.test.ts',
  'docs/snippets.test.ts',
  'unit/sim/scorecard.whole.test.ts',
  'laws/bounded-state.whole.test.ts',
  'unit/sim/sweep/unseen.whole.test.ts',
  'unit/cli/everything.whole.test.ts',
  'unit/cli/sweep.test.ts',
  'unit/cli/advise.test.ts',
  'unit/sim/sweep/search.test.ts',
  'property/gpu-scale-down.test.ts',
  'package/report-browser.test.ts',
  'wire/wire.test.ts',
  'unit/bench/long-run.test.ts',
  'laws/planted-bugs.test.ts',
  'unit/cli/cli.test.ts',
  'package/pools-report-browser.test.ts',
  'package/vlm-report-browser.test.ts',
  'unit/cli/terminal.test.ts',
  'unit/rpc/transports.test.ts',
  'unit/rpc/plans.test.ts',
  'docs/sandbox-timeout.test.ts',
];

const rank = ({ moduleId }: TestSpecification): number => {
  const at = longest.findIndex((file) => moduleId.endsWith(`/test/${file}`));
  return at < 0 ? longest.length : at;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    return usual.sort((one, other) => rank(one) - rank(other));
  }
}
