/**
 * Shows that every policy and recipe keeps the laws, against random events for as long as you like: `npm run long-run`.
 * What is checked, and what the last run said, is in docs/tested.md. A run that was stopped or killed goes on from
 * its file.
 *
 * Exit codes: 0 done, or stopped in time; 1 a law is broken; 2 wrong use.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command, Option } from 'commander';
import { checkWritable } from '../src/cli/files/traces.ts';
import { between, whole } from '../src/cli/terminal/arguments.ts';
import { exitCodes, print, reportError } from '../src/cli/terminal/output.ts';
import type { AnyPolicyDefinition } from '../src/core/machine/definition.ts';
import { registry } from '../src/registry.ts';
import { exampleConfigs } from '../test/support/examples/configs.ts';
import { lastRun, recordRun } from './last-runs.ts';
import { advanceAll } from './long-run/advance.ts';
import { livesUntilFull, watchable, watchNames } from './long-run/names.ts';
import { reportOf, reportText } from './long-run/report.ts';
import { LongRun } from './long-run/run.ts';
import { ServerSeeds } from './long-run/server-seeds.ts';
import { ShortRuns, type ShortRunsOptions } from './long-run/short-runs.ts';
import { chosen, list } from './only.ts';

interface Options {
  readonly events: number;
  readonly seed: number;
  readonly life: number;
  readonly lives: number;
  readonly state?: string;
  readonly serverSeeds?: number;
  readonly only?: readonly string[];
  readonly laws?: readonly number[];
  readonly seconds?: number;
  readonly saveSeconds: number;
  readonly json?: string;
}

/** Events that the command asks for by itself. */
const wholeRun = 10_000_000;
/** Events of short runs that are worth a record. */
const wholeShortRuns = 8_000_000;

/** Seeds of the simulated server that are worth a record. */
const wholeServerSeeds = 100_000;

async function main(given: Options): Promise<void> {
  // Policies tell of clocks that begin anew, and of odd times: here they are meant.
  console.warn = () => undefined;
  const { serverSeeds } = given;
  const state = given.state ?? `reports/${serverSeeds === undefined ? 'long-run' : 'server-seeds'}.state.json`;
  const options = { ...given, state };
  const definitions = chosen(registry.policies, options.only);
  process.stderr.write(`long run: ${lastRun('long-run')}\n`);
  mkdirSync(dirname(options.state), { recursive: true });
  for (const [path, option] of [
    [options.state, '--state'],
    [options.json, '--json'],
  ] as const)
    if (path !== undefined) checkWritable(path, option);
  if (serverSeeds !== undefined) return runSeeds(options, serverSeeds);
  if (options.laws !== undefined) return runShort({ ...options, laws: options.laws, definitions });
  const run = new LongRun({ ...options, definitions, configs: exampleConfigs });
  const wasOver = run.isDone;
  await advanceAll(run, options);
  const report = reportOf(run.record, definitions);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  print(reportText(report));
  if (run.isDone && !wasOver && options.lives > 0) watchAllNames(definitions, options.lives);
  if (wasOver)
    print(`nothing was run: the run in ${options.state} was over before (for another, delete it or name another)`);
  // What was asked for is written down where it is all that the command asks for by itself.
  else if (run.isDone && options.only === undefined && options.events >= wholeRun) {
    const text = `${report.events.toLocaleString('en')} events of ${definitions.length} policies and recipes, no law broken, ${Math.round(report.seconds)} s`;
    recordRun('long-run', text);
  }
  if (!run.isDone) print(`not done: the same command goes on from ${options.state}`);
}

/** Throws where a state grows with names that never come again. */
function watchAllNames(definitions: readonly AnyPolicyDefinition[], lives: number): void {
  print(`\nstates after ${lives} lives under names of their own, and after ${livesUntilFull}, in characters:`);
  for (const definition of definitions) {
    const sizes = watchable(definition, exampleConfigs[definition.id] ?? []).map((config) => {
      const { late, early } = watchNames(definition, config, lives);
      return `${late} (${early})`;
    });
    if (sizes.length > 0) print(`  ${definition.id}: ${sizes.join(', ')}`);
  }
}

/** Laws along short runs, each from the beginning. */
async function runShort(
  options: Omit<Options, 'laws'> & Pick<ShortRunsOptions, 'laws' | 'definitions'>,
): Promise<void> {
  const run = new ShortRuns({ ...options, configs: exampleConfigs });
  await advanceAll(run, options);
  print(run.text);
  if (run.isDone && options.only === undefined && options.events >= wholeShortRuns) {
    const text = `${run.done.toLocaleString('en')} events of ${options.definitions.length} policies and recipes, no law broken`;
    recordRun(`long-run --laws ${options.laws.join(',')}`, text);
  }
  if (!run.isDone) print(`not done: the same command goes on from ${options.state}`);
}

/** The server in a simulation, seed by seed. */
async function runSeeds({ seed, state, seconds, saveSeconds }: Options, seeds: number): Promise<void> {
  const run = new ServerSeeds({ seed, seeds, state });
  await advanceAll(run, { events: seeds, what: 'seeds', saveSeconds, ...(seconds === undefined ? {} : { seconds }) });
  print(run.text);
  if (!run.isDone) print(`not done: the same command goes on from ${state}`);
  else if (seeds >= wholeServerSeeds)
    recordRun('long-run --server-seeds', `${seeds.toLocaleString('en')} seeds, no rule broken`);
}

await new Command('long-run')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? exitCodes.done : exitCodes.wrongUse))
  .description('every policy through random events, with all laws on that can be held along a run')
  .option('--events <n>', 'events in all, divided among all example configurations', whole(100, 1e12), wholeRun)
  .option('--seed <n>', 'seed of the events', whole(0, 1_000_000), 1)
  .option('--life <n>', 'events after which a policy is begun anew', whole(100, 1e9), 5000)
  .option('--lives <n>', 'hosts after each other that use names of their own; 0 for none', whole(0, 1e9), 2000)
  .option('--state <file>', 'file to go on from, and to write to; in reports/ if absent')
  .addOption(
    new Option('--server-seeds [n]', 'so many seeds of the simulated server, in place of policies')
      .preset(String(wholeServerSeeds))
      .argParser(whole(1, 1e9)),
  )
  .option('--only <ids>', 'these policies, with commas between them', list)
  .option('--laws <numbers>', 'these laws, on many short runs, in place of one long one', (text) =>
    list(text).map(Number),
  )
  .option('--seconds <n>', 'stop after so long; the same command goes on', between(0, 1e9))
  .option('--save-seconds <n>', 'seconds between two writings of the file', between(0, 1e6), 10)
  .option('--json <file>', 'the report as JSON, too')
  .action((options: Options) =>
    main(options).catch((error: unknown) => {
      process.exitCode = reportError(error);
    }),
  )
  .parseAsync();
