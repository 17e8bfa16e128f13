/** `rollflex explain`: from a log to what a job waits for, who has to act, since when, and why. */
import { Command } from 'commander';
import { given } from '../../core/collections/given.ts';
import { oneLine } from '../../core/ids/printable.ts';
import { isPolicyError, refuse, relocated } from '../../errors.ts';
import {
  type ExplainOptions as Asked,
  explain,
  explanationText,
  idsIn,
  type LogExplanation,
} from '../../logs/explain/log.ts';
import type { Log } from '../../logs/format/log.ts';
import { openLog } from '../../logs/node.ts';
import { playingWith } from '../files/definitions.ts';
import { placeBy } from '../files/log-place.ts';
import { option } from '../terminal/options.ts';
import { print, printJson } from '../terminal/output.ts';

/** Options as the command line gives them. */
export interface ExplainOptions extends Omit<Asked, 'at'> {
  readonly at?: string;
  readonly index?: string;
  readonly policies?: readonly string[];
  readonly chain?: boolean;
  readonly json?: boolean;
}

/** Explains a log. Throws `invalid_input`, `unknown_id`; the system's error. */
export async function runExplain(paths: readonly string[], options: ExplainOptions): Promise<void> {
  const { at, index: cache, policies, chain, json, ...asked } = options;
  const [first, second] = idsIn(asked);
  if (second !== undefined) refuse('invalid_input', `--${second}`, 'one id', `--${first} beside it`);
  const place = at === undefined ? undefined : placeBy(at);
  let log: Log | undefined;
  try {
    log = openLog(paths, await playingWith(policies, cache));
    report(explain(log, { ...asked, ...given({ at: place }) }), given({ chain, json }));
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    if (error.path === 'log') throw relocated(error, paths[0]!);
    if (error.path !== 'at' && !(error.path in options)) throw error;
    throw relocated(error, `--${error.path}`, error.expected.replace(/^no session:/, 'no --session:'));
  } finally {
    log?.close();
  }
}

/** Most sessions that are shown where none is stuck. */
const mostSessions = 3;

function report(found: LogExplanation, { json, chain }: Pick<ExplainOptions, 'chain' | 'json'>): void {
  if (json) return printJson(found);
  const { sessions, droppedLines, tornFiles } = found;
  // Beside what is stuck, other sessions only hide it.
  const stuck = sessions.filter(({ verdict }) => ['stuck', 'suspended', 'stalled'].includes(verdict));
  const shown = stuck.length > 0 ? stuck : sessions.slice(0, mostSessions);
  for (const [position, one] of shown.entries()) {
    if (position > 0) print('');
    for (const line of explanationText(one, chain)) print(oneLine(line));
  }
  const others = sessions.length - shown.length;
  if (others > 0)
    print(`  Nothing is stuck in ${others} other ${others === 1 ? 'session' : 'sessions'} (--session shows one).`);
  if (droppedLines > 0) print(`  The server dropped ${droppedLines} lines of this log.`);
  if (tornFiles > 0) print(`  ${tornFiles} ${tornFiles === 1 ? 'file ends' : 'files end'} in the middle of a line.`);
}

export function explainCommand(): Command {
  return new Command('explain')
    .argument('<log...>', 'a log written by recordEvents, or the folder (or files) of serve --log-dir')
    .option('--prompt <id>', 'why this prompt waits')
    .option('--request <id>', 'why this request waits')
    .option('--round <id>', 'why this round waits')
    .option('--engine <id>', 'what this engine, or this worker, owes')
    .option('--gpu <id>', 'what this GPU is waited for')
    .option('--id <id>', 'why anything else waits, by its id')
    .option(
      '--at <place>',
      'after this event (4711), at this time (1795284199.9s, or a date), or now; default: the end',
    )
    .addOption(option('session'))
    .option('--chain', 'also all that is owed, and the events and reasons that led there')
    .option('--index <folder>', 'keep the index of the log here (default: beside the log)')
    .addOption(option('policies'))
    .addOption(option('json'))
    .addHelpText(
      'after',
      `
Without an id: what the whole session waits for, the oldest overdue act first. Overdue is what takes
much longer than it usually does in this log. The first call makes an index of the log; later ones
take less than a second. Where lines are missing, the answer says so.

Examples
  rollflex explain ~/rollflex-log
  rollflex explain ~/rollflex-log --prompt p17 --chain
  rollflex explain run.jsonl --engine vllm-3 --at 4711
  rollflex explain ~/rollflex-log --at now`,
    )
    .action(runExplain);
}
