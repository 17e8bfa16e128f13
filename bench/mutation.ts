/**
 * Shows how many changes of the code the tests see, against all that were made: `npm run mutation`. Stryker changes the
 * code of each policy, planner and recipe in one place at a time, and runs its own tests. What is drawn, and the last
 * result: docs/tested.md.
 *
 * Exit codes: 0 done; 1 the score is below what was asked for; 2 wrong use.
 */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { whole } from '../src/cli/terminal/arguments.ts';
import { exitCodes, print, reportError } from '../src/cli/terminal/output.ts';
import { registry } from '../src/registry.ts';
import { everywhere } from './mutation/everywhere/run.ts';
import { load, type Outcome, save, survivorsOf } from './mutation/outcomes.ts';
import { mutationTable, scoreOf } from './mutation/report.ts';
import { mutate } from './mutation/run.ts';
import { chosen, list } from './only.ts';

interface Options {
  readonly mutants: number;
  readonly seed: number;
  readonly concurrency: number;
  readonly only?: readonly string[];
  readonly again?: boolean;
  readonly atLeast: number;
  readonly everywhere?: string;
}

const folderOf = { policy: 'policies', planner: 'planners', recipe: 'recipes' } as const;

async function main(options: Options): Promise<void> {
  if (options.everywhere !== undefined) return print(await everywhere(options.everywhere, options));
  const all = [...registry.policies, ...registry.planners];
  const wanted = new Set(chosen(all, options.only).map(({ id }) => id));
  const outcomes: Outcome[] = [];
  for (const { id, kind } of all) {
    const kept = load(id, options);
    if (wanted.has(id) && (kept === undefined || options.again)) {
      const outcome = await mutate(folderOf[kind], id, options);
      save(outcome, options);
      print(survivorsOf(outcome));
      outcomes.push(outcome);
    } else if (kept !== undefined) outcomes.push(kept);
  }
  print(mutationTable(outcomes));
  const score = scoreOf(outcomes.filter(({ kind }) => kind !== 'recipes'));
  if (score.share < options.atLeast / 100) process.exitCode = exitCodes.failed;
}

await new Command('mutation')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? exitCodes.done : exitCodes.wrongUse))
  .description('changes the code in one place at a time, and counts the changes that the tests of its definition see')
  .option('--mutants <n>', 'mutants drawn of each definition', whole(1, 1e6), 100)
  .option('--seed <n>', 'draws others', whole(0, 1_000_000), 1)
  .option('--concurrency <n>', 'processes', whole(1, 256), availableParallelism())
  .option('--only <ids>', 'these definitions, with commas between them', list)
  .option('--again', 'also those whose result is in reports/mutation already')
  .option(
    '--everywhere <clone>',
    'of other parts, too, and by all tests of `npm test`: of what is committed in a clone',
  )
  .option('--at-least <percent>', 'fail below this score of policies and planners', whole(0, 100), 0)
  .action((options: Options) =>
    main(options).catch((error: unknown) => {
      process.exitCode = reportError(error);
    }),
  )
  .parseAsync();
