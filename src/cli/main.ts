#!/usr/bin/env node
/** The command line. Exit codes: 0 done, 1 failed, 2 wrong use or bad input, 130 stopped by Ctrl-C. */
import { Command, CommanderError, Option } from 'commander';
import { registry } from '../registry.ts';
import { jobPresetIds } from '../sim/presets.ts';
import { between, whole } from './arguments.ts';
import { calibrateOption } from './calibrate.ts';
import { packageVersion } from './files.ts';
import { importCommand } from './import-command.ts';
import { mockEngineCommand } from './mock-engine-command.ts';
import { commanderOutput, exitCodes, leaveQuietly, reportError } from './output.ts';
import { type PlanOptions, runPlan } from './plan.ts';
import { poolsCommand } from './pools-command.ts';
import { type ReplayOptions, runReplay } from './replay.ts';
import { runSchema, type SchemaOptions } from './schema.ts';
import { serveCommand } from './serve-command.ts';
import { shadowCommand } from './shadow.ts';
import { runSimulate, type SimulateOptions } from './simulate.ts';
import { sweepCommand } from './sweep-command.ts';
import { vlmCommand } from './vlm-command.ts';
import { correlationOption, resamplingOption } from './workloads.ts';

const factor = between(1, 16);
const seed = whole(0, Number.MAX_SAFE_INTEGER);

function simulateCommand(): Command {
  return new Command('simulate')
    .description('replay response lengths through tail batching and the synchronous baseline, and compare')
    .argument('[trace...]', 'trace files; the bundled ones (CASTILLO 7B, ServeGen R1) if none')
    .addOption(
      new Option('--preset <id>', 'model, GPUs and what a step costs').choices(jobPresetIds).default('qwen2.5-14b-16k'),
    )
    .option('--prompts-per-round <n>', 'P0: prompts that a step trains on (preset: 128)', whole(1, 100_000))
    .option('--responses-per-prompt <n>', 'R0: responses of a prompt (preset: 8)', whole(1, 10_000))
    .option('--engines <n>', 'inference engines (data-parallel replicas)', whole(1, 4096))
    .addOption(calibrateOption())
    .option('--cap <tokens>', 'longest response; what is longer is cut (preset: 16384)', whole(1, 10_000_000))
    .option('--eta <factor>', 'over-provisioning of prompts and responses in short rounds', factor, 1.25)
    .option('--prompt-speculation <factor>', 'the same for prompts only', factor)
    .option('--response-speculation <factor>', 'the same for responses only', factor)
    .option('--steps <n>', 'training steps of the baseline', whole(1, 100_000), 20)
    .option('--seeds <n>', 'runs, each with other samples; intervals need at least 2', whole(1, 1000), 3)
    .option('--seed <n>', 'first seed', seed, 1)
    .addOption(resamplingOption())
    .addOption(correlationOption())
    .option(
      '--from-log <path>',
      'take the lengths from an event log, or a decision log (its folder), instead of a trace',
    )
    .option('--session <id>', 'of a decision log: this session only')
    .option('--ladder', 'every mechanism of RollPacker, one more on each rung, rewards and training included')
    .addOption(
      new Option('--judge <place>', 'of the ladder: a judge on a quarter of the GPUs, or beside the actor').choices([
        'workers',
        'dedicated',
        'colocated',
      ]),
    )
    .option('--one-off', 'of the ladder: half of the GPUs train beside the next rollout, one version behind')
    .option('--vlm', 'the bundled vision-language workloads as well; rollflex vlm has options for them')
    .option('--pools', 'the tasks of RolloutPipe on disaggregated pools as well; rollflex pools has options for them')
    .option('--report <file>', 'where to write the HTML report', 'rollflex-report.html')
    .option('--no-report', 'write no report')
    .option('--perfetto <file>', 'write a Chrome/Perfetto trace as well')
    .option('--json', 'print one JSON object, and nothing else')
    .option('--quiet', 'print the tables only, and no progress')
    .addHelpText(
      'after',
      `
What the columns mean
  step s            seconds of a training step: rollout, rewards, training, weight sync
  rollout s         seconds of its rollout
  speedup           total time of the baseline / this one's, for the same prompts,
                    with a 95 % bootstrap interval over seeds below
  kept tokens       mean length of the responses trained on / the baseline's: tail
                    batching keeps those that finish first, so part of a speedup is
                    fewer tokens
  at cap            share of those responses that ran into the length cap
  rollout speedup   as speedup, of the rollouts alone
  bubbles           share of engine time in rollouts with nothing to run
  rounds waited     of prompts in the long-prompt queue, mean / most
  clairvoyant       what a scheduler that knew all lengths could reach at most, with
                    samples fixed beforehand

Traces
  JSON lines, one prompt a line: {"prompt":"q1","promptTokens":90,"responses":[{"tokens":812}]}
  (only responses[].tokens is required), or CASTILLO, ServeGen and others. What verl, slime, ROLL
  and NeMo-RL write: rollflex import.

Examples
  rollflex simulate                                   the bundled workloads
  rollflex simulate my-lengths.jsonl --cap 8192       your own lengths
  rollflex simulate my-lengths.jsonl --eta 1.4 --engines 8 --json
  rollflex simulate my-lengths.jsonl --calibrate measured.json     seconds as yours
  rollflex simulate --from-log run.jsonl              lengths from a recorded session
  rollflex simulate --from-log ~/rollflex-log         lengths from serve --log-dir
  rollflex simulate --perfetto trace.json             open trace.json in ui.perfetto.dev`,
    )
    .action(async (paths: string[], options: SimulateOptions) => {
      await runSimulate(paths, options);
    });
}

