/** `rollflex debug`: a log, event by event, in the browser or in the terminal. */
import { Command } from 'commander';
import { refuse } from '../../errors.ts';
import { sessionNamed } from '../../logs/format/session-names.ts';
import { LogView } from '../../logs/job/log-view.ts';
import { openLog } from '../../logs/node.ts';
import { playingWith } from '../files/definitions.ts';
import { whole } from '../terminal/arguments.ts';
import { openInBrowser } from '../terminal/browser.ts';
import { option } from '../terminal/options.ts';
import { print } from '../terminal/output.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { serveDebug } from './serve.ts';
import { DebugTerminal } from './terminal.ts';

/** Options as the command line gives them. */
export interface DebugOptions {
  readonly terminal?: boolean;
  readonly follow?: boolean;
  readonly session?: string;
  readonly at?: number;
  readonly port: number;
  readonly host: string;
  readonly tokenFile?: string;
  readonly open: boolean;
  readonly perfetto?: string;
  readonly index?: string;
  readonly policies?: readonly string[];
}

const ownHost = '127.0.0.1';
/** Most sessions of which the first one that is stuck is looked for. */
const mostLooked = 16;

/** Returns where to begin: what the user names, or the end of the first session that is stuck, or gains nothing. */
function startOf(view: LogView, path: string, options: DebugOptions): { session: string; seq: number } {
  const { session, at, follow, terminal } = options;
  const { sessions } = view;
  // A job that has just begun.
  if (sessions.length === 0 && follow && !terminal) return { session: session ?? '', seq: at ?? 0 };
  if (sessions.length === 0) refuse('invalid_input', path, 'a log with a session in it', 'no line of one');
  const last = sessions.filter(({ isLast }) => isLast);
  const isStuck = (one: { session: string; seq: number }): boolean =>
    ['stuck', 'suspended', 'stalled'].includes(view.why(one.session, one.seq).verdict);
  const stuck = last.length === 1 || session !== undefined ? undefined : last.slice(-mostLooked).find(isStuck);
  const found = session === undefined ? (stuck ?? last[0]!) : sessionNamed(sessions, session, '--session');
  const { first, seq } = found;
  if (at !== undefined && (at < first || at > seq))
    refuse('invalid_input', '--at', `an event of the log, from ${first} to ${seq}`, at);
  return { session: found.session, seq: at ?? seq };
}

/** Writes a log as a trace, instead of showing it. */
async function writeTrace(view: LogView, paths: readonly string[], path: string, session: string | undefined) {
  const { checkOutputs, writeWhole } = await import('../files/written.ts');
  checkOutputs({ '--perfetto': path }, paths);
  writeWhole(path, view.trace(session));
  print(`trace: ${path} (open it in ui.perfetto.dev)`);
}

/** Shows a log until a signal comes, or until the input ends. Throws `invalid_input`, `unknown_id`; the system's error. */
export async function runDebug(paths: readonly string[], options: DebugOptions): Promise<void> {
  const { terminal = false, follow = false, host, tokenFile, index, policies, perfetto } = options;
  if (terminal && (host !== ownHost || tokenFile !== undefined || options.port !== 0))
    refuse('invalid_input', '--terminal', 'no --host, --port or --token-file beside it', 'one of them');
  // Refused events are expected inside of recipes, and the trace of an error costs more than an event.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  let view: LogView | undefined;
  try {
    const how = await playingWith(policies, index);
    view = new LogView(openLog(paths, how), { registry: how.registry, isLive: follow });
    if (perfetto !== undefined) return await writeTrace(view, paths, perfetto, options.session);
    const start = startOf(view, paths[0]!, options);
    if (terminal) return await new DebugTerminal(view, follow, start).run(process.stdin, process.stdout);
    const server = await serveDebug(view, { paths, start, follow, port: options.port, host, tokenFile });
    print(server.url);
    if (options.open && process.stdout.isTTY === true) await openInBrowser(server.url);
    await stopSignal();
    await server.close();
  } finally {
    view?.close();
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export function debugCommand(): Command {
  return new Command('debug')
    .argument('<log...>', 'a log written by recordEvents, or the folder (or files) of serve --log-dir')
    .option('--terminal', 'in the terminal instead of the browser; reads commands, one a line')
    .option('--follow', 'look for what is added to the log while it is shown')
    .addOption(option('session', 'begin with this session (default: the first one that is stuck)'))
    .option('--at <event>', 'begin after this event (default: the last one)', whole(0, Number.MAX_SAFE_INTEGER))
    .option('--port <n>', 'TCP port of the page; 0 chooses one', whole(0, 65_535), 0)
    .option('--host <address>', 'address of the page; needs --token-file if others can reach it', ownHost)
    .option('--token-file <file>', 'the page asks for the token in this file')
    .option('--no-open', 'on a terminal, too, only print the URL')
    .option('--perfetto <file>', 'only write the log as a Chrome/Perfetto trace, with flows from cause to effect')
    .option('--index <folder>', 'keep the index of the log here (default: beside the log)')
    .addOption(option('policies'))
    .addHelpText(
      'after',
      `
Prints the URL of a page, on a terminal opens it, and serves it until Ctrl-C. The page shows the events
one after the other: what each led to and why, what is held and awaited after it, and for any id why it
waits. It changes nothing. The URL has a key, without which nobody gets an answer.

Examples
  rollflex debug ~/rollflex-log
  rollflex debug ~/rollflex-log --follow --port 8090 --no-open    then: ssh -L 8090:localhost:8090 …
  rollflex debug run.jsonl --terminal`,
    )
    .action(runDebug);
}
