/** `rollflex plan`: a plan for an input from a file or a pipe. */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { isPolicyError, PolicyError } from '../errors.ts';
import { registry } from '../registry.ts';
import { exitCodes, print, reportError } from './output.ts';

/** Options as the command line gives them. */
export interface PlanOptions {
  /** A path, or `-` for standard input. */
  readonly input: string;
  readonly json?: boolean;
}

async function readInput(path: string): Promise<unknown> {
  const content = path === '-' ? await text(process.stdin) : readFileSync(path, 'utf8');
  try {
    // Some editors begin a file with a byte order mark, which JSON does not allow.
    return JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch (error) {
    const where = path === '-' ? 'standard input' : path;
    const got = content.trim() === '' ? 'nothing' : (error as Error).message;
    throw new PolicyError('invalid_input', { expected: 'the input as JSON', got, path: where, cause: error });
  }
}

/**
 * Prints a plan and gives the exit code: 1 if the input is right and there is no plan for it.
 *
 * @throws PolicyError `unknown_id`, `invalid_input`; the system's error for a file that cannot be read
 */
export async function runPlan(id: string, options: PlanOptions): Promise<number> {
  // The registry refuses what is no planner, before anything is read.
  if (!registry.planners.some((one) => one.id === id)) registry.plan(id as never, undefined as never);
  const input = await readInput(options.input);
  try {
    const plan = registry.plan(id as never, input as never);
    print(options.json ? JSON.stringify(plan) : JSON.stringify(plan, null, 2));
    return exitCodes.done;
  } catch (error) {
    if (!isPolicyError(error) || error.code !== 'infeasible') throw error;
    reportError(error);
    return exitCodes.failed;
  }
}
