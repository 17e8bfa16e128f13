/** `rollflex explain`, as an operator calls it. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// `node_modules/rollflex/dist/cli.js` where the package is installed; a fresh clone has only its sources.
const program = process.env.ROLLFLEX_COMMAND;
const sources = ['--import', 'tsx', fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url))];
/** Arguments of Node for the command line of rollflex. */
export const command = program === undefined ? sources : [program];

/** What it says of a log, in one line. */
export async function explainFile(log: string, ...options: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...command, 'explain', log, ...options]);
  return stdout.trim().replace(/\s+/g, ' ');
}

/** What it says of recorded events, at a place in them. */
export async function explain(lines: readonly string[], place: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rollflex-bad-day-'));
  try {
    const log = join(folder, 'log.jsonl');
    await writeFile(log, `${lines.join('\n')}\n`);
    return await explainFile(log, '--at', place);
  } finally {
    await rm(folder, { recursive: true });
  }
}
