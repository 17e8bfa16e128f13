/** `rollflex explain`: from a log to what a job waits for, who has to act, since when, and why. */
import { Command } from 'commander';
import { oneLine } from '../core/printable.ts';
import { isPolicyError, refuse, relocated } from '../errors.ts';
import { type Asked, type Explanation, explain } from '../logs/explain/explain.ts';
import { answerOf, chainText, notesOf } from '../logs/explain/text.ts';
import { type LoggedSession, LogIndex } from '../logs/index/log-index.ts';
import { playingWith } from './definitions.ts';
import { print, printJson } from './output.ts';
import { placeBy } from './place.ts';

/** Options as the command line gives them. */
export interface ExplainOptions {
  readonly prompt?: string;
  readonly request?: string;
  readonly round?: string;
  readonly engine?: string;
  readonly gpu?: string;
  readonly id?: string;
  readonly at?: string;
  readonly session?: string;
  readonly index?: string;
  readonly policies?: string;
  readonly chain?: boolean;
  readonly json?: boolean;
}

/** The kinds of things that an option means, in the order in which its id is looked up. */
const kinds = {
  prompt: ['prompts', 'groups'],
  request: ['requests', 'responses'],
  round: ['rounds'],
  gpu: ['gpus'],
  engine: undefined,
  id: [],
} as const;

function askedBy(options: ExplainOptions): Asked | undefined {
  const given = (Object.keys(kinds) as (keyof typeof kinds)[]).filter((name) => options[name] !== undefined);
  if (given.length > 1) refuse('invalid_input', `--${given[1]}`, 'one id', `--${given[0]} beside it`);
  const [word] = given;
  return word && { id: options[word]!, kinds: kinds[word], word };
}

/** Returns the sessions to explain: the named one, those that know the id, or all. */
function sessionsOf(index: LogIndex, { session }: ExplainOptions, asked: Asked | undefined): readonly LoggedSession[] {
  const { sessions } = index;
  if (session !== undefined) {
    const found = sessions.find((one) => one.session === session);
    if (found !== undefined) return [found];
    const ids = sessions.map((one) => one.session);
    const known =
      ids.length === 1 && ids[0] === '' ? 'no --session: this log has one' : `one of ${ids.slice(0, 20).join(', ')}`;
    refuse('unknown_id', '--session', known, session);
  }
  // Of several with one id the last one goes on; the others are named by the number of their opening.
  const last = sessions.filter(({ isLast }) => isLast);
  if (asked === undefined) return last;
  const having = last.filter((one) => !index.linesOf(one.session, asked.id).next().done);
  return having.length > 0 ? having : last.slice(-1);
}

/** Explains a log. Throws `invalid_input`, `unknown_id`; the system's error. */
export async function runExplain(paths: readonly string[], options: ExplainOptions): Promise<void> {
  const asked = askedBy(options);
  const place = options.at === undefined ? undefined : placeBy(options.at);
  const { registry, ...how } = await playingWith(options.policies, options.index);
  // Refused events are expected inside of recipes, and the trace of an error costs more than an event.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  let index: LogIndex | undefined;
  try {
    index = new LogIndex(paths, { ...how, restore: (snapshot) => registry.restore(snapshot, { validate: false }) });
    if (index.sessions.length === 0) refuse('invalid_input', paths[0]!, 'a log with a session in it', 'no line of one');
    const found = sessionsOf(index, options, asked).map((one) => explain(index!, one, place, asked));
    report(found, index, options);
  } catch (error) {
    throw isPolicyError(error) && (error.path === 'at' || error.path in kinds)
      ? relocated(error, `--${error.path}`)
      : error;
  } finally {
    index?.close();
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Most sessions that are shown where none is stuck. */
const mostSessions = 3;
const order = ['stuck', 'suspended', 'stalled', 'waits', 'unborn', 'ended', 'unknown', 'idle'];

function report(all: readonly Explanation[], index: LogIndex, { json, chain }: ExplainOptions): void {
  const found = [...all].sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  if (json) return printJson({ sessions: found, ...index.lacks });
  // Beside what is stuck, other sessions only hide it.
  const stuck = found.filter(({ verdict }) => ['stuck', 'suspended', 'stalled'].includes(verdict));
  const shown = stuck.length > 0 ? stuck : found.slice(0, mostSessions);
  for (const [position, one] of shown.entries()) {
    if (position > 0) print('');
    for (const line of [...answerOf(one), ...notesOf(one), ...(chain ? chainText(one) : [])]) print(oneLine(line));
  }
  const others = found.length - shown.length;
  if (others > 0)
    print(`  Nothing is stuck in ${others} other ${others === 1 ? 'session' : 'sessions'} (--session shows one).`);
  const { droppedLines, tornFiles } = index.lacks;
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
    .option('--session <id>', 'of a decision log: this session only')
    .option('--chain', 'also all that is owed, and the events and reasons that led there')
    .option('--index <folder>', 'keep the index of the log here (default: beside the log)')
    .option('--policies <file>', 'a module with definitions of your own, each an export or in a list')
    .option('--json', 'print one JSON object')
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
