/** The command line. Exit codes: 0 done, 1 failed, 2 wrong use or bad input, 130 stopped by Ctrl-C. */
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../logs/index/package.ts';
import { exitCodes, reportError } from './terminal/output.ts';
import { asTyped, explainTypingErrors } from './terminal/typing-errors.ts';

/** The commands. The modules of a command are loaded when the command is called: `--help` needs none of them. */
const commands: Record<string, { readonly summary: string; readonly load: () => Promise<Command> }> = {
  simulate: {
    summary: 'replay response lengths through tail batching and the synchronous baseline, and compare',
    load: async () => (await import('./simulate/command.ts')).simulateCommand(),
  },
  advise: {
    summary: 'from the dump of your trainer to what to switch on in it: what waits, what is saved, what it costs',
    load: async () => (await import('./advise/command.ts')).adviseCommand(),
  },
  import: {
    summary: 'convert what verl, slime, ROLL and NeMo-RL write, or a table, to a trace: the lengths of your responses',
    load: async () => (await import('./import/command.ts')).importCommand(),
  },
  sweep: {
    summary: 'search eta, threshold, TP and F_w on response lengths, and recommend a configuration',
    load: async () => (await import('./sweep/command.ts')).sweepCommand(),
  },
  pools: {
    summary: 'simulate disaggregated rollout and training pools: what RolloutPipe saves a serial job',
    load: async () => (await import('./pools/command.ts')).poolsCommand(),
  },
  vlm: {
    summary: 'simulate RL steps of a vision-language model: data loading, sequence sharding, and what FlexRL saves',
    load: async () => (await import('./vlm/command.ts')).vlmCommand(),
  },
  plan: {
    summary: 'print the plan of a planner for an input; exit code 1 if there is none',
    load: async () => (await import('./plan/command.ts')).planCommand(),
  },
  serve: {
    summary: 'serve sessions and plans to other languages: JSON-RPC over standard input, a Unix socket or TCP',
    load: async () => (await import('./serve/command.ts')).serveCommand(),
  },
  'mock-engine': {
    summary: "inference engines without a GPU: SGLang's and vLLM's HTTP routes in simulated time, to test against",
    load: async () => (await import('./mock-engine/command.ts')).mockEngineCommand(),
  },
  shadow: {
    summary: 'where a policy in shadow mode would have decided otherwise than its host, and what that is worth',
    load: async () => (await import('./shadow/command.ts')).shadowCommand(),
  },
  schema: {
    summary: 'list policies, planners, events and decisions, or print the JSON Schema of one',
    load: async () => (await import('./schema/command.ts')).schemaCommand(),
  },
  explain: {
    summary: 'why a job, a prompt or an engine is stuck: what it waits for, who has to act, since when',
    load: async () => (await import('./explain/command.ts')).explainCommand(),
  },
  debug: {
    summary: 'a log event by event, in the browser or in the terminal: state, decisions, reasons, and why things wait',
    load: async () => (await import('./debug/command.ts')).debugCommand(),
  },
  'what-if': {
    summary: 'what would have been, from an event of a log on, with other settings or another policy',
    load: async () => (await import('./what-if/command.ts')).whatIfCommand(),
  },
  new: {
    summary: 'a folder with a host, a policy or a trainer of your own that runs and tests itself',
    load: async () => (await import('./new/command.ts')).newCommand(),
  },
  replay: {
    summary: 'play a log again and compare every decision; exit code 1 if one differs',
    load: async () => (await import('./replay/command.ts')).replayCommand(),
  },
};

/** Returns the program; the arguments are loaded only for the command that is called. */
async function program(args: readonly string[]): Promise<Command> {
  const command = new Command('rollflex')
    .description('Scheduling policies for RL post-training: simulate what they would save, plan, and inspect them.')
    .version(packageVersion())
    .showHelpAfterError('(rollflex --help, or rollflex COMMAND --help, says more)')
    .addHelpText(
      'after',
      `
Examples
  rollflex advise rollouts/          from your trainer's dump to what to switch on in it
  rollflex simulate                  what would tail batching save on the bundled workloads?
  rollflex import rollouts/          a trace from what verl, slime, ROLL or NeMo-RL wrote
  rollflex sweep                     which settings would save most, and how much?
  rollflex pools                     what would RolloutPipe save with a trainer of its own?
  rollflex vlm                       what would FlexRL save a vision-language model?
  rollflex plan grpo-advantages --input rewards.json
  rollflex serve --stdio             sessions for a trainer in Python, by JSON-RPC
  rollflex mock-engine --engines 4   SGLang's or vLLM's routes without a GPU, to test against
  rollflex new host my-host          a host of your own that runs and tests itself
  rollflex schema tail-batching      the settings of a policy, as JSON Schema
  rollflex shadow ~/rollflex-log     what would a policy have decided beside the host?
  rollflex explain ~/rollflex-log    why is it stuck, and who has to act?
  rollflex debug ~/rollflex-log      step through it, in the browser or in the terminal
  rollflex replay run.jsonl          does this version decide as the log says?

Exit codes: 0 done, 1 failed, 2 wrong use or bad input. Ctrl-C: 130.`,
    );
  const wanted = args.find((one) => Object.hasOwn(commands, one));
  for (const [name, { summary, load }] of Object.entries(commands)) {
    command.addCommand((name === wanted ? await load() : new Command(name)).description(summary));
  }
  for (const one of [command, ...command.commands]) explainTypingErrors(one.exitOverride());
  return command;
}

/** Runs a command with its arguments, and leaves its exit code in `process.exitCode`. */
export async function main(args: readonly string[]): Promise<void> {
  const command = await program(args);
  let acting = command;
  command.hook('preAction', (_, action) => {
    acting = action;
  });
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUse;
    else process.exitCode = reportError(asTyped(error, acting));
  }
}
