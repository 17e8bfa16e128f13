/** `rollflex plan`: makes a plan for an input from a file or a pipe. */
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { isPolicyError } from '../../errors.ts';
import { registry } from '../../registry.ts';
import { type JsonFile, readJson } from '../files/json-file.ts';
import { option } from '../terminal/options.ts';
import { exitCodes, print, reportError } from '../terminal/output.ts';

/** Options as the command line gives them. */
export interface PlanOptions {
  /** A path, or `-` for standard input. */
  readonly input: string;
  readonly json?: boolean;
}

async function readInput(path: string): Promise<JsonFile> {
  const expected = 'the input as JSON';
  return path === '-' ? readJson('standard input', expected, await text(process.stdin)) : readJson(path, expected);
}

/**
 * Prints a plan and returns the exit code: 1 if the input is valid but has no plan.
 *
 * @throws PolicyError `unknown_id`, `invalid_input`; the system's error for a file that cannot be read
 */
export async function runPlan(id: string, options: PlanOptions): Promise<number> {
  // The registry refuses an id that is no planner's, before the input is read.
  if (!registry.planners.some((one) => one.id === id)) registry.plan(id as never, undefined as never);
  const input = await readInput(options.input);
  try {
    const plan = input.within(() => registry.plan(id as never, input.value as never));
    print(options.json ? JSON.stringify(plan) : JSON.stringify(plan, null, 2));
    return exitCodes.done;
  } catch (error) {
    if (!isPolicyError(error) || error.code !== 'infeasible') throw error;
    reportError(error);
    return exitCodes.failed;
  }
}

export function planCommand(): Command {
  return new Command('plan')
    .argument('<planner>', `one of ${registry.planners.map((one) => one.id).join(', ')}`)
    .requiredOption('--input <file>', 'the input as JSON; - reads it from standard input')
    .addOption(option('json', 'print JSON on one line'))
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
