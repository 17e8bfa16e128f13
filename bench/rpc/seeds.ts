/**
 * Shows what seeds of the simulated server lead to, against the rules of its books: `npx tsx bench/rpc/seeds.ts --seed 7` replays
 * one with its trace. What is simulated is in docs/server.md; `npm run long-run -- --server-seeds` plays many.
 *
 * Exit codes: 0 no rule is broken; 1 one is; 2 wrong use.
 */
import { Command } from 'commander';
import { whole } from '../../src/cli/terminal/arguments.ts';
import { exitCodes, print } from '../../src/cli/terminal/output.ts';
import { playSeed, SeedFailure } from '../../test/support/simulated-server/story.ts';
import { ServerSeeds } from '../long-run/server-seeds.ts';

async function main({ seed, seeds }: { readonly seed: number; readonly seeds: number }): Promise<void> {
  try {
    if (seeds === 1) {
      const { trace, digest } = await playSeed(seed, { traced: true });
      return print(`${trace}\nno rule was broken; digest ${digest}`);
    }
    const run = new ServerSeeds({ seed, seeds });
    while (!run.isDone) await run.advance();
    print(run.text);
  } catch (error) {
    if (!(error instanceof SeedFailure)) throw error;
    if (error.trace !== '') print(error.trace);
    print(error.message);
    process.exitCode = exitCodes.failed;
  }
}

await new Command('seeds')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? exitCodes.done : exitCodes.wrongUse))
  .description('seeds of the simulated server')
  .option('--seed <n>', 'the seed, or the first one', whole(0, 2 ** 31 - 1), 0)
  .option('--seeds <n>', 'how many; one alone is told with its trace', whole(1, 1e9), 1)
  .action(main)
  .parseAsync();