function planCommand(): Command {
  return new Command('plan')
    .description('print the plan of a planner for an input; exit code 1 if there is none')
    .argument('<planner>', `one of ${registry.planners.map((one) => one.id).join(', ')}`)
    .requiredOption('--input <file>', 'the input as JSON; - reads it from standard input')
    .option('--json', 'print JSON on one line')
    .addHelpText(
      'after',
      `
What an input may hold: rollflex schema PLANNER

Examples
  rollflex plan judge-offload --input judge.json
  echo '{"groups":[{"rewards":[1,0,0]}]}' | rollflex plan grpo-advantages --input - --json`,
    )
    .action(async (id: string, options: PlanOptions) => {
      process.exitCode = await runPlan(id, options);
    });
}

function program(): Command {
  const command = new Command('rollflex')
    .description('Scheduling policies for RL post-training: simulate what they would save, plan, and inspect them.')
    .version(packageVersion())
    .showSuggestionAfterError()
    .showHelpAfterError('(rollflex --help, or rollflex COMMAND --help, says more)')
    .addHelpText(
      'after',
      `
Examples
  rollflex simulate                  what would tail batching save on the bundled workloads?
  rollflex import rollouts/          a trace from what verl, slime, ROLL or NeMo-RL wrote
  rollflex sweep                     which settings would save most, and how much?
  rollflex pools                     what would RolloutPipe save with a trainer of its own?
  rollflex vlm                       what would FlexRL save a vision-language model?
  rollflex plan grpo-advantages --input rewards.json
  rollflex serve --stdio             sessions for a trainer in Python, by JSON-RPC
  rollflex mock-engine --engines 4   SGLang's or vLLM's routes without a GPU, to test against
  rollflex schema tail-batching      the settings of a policy, as JSON Schema
  rollflex shadow ~/rollflex-log     what would a policy have decided beside the host?
  rollflex replay run.jsonl          does this version decide as the log says?

Exit codes: 0 done, 1 failed, 2 wrong use or bad input. Ctrl-C: 130.`,
    );
  command.addCommand(simulateCommand());
  command.addCommand(importCommand());
  command.addCommand(sweepCommand());
  command.addCommand(poolsCommand());
  command.addCommand(vlmCommand());
  command.addCommand(planCommand());
  command.addCommand(serveCommand());
  command.addCommand(mockEngineCommand());
  command.addCommand(shadowCommand());
  command
    .command('schema')
    .description('list policies, planners, events and decisions, or print the JSON Schema of one')
    .argument('[id]', 'such as tail-batching, judge-offload, response.completed or request.abort')
    .option('--plan', 'of a planner: the schema of its plan, not of its input')
    .option('--json', 'print JSON on one line')
    .addHelpText(
      'after',
      '\nExamples\n  rollflex schema\n  rollflex schema tail-batching\n  rollflex schema judge-offload --plan\n  rollflex schema request.abort',
    )
    .action((id: string | undefined, options: SchemaOptions) => runSchema(id, options));
  command
    .command('replay')
    .description('play a log again and compare every decision; exit code 1 if one differs')
    .argument('<log...>', 'a log written by recordEvents, or the folder (or files) of serve --log-dir')
    .option('--session <id>', 'of a decision log: this session only')
    .option('--policies <file>', 'a module with definitions of your own, each an export or in a list')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
What a decision log does not have (lines that were dropped, files that are gone) is named by
session and event; the replay goes on from the next snapshot.

Examples
  rollflex replay run.jsonl
  rollflex replay ~/rollflex-log --session s1
  rollflex replay ~/rollflex-log --json`,
    )
    .action(async (paths: string[], options: ReplayOptions) => {
      process.exitCode = await runReplay(paths, options);
    });
  for (const one of [command, ...command.commands]) one.exitOverride().configureOutput(commanderOutput);
  return command;
}

leaveQuietly();

try {
  await program().parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUse;
  else process.exitCode = reportError(error);
}
