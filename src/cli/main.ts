#!/usr/bin/env node
/** The command line. Exit codes: 0 done, 1 failed, 2 wrong use or bad input. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { jobPresetIds } from '../sim/presets.ts';
import { resamplingMethods } from '../sim/workload/traced.ts';
import { packageVersion } from './files.ts';
import { exitCodes, reportError } from './output.ts';
import { runReplay } from './replay.ts';
import { runSchema } from './schema.ts';
import { runSimulate, type SimulateOptions } from './simulate.ts';

function whole(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`expected a whole number >= ${least}, got ${text}`);
    }
    return value;
  };
}

function between(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= least && value <= most)) {
      throw new InvalidArgumentError(`expected a number from ${least} to ${most}, got ${text}`);
    }
    return value;
  };
}

const factor = between(1, 16);

function simulateCommand(): Command {
  return new Command('simulate')
    .description('replay response lengths through tail batching and the synchronous baseline, and compare')
    .argument('[trace...]', 'trace files; the bundled ones (CASTILLO 7B, ServeGen R1) if none')
    .addOption(
      new Option('--preset <id>', 'model, GPUs and what a step costs').choices(jobPresetIds).default('qwen2.5-14b-16k'),
    )
    .option('--prompts-per-round <n>', 'P0: prompts that a step trains on (preset: 128)', whole(1))
    .option('--responses-per-prompt <n>', 'R0: responses of a prompt (preset: 8)', whole(1))
    .option('--engines <n>', 'inference engines (data-parallel replicas)', whole(1))
    .option('--cap <tokens>', 'longest response', whole(1))
    .option('--eta <factor>', 'over-provisioning of prompts and responses in short rounds', factor, 1.25)
    .option('--prompt-speculation <factor>', 'the same for prompts only', factor)
    .option('--response-speculation <factor>', 'the same for responses only', factor)
    .option('--steps <n>', 'training steps of the baseline', whole(1), 20)
    .option('--seeds <n>', 'runs, each with other samples; intervals need at least 2', whole(1), 3)
    .option('--seed <n>', 'first seed', whole(0), 1)
    .addOption(
      new Option('--resampling <method>', 'how responses that were never recorded are made')
        .choices(resamplingMethods)
        .default('copula'),
    )
    .option(
      '--correlation <rho>',
      'within-prompt correlation, where a trace has only quantiles',
      between(0, 0.999),
      0.3,
    )
    .option('--from-log <file>', 'take the lengths from an event log instead of a trace')
    .option('--report <file>', 'where to write the HTML report', 'rollflex-report.html')
    .option('--no-report', 'write no report')
    .option('--perfetto <file>', 'write a Chrome/Perfetto trace as well')
    .option('--json', 'print one JSON object')
    .option('--quiet', 'print the tables only')
    .addHelpText(
      'after',
      `
What the columns mean
  step s          seconds of a training step: rollout, rewards, training, weight sync
  speedup         total time of the baseline ÷ this one's, for the same prompts, with a bootstrap interval
  bubbles         share of engine time in rollouts in which an engine has nothing to run
  kept tokens     mean length of the responses trained on ÷ the baseline's: tail batching keeps the fastest
  at cap          share of those responses that ran into the length cap
  rounds waited   of prompts in the long-prompt queue, mean / most
  clairvoyant     what a scheduler that knew all lengths could reach at most, with samples fixed beforehand

Examples
  rollflex simulate                                   the bundled workloads
  rollflex simulate my-lengths.jsonl --cap 8192       your own: {"responses":[{"tokens":812}, …]} a line
  rollflex simulate my-lengths.jsonl --eta 1.4 --engines 8 --json
  rollflex simulate --from-log run.jsonl              lengths from a recorded session`,
    )
    .action(async (paths: string[], options: SimulateOptions) => {
      await runSimulate(paths, options);
    });
}

function program(): Command {
  const command = new Command('rollflex')
    .description('Scheduling policies for RL post-training: simulate what they would save, and inspect them.')
    .version(packageVersion())
    .showSuggestionAfterError()
    .showHelpAfterError('(rollflex --help, or rollflex COMMAND --help, says more)')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong use or bad input.');
  command.addCommand(simulateCommand());
  command
    .command('schema')
    .description('list policies, events and decisions, or print the JSON Schema of one')
    .argument('[id]', 'such as tail-batching, response.completed or request.abort')
    .option('--json', 'print JSON on one line')
    .addHelpText(
      'after',
      '\nExamples\n  rollflex schema\n  rollflex schema tail-batching\n  rollflex schema request.abort',
    )
    .action((id: string | undefined, options: { json?: boolean }) => runSchema(id, options));
  command
    .command('replay')
    .description('play an event log again and compare every decision; exit code 1 if one differs')
    .argument('<log>', 'a log written by recordEvents')
    .option('--json', 'print one JSON object')
    .action((path: string, options: { json?: boolean }) => {
      process.exitCode = runReplay(path, options);
    });
  for (const one of [command, ...command.commands]) one.exitOverride();
  return command;
}

/** A reader that leaves early (`| head`) is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.done);
  throw error;
});

try {
  await program().parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUse;
  else process.exitCode = reportError(error);
}
